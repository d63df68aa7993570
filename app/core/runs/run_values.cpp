// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_values.h"

#include "app/core/findings/text.h"
#include "app/core/settings/saved_filters.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rm {

namespace {

constexpr int kBuckets = 64;

constexpr std::pair<std::string_view, ValueKey::Kind> kPrefixes[] = {
    {"min:", ValueKey::Kind::kLeast},
    {"max:", ValueKey::Kind::kMost},
    {"best:", ValueKey::Kind::kBest}};

std::string lastWordOf(std::string_view key) {
    return std::string(key.substr(key.rfind('.') + 1));
}

std::optional<float> extremeOf(StoreReader& reader, const QString& run, const std::string& metric,
                               bool isMost) {
    std::optional<float> extreme;
    for (const Bucket& bucket : reader.buckets(run, {metric, 0}, 0, INT64_MAX, kBuckets)) {
        const float value = isMost ? bucket.max : bucket.min;
        if (bucket.count > 0 && (!extreme || (isMost ? value > *extreme : value < *extreme)))
            extreme = value;
    }
    return extreme;
}

std::optional<float> metricValue(StoreReader& reader, const QString& run, const ValueKey& key) {
    if (key.kind == ValueKey::Kind::kLast) {
        const auto last = reader.lastPoint(run, {key.name, 0});
        return last ? std::optional(static_cast<float>(last->value)) : std::nullopt;
    }
    bool isMost = key.kind == ValueKey::Kind::kMost;
    if (key.kind == ValueKey::Kind::kBest) {
        const auto metrics = reader.metrics(run);
        const auto def = std::ranges::find(metrics, key.name, &MetricDef::name);
        if (def == metrics.end() || def->direction == MetricDirection::kNeither)
            return std::nullopt;
        isMost = isBetter(*def, 1, 0);
    }
    return extremeOf(reader, run, key.name, isMost);
}

} // namespace

Result<ValueKey> parseValueKey(const std::string& text) {
    for (const auto& [prefix, kind] : kPrefixes)
        if (text.starts_with(prefix) && isValidMetricName(text.substr(prefix.size())))
            return ValueKey{kind, text.substr(prefix.size())};
    if (isValidMetricName(text))
        return ValueKey{ValueKey::Kind::kLast, text};
    const SchemaRow* ending = nullptr;
    int endings = 0;
    for (const SchemaRow& row : schemaRows()) {
        if (row.key == text)
            return ValueKey{ValueKey::Kind::kSetting, text};
        if (lastWordOf(row.key) == text) {
            ending = &row;
            ++endings;
        }
    }
    if (endings == 1)
        return ValueKey{ValueKey::Kind::kSetting, std::string(ending->key)};
    if (endings > 1)
        return fail(ErrorCode::kNotFound,
                    say("run.key-of-several",
                        {{"key", plainLine(text)}, {"one", std::string(ending->key)}}));
    return fail(ErrorCode::kNotFound, say("run.no-such-key", {{"key", plainLine(text)}}));
}

Result<void> checkKeys(const RunFilter& filter) {
    for (const std::string& key : keysBesidesSummary(filter))
        RM_RETURN_IF_ERROR(parseValueKey(key));
    return {};
}

Result<RunFilter> filterTyped(const Paths& paths, const QString& typed) {
    RM_ASSIGN_OR_RETURN(const QString meant, filterMeant(paths, typed));
    RM_ASSIGN_OR_RETURN(auto filter, parseRunFilter(meant.toStdString()));
    RM_RETURN_IF_ERROR(checkKeys(filter));
    return filter;
}

std::vector<std::string> keysOf(StoreReader& reader, const std::vector<RunSummary>& runs) {
    std::vector<std::string> keys;
    for (const SchemaRow& row : schemaRows())
        keys.emplace_back(row.key);
    std::set<std::string> metrics;
    for (const RunSummary& run : runs)
        for (const MetricDef& metric : reader.metrics(run.id)) {
            metrics.insert(metric.name);
            if (metric.direction != MetricDirection::kNeither)
                metrics.insert("best:" + metric.name);
        }
    keys.insert(keys.end(), metrics.begin(), metrics.end());
    return keys;
}

const RunSpec* RunValues::specOf(StoreReader& reader, const QString& run) {
    auto known = m_specs.find(run);
    if (known == m_specs.end()) {
        auto spec = parseRunSpec(reader.specToml(run), run.toStdString());
        known = m_specs.emplace(run, spec ? std::optional(std::move(*spec)) : std::nullopt).first;
    }
    return known->second ? &*known->second : nullptr;
}

std::optional<std::string> RunValues::valueOf(StoreReader& reader, const RunSummary& run,
                                              const ValueKey& key) {
    if (key.kind != ValueKey::Kind::kSetting) {
        Known& known = m_metrics[run.id][key];
        if (known.updatedNs == run.updatedNs && run.updatedNs != 0 && hasEnded(run.state))
            return known.value;
        const auto value = metricValue(reader, run.id, key);
        known.updatedNs = run.updatedNs;
        known.value =
            value && std::isfinite(*value) ? std::optional(plainFloat(*value)) : std::nullopt;
        return known.value;
    }
    const RunSpec* spec = specOf(reader, run.id);
    const auto row = std::ranges::find(schemaRows(), key.name, &SchemaRow::key);
    if (!spec || row == schemaRows().end() || !usesField(*spec, *row))
        return std::nullopt;
    return valueText(*row, *spec);
}

RunValues::Table RunValues::valuesOf(StoreReader& reader, const std::vector<RunSummary>& runs,
                                     const std::vector<std::string>& keys) {
    Table table;
    for (const std::string& text : keys) {
        const auto key = parseValueKey(text);
        if (!key)
            continue;
        for (const RunSummary& run : runs)
            if (auto value = valueOf(reader, run, *key))
                table[run.id][text] = std::move(*value);
    }
    return table;
}

std::vector<std::string> RunValues::differingSettings(StoreReader& reader,
                                                      const std::vector<RunSummary>& runs) {
    std::vector<std::string> keys;
    for (const SchemaRow& row : schemaRows()) {
        const ValueKey key{ValueKey::Kind::kSetting, std::string(row.key)};
        std::set<std::optional<std::string>> values;
        for (const RunSummary& run : runs)
            values.insert(valueOf(reader, run, key));
        if (values.size() > 1 && row.key != "name")
            keys.push_back(key.name);
    }
    return keys;
}

std::optional<std::string> valueIn(const RunValues::Table& values, const QString& run,
                                   const std::string& key) {
    const auto known = values.find(run);
    if (known == values.end())
        return std::nullopt;
    const auto value = known->second.find(key);
    return value == known->second.end() ? std::nullopt : std::optional(value->second);
}

std::vector<RunSummary> filtered(const RunFilter& filter, std::vector<RunSummary> runs,
                                 StoreReader& reader, RunValues& values) {
    std::erase_if(runs, [&](const RunSummary& run) {
        return !matches(filter, run, [&](const std::string& key) -> std::optional<std::string> {
            const auto parsed = parseValueKey(key);
            return parsed ? values.valueOf(reader, run, *parsed) : std::nullopt;
        });
    });
    return runs;
}

} // namespace rm
