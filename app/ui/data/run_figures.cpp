// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/run_figures.h"

#include "app/core/store/run_metrics.h"
#include "app/core/store/store_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rm {

namespace {

constexpr int64_t kLastSteps = 40;
constexpr double kLateMs = 15'000; ///< of steps that are missing, nothing is heard of a rank
constexpr int64_t kUsualLag = 2;   ///< steps, however long they are
constexpr double kNoticeable = 0.10;
constexpr double kOfStep = 0.05;        ///< how much longer a step is that has a straggler
constexpr int64_t kFirstSteps = 5;      ///< of an attempt: they warm caches and await all ranks
constexpr int64_t kStepsToCompare = 20; ///< at least, behind these
constexpr double kMsToCompare = 5'000;  ///< of training, which steps of some ms soon have

/// The steps of an attempt that has gone on from `begin`, behind the first ones.
int64_t usualSteps(int64_t begin, int64_t last) {
    return last - begin - kFirstSteps;
}

/// The steps that figures are of, up to this one: without an attempt's first, once it has others.
int64_t firstOfLast(int64_t begin, int64_t last) {
    const int64_t first = std::max<int64_t>(0, last - kLastSteps + 1);
    return usualSteps(begin, last) < kStepsToCompare ? first
                                                     : std::max(first, begin + kFirstSteps + 1);
}

/// The step after which the run's newest attempt began.
int64_t beginOf(StoreReader& reader, const RunSummary& run) {
    const auto attempts = reader.attempts(run.id);
    const int64_t start = attempts.empty() ? 0 : attempts.back().startStep;
    return std::max(run.parentStep, start);
}

std::vector<double> lastValues(StoreReader& reader, const QString& run, const std::string& metric,
                               int rank, int64_t first, int64_t last) {
    std::vector<double> values;
    for (const Point& point : reader.points(run, {metric, rank}, first, last))
        if (std::isfinite(point.value))
            values.push_back(point.value);
    return values;
}

double meanOf(const std::vector<double>& values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Of rates over as many steps: what they did together by the time that it took.
double meanRate(std::vector<double> rates) {
    std::erase_if(rates, [](double rate) { return rate <= 0; });
    for (double& rate : rates)
        rate = 1 / rate;
    return rates.empty() ? 0 : 1 / meanOf(rates);
}

double medianOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The rank's newest step.
std::optional<Point> newestOf(StoreReader& reader, const QString& run, int rank) {
    return reader.lastPoint(run, {metricName(metric::kTrainStepMs), rank});
}

RankMeans readRank(StoreReader& reader, const RunSummary& run, const MetricDef& throughput,
                   int rank, int64_t begin, int64_t last) {
    RankMeans means{.rank = rank};
    const auto valuesOf = [&](const std::string& metric) {
        return lastValues(reader, run.id, metric, rank, firstOfLast(begin, last), last);
    };
    means.stepMs = meanOf(valuesOf(metricName(metric::kTrainStepMs)));
    means.throughput = meanRate(valuesOf(throughput.name));
    for (const MetricDef* phase : stepPhases())
        means.phaseMs.push_back(meanOf(valuesOf(phase->name)));
    return means;
}

/// Its index in stepPhases().
size_t allreducePhase() {
    static const size_t index = [] {
        const auto found =
            std::ranges::find(stepPhases(), metric::kPhaseAllreduceMs, &MetricDef::id);
        return static_cast<size_t>(found - stepPhases().begin());
    }();
    return index;
}

size_t widestGap(const RankMeans& slow, const std::vector<RankMeans>& ranks) {
    size_t widest = 0;
    double gap = -INFINITY;
    for (size_t phase = 0; phase < stepPhases().size(); ++phase) {
        std::vector<double> others;
        for (const RankMeans& rank : ranks)
            if (rank.rank != slow.rank)
                others.push_back(rank.phaseMs[phase]);
        const double over = slow.phaseMs[phase] - medianOf(std::move(others));
        if (phase != allreducePhase() && over > gap) {
            gap = over;
            widest = phase;
        }
    }
    return widest;
}

std::optional<int64_t> bestValidationStep(StoreReader& reader, const RunSummary& run) {
    if (!run.validationLoss)
        return std::nullopt;
    const MetricDef& loss = builtinMetric(metric::kValidationLoss);
    std::optional<Point> best;
    for (const Point& point : reader.points(run.id, {loss.name, 0}))
        if (std::isfinite(point.value) && (!best || isBetter(loss, point.value, best->value)))
            best = point;
    return best ? std::optional(best->step) : std::nullopt;
}

} // namespace

const std::vector<const MetricDef*>& stepPhases() {
    static const std::vector<const MetricDef*> phases =
        metricsOfPanel(builtinMetric(metric::kPhaseDataMs).panel);
    return phases;
}

double RankMeans::allreduceMs() const {
    return phaseMs.empty() ? 0 : phaseMs[allreducePhase()];
}

double RankMeans::busyMs() const {
    return std::accumulate(phaseMs.begin(), phaseMs.end(), 0.0) - allreduceMs();
}

std::optional<Straggler> findStraggler(const std::vector<RankMeans>& ranks) {
    if (ranks.size() < 2)
        return std::nullopt;
    std::vector<double> busy;
    for (const RankMeans& rank : ranks)
        busy.push_back(rank.busyMs());
    const auto slowest = std::ranges::max_element(ranks, {}, &RankMeans::busyMs);
    // With two ranks the upper median would be the slow rank itself.
    const double usual = ranks.size() == 2 ? std::min(busy[0], busy[1]) : medianOf(busy);
    const double overBy = usual > 0 ? slowest->busyMs() / usual - 1 : 0;
    const double stepMs = std::ranges::max_element(ranks, {}, &RankMeans::stepMs)->stepMs;
    if (overBy < kNoticeable || slowest->busyMs() - usual < kOfStep * stepMs)
        return std::nullopt;
    return Straggler{slowest->rank, widestGap(*slowest, ranks), overBy};
}

RunFigures readFigures(StoreReader& reader, const RunSummary& run) {
    RunFigures figures;
    const MetricDef throughput = throughputMetric(reader, run.id);
    figures.throughputMetric = throughput;
    const int64_t begin = beginOf(reader, run);
    std::vector<int64_t> newest; // by rank; by steps, as the clocks of nodes differ
    for (int rank = 0; rank < run.ranks; ++rank) {
        const auto its = newestOf(reader, run.id, rank);
        newest.push_back(its ? its->step : -1);
        figures.ranks.push_back(
            readRank(reader, run, throughput, rank, begin, its ? its->step : run.step));
    }
    const int64_t last = newest.empty() ? 0 : std::ranges::max(newest);
    for (RankMeans& rank : figures.ranks) {
        const int64_t missing = last - newest[static_cast<size_t>(rank.rank)];
        rank.isCurrent =
            newest[static_cast<size_t>(rank.rank)] >= 0 &&
            (missing <= kUsualLag || static_cast<double>(missing) * rank.stepMs < kLateMs);
    }
    std::vector<RankMeans> current = figures.ranks;
    std::erase_if(current, [](const RankMeans& rank) { return !rank.isCurrent; });
    const auto count = static_cast<double>(current.size());
    double allreduceMs = 0;
    for (const RankMeans& rank : current) {
        figures.throughput += rank.throughput / count * run.ranks;
        figures.stepMs = std::max(figures.stepMs, rank.stepMs);
        allreduceMs += rank.allreduceMs() / count;
    }
    figures.allreduceShare = figures.stepMs > 0 ? allreduceMs / figures.stepMs : 0;
    const int64_t compared = usualSteps(begin, last);
    if (compared >= kStepsToCompare &&
        static_cast<double>(compared) * figures.stepMs >= kMsToCompare)
        figures.straggler = findStraggler(current);
    figures.bestStep = bestValidationStep(reader, run);
    return figures;
}

} // namespace rm
