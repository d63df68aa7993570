// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/result.h"

#include <cstdint>

namespace rm {

/// What grows by as much with every step of a run: `before` at `fromStep`, and `perStep` with each
/// step after it.
struct StepScale {
    double perStep = 1;
    double before = 0;
    int64_t fromStep = 0;

    double at(double step) const {
        return before + (step - static_cast<double>(fromStep)) * perStep;
    }
    double stepAt(double amount) const {
        return static_cast<double>(fromStep) + (amount - before) / perStep;
    }
    bool operator==(const StepScale&) const = default;
};

/// What a run's steps are made of.
enum class WorkUnit { kTokens, kPairs, kPictures };

/// Tokens where its spec cannot be read.
WorkUnit workUnit(StoreReader& reader, const QString& run);

struct WorkScale {
    WorkUnit unit = WorkUnit::kTokens;
    StepScale scale = {};
};

/// The tokens, pairs of sentences or pictures of all ranks up to a step: by the spec where each
/// step has as many, else the mean of what was measured. Those of a branch follow those of its
/// parent. kNotFound: that is not known, and why. Worker thread.
Result<WorkScale> workScale(StoreReader& reader, const RunSummary& run);

/// Passes over the training data up to a step. kNotFound: they are not known, and why.
Result<StepScale> epochScale(StoreReader& reader, const RunSummary& run);

} // namespace rm
