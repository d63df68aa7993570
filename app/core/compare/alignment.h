// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_filter.h"
#include "app/core/store/store_reader.h"
#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// Where the horizontal axis of a run is 0, so that runs lie over each other.
struct Alignment {
    enum class At {
        kStart,  ///< as the axis has it
        kBranch, ///< the step after which a branch left its parent
        kValue,  ///< the first step at which a metric of rank 0 passes a value
    };
    At at = At::kStart;
    std::string metric = {};
    RunFilter::Operator is = RunFilter::Operator::kLess;
    double value = 0;

    bool operator==(const Alignment&) const = default;
};

/// Reads "loss < 3" or "validation/bleu >= 20" as an alignment at that value. kInvalid: it is none.
Result<Alignment> parseAlignment(const std::string& text);

/// The step of the run that is 0; 0 with At::kStart. With At::kBranch that of a branch is where it
/// left its parent; that of another run is where the first of `all` left it. kNotFound: the run has
/// no such step, and why. Worker thread.
Result<int64_t> alignedStep(StoreReader& reader, const RunSummary& run,
                            const std::vector<RunSummary>& all, const Alignment& alignment);

} // namespace rm
