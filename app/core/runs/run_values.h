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

struct Paths;

/// What of a run a key names, in a filter or as a column: a setting of its spec ("optimizer.lr", or
/// "lr" where one alone ends so), or a metric of rank 0 or the first node: "train/loss" is its last
/// value, "min:train/loss", "max:train/loss" and "best:train/loss" are what they say.
struct ValueKey {
    enum class Kind { kSetting, kLast, kLeast, kMost, kBest };
    Kind kind = Kind::kSetting;
    std::string name; ///< "optimizer.lr", "train/loss"
    auto operator<=>(const ValueKey&) const = default;
};

/// kNotFound: nothing is called so, or several settings end so.
Result<ValueKey> parseValueKey(const std::string& text);
/// kNotFound: a condition has a key that names nothing.
Result<void> checkKeys(const RunFilter& filter);
/// The filter that a person typed: words and conditions with keys that are known, or `@NAME` for
/// one of savedFilters().
Result<RunFilter> filterTyped(const Paths& paths, const QString& typed);

/// All settings, and the metrics that one of the runs reported, as parseValueKey() takes them.
std::vector<std::string> keysOf(StoreReader& reader, const std::vector<RunSummary>& runs);

/// Reads what runs have for keys, and keeps what has not changed since. One thread.
class RunValues {
public:
    /// By run and key, without those that a run does not have.
    using Table = std::map<QString, std::map<std::string, std::string>>;

    /// As text: of a metric its number in full. nullopt: the run does not use that setting, or has
    /// not reported the metric.
    std::optional<std::string> valueOf(StoreReader& reader, const RunSummary& run,
                                       const ValueKey& key);
    /// The same for many; keys that parseValueKey() does not take are left out.
    Table valuesOf(StoreReader& reader, const std::vector<RunSummary>& runs,
                   const std::vector<std::string>& keys);
    /// The settings that are not alike in all of these runs, by schema.
    std::vector<std::string> differingSettings(StoreReader& reader,
                                               const std::vector<RunSummary>& runs);

private:
    const RunSpec* specOf(StoreReader& reader, const QString& run);

    struct Known {
        int64_t updatedNs = 0; ///< of the run then
        std::optional<std::string> value;
    };
    std::map<QString, std::optional<RunSpec>> m_specs; ///< a run's spec stays but for its name
    std::map<QString, std::map<ValueKey, Known>> m_metrics;
};

/// nullopt: the run has none, or it was not read.
std::optional<std::string> valueIn(const RunValues::Table& values, const QString& run,
                                   const std::string& key);

/// Those of `runs` for which the filter holds.
std::vector<RunSummary> filtered(const RunFilter& filter, std::vector<RunSummary> runs,
                                 StoreReader& reader, RunValues& values);

} // namespace rm
