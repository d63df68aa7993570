// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/comparison.h"

#include "app/core/findings/text.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/run_cost.h"
#include "app/core/store/run_metrics.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rm {

namespace {

constexpr int kBuckets = 256;
constexpr int64_t kAllSteps = INT64_MAX;

std::string parentOf(const RunSummary& run) {
    if (run.parentRun.isEmpty())
        return {};
    const QString& name = run.parentName.isEmpty() ? run.parentRun : run.parentName;
    return say("run.parent-at-step",
               {{"parent", name.toStdString()}, {"step", std::to_string(run.parentStep)}});
}

/// The first point of the series in those steps that has the value.
int64_t stepOf(StoreReader& reader, const QString& run, const SeriesKey& key, const Bucket& within,
               float value) {
    for (const Point& point : reader.points(run, key, within.firstStep, within.lastStep))
        if (static_cast<float>(point.value) == value)
            return point.step;
    return within.lastStep;
}

std::optional<MetricExtent> extentOf(StoreReader& reader, const QString& run,
                                     const std::string& metric) {
    const SeriesKey key{metric, 0};
    const auto buckets = reader.buckets(run, key, 0, kAllSteps, kBuckets);
    const Bucket *least = nullptr, *most = nullptr, *last = nullptr;
    for (const Bucket& bucket : buckets) {
        if (bucket.count == 0)
            continue;
        if (!least || bucket.min < least->min)
            least = &bucket;
        if (!most || bucket.max > most->max)
            most = &bucket;
        last = &bucket;
    }
    if (!last)
        return std::nullopt;
    // What is stored is a float; as a double it would have digits that nobody measured.
    const auto asMeasured = [](float value) { return std::stod(plainFloat(value)); };
    return MetricExtent{asMeasured(last->last),
                        asMeasured(least->min),
                        asMeasured(most->max),
                        last->lastStep,
                        stepOf(reader, run, key, *least, least->min),
                        stepOf(reader, run, key, *most, most->max)};
}

/// The run whose value is better than every other's.
template <class ValueOf>
std::optional<size_t> bestRun(const ComparedMetric& metric, ValueOf valueOf) {
    std::optional<size_t> best;
    bool isShared = false;
    size_t count = 0;
    for (size_t run = 0; run < metric.extents.size(); ++run) {
        if (!metric.extents[run])
            continue;
        ++count;
        if (!best || isBetter(metric.def, valueOf(run), valueOf(*best))) {
            best = run;
            isShared = false;
        } else if (valueOf(run) == valueOf(*best)) {
            isShared = true;
        }
    }
    const bool isKnown =
        count > 1 && !isShared && metric.def.direction != MetricDirection::kNeither;
    return isKnown ? best : std::nullopt;
}

/// Ringmaster's own first, as the registry has them, then those of the runs by name.
std::vector<MetricDef> metricsOf(StoreReader& reader, const std::vector<RunSummary>& runs) {
    std::map<std::string, MetricDef> byName;
    for (const RunSummary& run : runs)
        for (MetricDef& metric : reader.metrics(run.id))
            byName.emplace(metric.name, std::move(metric));
    std::vector<MetricDef> metrics;
    for (auto& [name, metric] : byName)
        metrics.push_back(std::move(metric));
    std::ranges::stable_sort(metrics, {}, [](const MetricDef& metric) {
        const MetricDef* own = findBuiltinMetric(metric.name);
        return own ? own->id : metric::kFirstUser;
    });
    return metrics;
}

/// The trainer and data of the newest attempt.
AttemptIdentity identityOf(StoreReader& reader, const RunSummary& run) {
    const auto attempts = reader.attempts(run.id);
    return attempts.empty() ? AttemptIdentity() : attempts.back().identity;
}

std::vector<ComparedValue> factsOf(StoreReader& reader, const std::vector<RunSummary>& runs,
                                   const std::vector<Node>& nodes) {
    const auto row = [&](const char* key, const char* phrase, auto valueOf) {
        ComparedValue fact{key, say(phrase)};
        for (const RunSummary& run : runs)
            fact.values.push_back(valueOf(run));
        return fact;
    };
    std::map<QString, CostTexts> costs;
    for (const RunSummary& run : runs)
        costs[run.id] = textsOf(readCost(reader, run, nodes, wallNowNs()));
    const auto used = [&costs](std::string CostTexts::*text) {
        return [&costs, text](const RunSummary& run) { return costs[run.id].*text; };
    };
    return {row("state", "run.fact-state",
                [](const RunSummary& run) { return std::string(runStateName(run)); }),
            row("steps", "run.fact-steps", [](const RunSummary& run) { return stepsText(run); }),
            row("attempts", "run.fact-attempts",
                [](const RunSummary& run) { return std::to_string(run.attempt); }),
            row("ranks", "run.fact-ranks",
                [](const RunSummary& run) { return std::to_string(run.ranks); }),
            row("nodes", "run.fact-nodes", &nodesText),
            row("runtime", "run.fact-runtime",
                [&](const RunSummary& run) {
                    const auto attempts = reader.attempts(run.id);
                    return attempts.empty() ? std::string() : attempts.back().runtime;
                }),
            row("trainer", "run.fact-trainer",
                [&](const RunSummary& run) { return identityOf(reader, run).trainer; }),
            row("data", "run.fact-data",
                [&](const RunSummary& run) { return identityOf(reader, run).data; }),
            row("changed", "run.fact-changed",
                [&](const RunSummary& run) {
                    return settingsWords(settingsNow(reader.settings(run.id)));
                }),
            row("hours", "run.fact-hours", used(&CostTexts::hours)),
            row("rank_hours", "run.fact-rank-hours", used(&CostTexts::rankHours)),
            row("kwh", "run.fact-energy", used(&CostTexts::kWh)),
            row("price", "run.fact-price", used(&CostTexts::price)),
            row("parent", "run.fact-parent", &parentOf)};
}

/// The settings that one of the runs uses. Nothing is known of a spec that cannot be read.
std::vector<ComparedValue> settingsOf(const std::vector<std::optional<RunSpec>>& specs) {
    std::vector<ComparedValue> settings;
    for (const SchemaRow& field : schemaRows()) {
        ComparedValue row{std::string(field.key), std::string(field.label)};
        const auto isUsed = [&](const std::optional<RunSpec>& spec) {
            return spec && usesField(*spec, field);
        };
        for (const auto& spec : specs)
            row.values.push_back(isUsed(spec) ? valueText(field, *spec) : std::string());
        if (std::ranges::any_of(specs, isUsed))
            settings.push_back(std::move(row));
    }
    return settings;
}

} // namespace

bool ComparedValue::differs() const {
    return std::ranges::adjacent_find(values, std::not_equal_to<>()) != values.end();
}

std::optional<double> bestOf(const MetricDef& metric, const MetricExtent& extent) {
    if (metric.direction == MetricDirection::kNeither)
        return std::nullopt;
    return isBetter(metric, extent.least, extent.most) ? extent.least : extent.most;
}

int64_t bestStepOf(const MetricDef& metric, const MetricExtent& extent) {
    return isBetter(metric, extent.least, extent.most) ? extent.leastStep : extent.mostStep;
}

Result<Comparison> compareRuns(StoreReader& reader, const std::vector<QString>& runs,
                               const std::vector<Node>& nodes) {
    const auto snapshot = reader.snapshot();
    Comparison comparison;
    std::vector<std::optional<RunSpec>> specs;
    for (const QString& id : runs) {
        const auto run = reader.run(id);
        if (!run)
            return fail(ErrorCode::kNotFound,
                        say("run.compare-not-stored", {{"run", id.toStdString()}}));
        auto spec = parseRunSpec(reader.specToml(id), id.toStdString());
        comparison.runs.push_back(*run);
        specs.push_back(spec ? std::optional(std::move(*spec)) : std::nullopt);
    }
    comparison.facts = factsOf(reader, comparison.runs, nodes);
    comparison.settings = settingsOf(specs);
    for (const RunSummary& run : comparison.runs)
        comparison.secondsTrained.push_back(stepTimes(reader, run.id).ms / 1000);
    for (MetricDef& def : metricsOf(reader, comparison.runs)) {
        ComparedMetric metric{std::move(def)};
        for (const QString& id : runs)
            metric.extents.push_back(extentOf(reader, id, metric.def.name));
        metric.bestLast = bestRun(metric, [&](size_t run) { return metric.extents[run]->last; });
        metric.best = bestRun(metric, [&](size_t run) {
            return bestOf(metric.def, *metric.extents[run]).value_or(0);
        });
        comparison.metrics.push_back(std::move(metric));
    }
    return comparison;
}

} // namespace rm
