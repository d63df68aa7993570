// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "shared/result.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What several runs have of one number.
struct Aggregate {
    int64_t count = 0; ///< of those that have it
    double mean = 0;
    double spread = 0; ///< the standard deviation of a sample (n - 1); of one value 0
    double least = 0;
    double most = 0;
    bool operator==(const Aggregate&) const = default;
};

/// Of the finite values; nullopt: there are none.
std::optional<Aggregate> aggregateOf(const std::vector<double>& values);

/// Runs that are alike in what they were grouped by.
struct RunGroup {
    std::string value;                        ///< empty: they have none
    std::vector<size_t> runs;                 ///< places in the list of runs, in its order
    std::map<std::string, Aggregate> figures; ///< by key, without those that none of them has
    bool operator==(const RunGroup&) const = default;
};

/// The numbers of a summary that groups have figures of: "step", "loss", "best", "ranks".
const std::vector<std::string>& summaryFigures();
/// What runs can be grouped by besides what parseValueKey() takes: "state", "tag", "node",
/// "branch", "sweep", "model".
const std::vector<std::string>& summaryGroupKeys();

/// kNotFound: nothing is called so.
Result<void> checkGroupKey(const std::string& key);
/// The key of parseValueKey() that has to be read to group by `key`; nullopt: summaries are enough.
std::optional<std::string> keyToRead(const std::string& key);

/// What a run has for a key of parseValueKey().
using ValueOfRun = std::function<std::optional<std::string>(const RunSummary&, const std::string&)>;

/// Groups by a key that checkGroupKey() takes, sorted by their values: numbers by number, and those
/// without one last. A run with several tags is in the group of all of them together. `columns`:
/// keys of parseValueKey() of which there are figures, too, where the values are numbers.
std::vector<RunGroup> groupRuns(const std::vector<const RunSummary*>& runs, const std::string& key,
                                const std::vector<std::string>& columns, const ValueOfRun& valueOf);

} // namespace rm
