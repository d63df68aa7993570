// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_values.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Runs with what they have for keys of parseValueKey(): what scatter plot and parallel coordinates
/// show.
struct RunTable {
    std::vector<RunSummary> runs;
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values = {}; ///< [run][key]; empty: it has none
    bool operator==(const RunTable&) const = default;
};

/// kNotFound: a key names nothing. Worker thread.
Result<RunTable> readRunTable(StoreReader& reader, RunValues& values, std::vector<RunSummary> runs,
                              std::vector<std::string> keys);

/// What people look at first of these runs: settings that differ, then the seed, and last the
/// metric that says which run is better. At most `most`; empty: the runs have reported nothing.
/// Worker thread.
std::vector<std::string> tellingKeys(StoreReader& reader, RunValues& values,
                                     const std::vector<RunSummary>& runs, size_t most);

/// What runs have for one key, as places on an axis: numbers, or, where one of them is none,
/// categories.
struct ValueScale {
    std::vector<double> values = {};          ///< by run; a category's place; NaN: none
    std::vector<std::string> categories = {}; ///< in order; empty: the values are numbers
    double least = 0, most = 1;               ///< the ends of the values

    bool isNumeric() const { return categories.empty(); }
    bool isWhole() const; ///< all are whole numbers
    bool canBeLog() const { return isNumeric() && least > 0; }
    bool operator==(const ValueScale&) const = default;
};
ValueScale scaleOf(const RunTable& table, size_t key);

} // namespace rm
