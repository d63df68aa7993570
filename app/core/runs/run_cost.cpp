// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_cost.h"

#include "app/core/findings/text.h"
#include "app/core/runs/step_span.h"
#include "shared/metrics/registry.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace rm {

namespace {

constexpr double kNsAnHour = 3600e9;
constexpr double kWattNsAKwh = 1000 * kNsAnHour;
/// Agents sample about every second. What is further apart has an agent between it that was not
/// there.
constexpr int64_t kMostGapNs = 10'000'000'000;
constexpr int kPowerBuckets = 512; ///< of a line: one a sample for the first minutes

/// When an attempt was heard of last: by its steps, and by what its agents sample between them.
int64_t heardNs(StoreReader& reader, const QString& run, const StoredAttempt& attempt,
                const std::vector<StoredLine>& lines) {
    int64_t newest = attempt.startedNs;
    for (const SeriesKey& series : {stepSeries(), SeriesKey{metricName(metric::kRankCpu), 0}})
        for (const StoredLine& line : lines)
            if (line.attempt == attempt.attempt)
                for (const Bucket& all :
                     reader.buckets(run, line, series, line.firstStep, line.lastStep, 1))
                    newest = std::max(newest, all.wallNs);
    return newest;
}

/// When an attempt ended, or now if it trains. Of one that was not heard of for long before that
/// (its nodes were gone until a person said so) when it was heard of last.
int64_t endOf(StoreReader& reader, const RunSummary& run, const StoredAttempt& attempt,
              const std::vector<StoredLine>& lines, int64_t nowNs) {
    constexpr int64_t kSilenceNs = 60'000'000'000;
    const bool isOpen = attempt.attempt == run.attempt && isLive(run.state);
    const int64_t heard = heardNs(reader, run.id, attempt, lines);
    if (!attempt.ended && !isOpen)
        return heard;
    const int64_t endNs = attempt.ended ? attempt.ended->wallNs : nowNs;
    return endNs - heard > kSilenceNs ? heard : endNs;
}

/// Watts times nanoseconds. Each sample stands for the time since the one before it, and the first
/// one for as much as they are apart in the mean.
double energyOf(const std::vector<Bucket>& watts) {
    double energy = 0, ns = 0;
    int64_t samples = 0;
    for (size_t i = 1; i < watts.size(); ++i) {
        const int64_t since = watts[i].wallNs - watts[i - 1].wallNs;
        if (watts[i].count == 0 || since < 0 || since > watts[i].count * kMostGapNs)
            continue;
        energy += static_cast<double>(since) * static_cast<double>(watts[i].mean);
        ns += static_cast<double>(since);
        samples += watts[i].count;
    }
    if (samples > 0 && watts.front().count > 0)
        energy += ns / static_cast<double>(samples) * static_cast<double>(watts.front().count) *
                  static_cast<double>(watts.front().mean);
    return energy;
}

/// With two decimals, or what is less with two digits.
std::string figure(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value > 0 && value < 0.1 ? "%.2g" : "%.2f", value);
    return text;
}

} // namespace

RunCost readCost(StoreReader& reader, const RunSummary& run, const std::vector<Node>& nodes,
                 int64_t nowNs) {
    const auto snapshot = reader.snapshot();
    RunCost cost;
    std::set<std::string> unpriced;
    const std::vector<StoredAttempt> attempts = reader.attempts(run.id);
    const std::vector<StoredLine> lines = reader.lines(run.id);
    const std::map<int, std::vector<RunNode>> places = reader.placesByAttempt(run.id);
    for (const StoredAttempt& attempt : attempts) {
        // An attempt that agents began is where the one before it was, unless they told otherwise.
        const auto behind = places.upper_bound(attempt.attempt);
        if (!attempt.hasStarted || behind == places.begin())
            continue;
        const int64_t endNs = endOf(reader, run, attempt, lines, nowNs);
        const double hours =
            std::max(0.0, static_cast<double>(endNs - attempt.startedNs)) / kNsAnHour;
        cost.hours += hours;
        for (const RunNode& place : std::prev(behind)->second) {
            if (place.ranks == 0)
                continue; // a node that was lost before
            cost.rankHours += hours * place.ranks;
            const auto node = std::ranges::find(nodes, place.nodeName, &Node::name);
            if (node != nodes.end() && node->pricePerHour > 0)
                cost.price = cost.price.value_or(0) + hours * node->pricePerHour;
            else
                unpriced.insert(place.nodeName);
        }
    }
    if (cost.price)
        cost.unpriced.assign(unpriced.begin(), unpriced.end());
    const std::string power = metricName(metric::kGpuPowerW);
    for (const SeriesKey& series : reader.series(run.id)) {
        cost.isOnGpus = cost.isOnGpus || series.metric.starts_with("gpu/");
        if (series.metric != power)
            continue;
        for (const StoredLine& line : lines)
            cost.kWh =
                cost.kWh.value_or(0) + energyOf(reader.buckets(run.id, line, series, line.firstStep,
                                                               line.lastStep, kPowerBuckets)) /
                                           kWattNsAKwh;
    }
    return cost;
}

CostTexts textsOf(const RunCost& cost) {
    if (cost.hours <= 0)
        return {};
    return {figure(cost.hours), figure(cost.rankHours), cost.kWh ? figure(*cost.kWh) : "",
            cost.price ? figure(*cost.price) : ""};
}

std::string costWords(const RunCost& cost) {
    const auto [hours, rankHours, kWh, price] = textsOf(cost);
    if (hours.empty())
        return {};
    std::string words = say(cost.isOnGpus ? "run.cost-gpus" : "run.cost-ranks",
                            {{"hours", hours}, {"ranks", rankHours}});
    if (!kWh.empty())
        words += ", " + say("run.cost-energy", {{"kwh", kWh}});
    if (!price.empty())
        words += ", " + say("run.cost-price", {{"price", price}});
    if (!cost.unpriced.empty())
        words += " " + say("run.cost-without", {{"node", cost.unpriced.front()},
                                                {"count", std::to_string(cost.unpriced.size())}});
    return words;
}

} // namespace rm
