// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/run_table.h"

#include "app/core/runs/run_filter.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace rm {

namespace {

/// The metric of Ringmaster's that most of the runs have and of which one value is better: that of
/// a validation before that of training.
std::optional<std::string> tellingMetric(StoreReader& reader, const std::vector<RunSummary>& runs) {
    size_t most = 0;
    std::optional<std::string> telling;
    for (const MetricId id : {metric::kValidationLoss, metric::kTrainLoss}) {
        const std::string& name = metricName(id);
        const auto having = static_cast<size_t>(std::ranges::count_if(runs, [&](const auto& run) {
            return reader.lastPoint(run.id, {name, 0}).has_value();
        }));
        if (having > most) {
            most = having;
            telling = "best:" + name;
        }
    }
    return telling;
}

} // namespace

Result<RunTable> readRunTable(StoreReader& reader, RunValues& values, std::vector<RunSummary> runs,
                              std::vector<std::string> keys) {
    RunTable table{std::move(runs), std::move(keys)};
    table.values.resize(table.runs.size());
    for (const std::string& text : table.keys) {
        RM_ASSIGN_OR_RETURN(const ValueKey key, parseValueKey(text));
        for (size_t run = 0; run < table.runs.size(); ++run)
            table.values[run].push_back(
                values.valueOf(reader, table.runs[run], key).value_or(std::string()));
    }
    return table;
}

std::vector<std::string> tellingKeys(StoreReader& reader, RunValues& values,
                                     const std::vector<RunSummary>& runs, size_t most) {
    const auto telling = tellingMetric(reader, runs);
    std::vector<std::string> keys = values.differingSettings(reader, runs);
    std::ranges::stable_partition(keys, [](const auto& key) { return key != "seed"; });
    if (keys.size() + telling.has_value() > most)
        keys.resize(most - telling.has_value());
    if (telling)
        keys.push_back(*telling);
    return keys;
}

bool ValueScale::isWhole() const {
    return isNumeric() && std::ranges::all_of(values, [](double value) {
               return std::isnan(value) || value == std::round(value);
           });
}

ValueScale scaleOf(const RunTable& table, size_t key) {
    ValueScale scale;
    std::set<std::string> texts;
    bool areNumbers = true;
    for (const auto& row : table.values)
        if (!row[key].empty()) {
            texts.insert(row[key]);
            areNumbers = areNumbers && numberIn(row[key]);
        }
    if (!areNumbers)
        scale.categories.assign(texts.begin(), texts.end());
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const auto& row : table.values) {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (!row[key].empty() && areNumbers)
            value = *numberIn(row[key]);
        else if (!row[key].empty())
            value = static_cast<double>(std::distance(texts.begin(), texts.find(row[key])));
        scale.values.push_back(value);
        if (!std::isnan(value)) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    if (least <= most)
        std::tie(scale.least, scale.most) = std::pair(least, most);
    return scale;
}

} // namespace rm
