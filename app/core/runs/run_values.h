// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_filter.h"
#include "app/core/store/store_reader.h"
#include "shared/spec/run_spec.h"

#include <QString>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What of a run a key names, in a filter or as a column: a setting of its spec ("optimizer.lr", or
/// "lr" where one alone ends so), or a metric of rank 0 or the first node: "train/loss" is its last
/// value, "min:train/loss", "max:train/loss" and "best:train/loss" are what they say.
struct ValueKey {
    enum class Kind { kSetting, kLast, kLeast, kMost, kBest };
    Kind kind = Kind::kSetting;
    std::string name; ///< "optimizer.lr", "train/loss"
    bool operator==(const ValueKey&) const = default;
};

/// kNotFound: nothing is called so; with the likeliest setting.
Result<ValueKey> parseValueKey(const std::string& text);
/// kNotFound: a condition has a key that names nothing.
Result<void> checkKeys(const RunFilter& filter);

/// All settings, and the metrics that one of the runs reported, as parseValueKey() takes them.
std::vector<std::string> keysOf(StoreReader& reader, const std::vector<RunSummary>& runs);

/// Reads what runs have for keys, and keeps what cannot change. One thread.
class RunValues {
public:
    /// As text: of a metric its number in full. nullopt: the run does not use that setting, or has
    /// not reported the metric.
    std::optional<std::string> valueOf(StoreReader& reader, const QString& run,
                                       const ValueKey& key);

private:
    const RunSpec* specOf(StoreReader& reader, const QString& run);

    std::map<QString, std::optional<RunSpec>> m_specs; ///< a run's spec stays but for its name
};

/// Those of `runs` for which the filter holds.
std::vector<RunSummary> filtered(const RunFilter& filter, std::vector<RunSummary> runs,
                                 StoreReader& reader, RunValues& values);

} // namespace rm
