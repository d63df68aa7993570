// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_figures.h"

#include "app/core/store/run_metrics.h"
#include "app/core/store/store_reader.h"
#include "shared/metrics/median.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace rm {

namespace {

constexpr int64_t kLastSteps = 40;
constexpr double kLateMs = 15'000;      ///< of steps that are missing, nothing is heard of a rank
constexpr int64_t kUsualLag = 2;        ///< steps, however long they are
constexpr int64_t kFirstSteps = 5;      ///< of an attempt: they warm caches and await all ranks
constexpr int64_t kStepsToCompare = 20; ///< at least, behind these
constexpr double kMsToCompare = 5'000;  ///< of training, which steps of some ms soon have

/// How many steps are played to StragglerWatch: some more than it looks at.
int64_t replayedSteps(double stepMs) {
    constexpr double kMost = 2000;
    constexpr double kRows = 4 * StragglerWatch::kRows;
    const double perRow = stepMs > 0 ? std::ceil(StragglerWatch::kRowMs / stepMs) : 1;
    return static_cast<int64_t>(std::min(kMost, kRows * perRow));
}

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

/// The step after which the attempt began that made the last of these steps; of the newest attempt
/// if none are asked for.
int64_t beginOf(StoreReader& reader, const RunSummary& run, const std::optional<StepSpan>& span) {
    int64_t begin = run.parentStep;
    for (const StoredAttempt& attempt : reader.attempts(run.id))
        if (!span || attempt.startStep < span->last)
            begin = std::max(run.parentStep, attempt.startStep);
    return begin;
}

/// A step, or the mean of some neighbouring ones.
struct MeanSteps {
    int64_t step = 0; ///< the first of them
    double value = 0;
    int64_t count = 1;
};

/// What is no number is left out.
std::vector<MeanSteps> meansOf(StoreReader& reader, const QString& run, const std::string& metric,
                               int rank, int64_t first, int64_t last) {
    constexpr int kMostRead = 4096;
    std::vector<MeanSteps> means;
    if (last - first < kMostRead) {
        for (const Point& point : reader.points(run, {metric, rank}, first, last))
            if (std::isfinite(point.value))
                means.push_back({point.step, static_cast<double>(point.value)});
        return means;
    }
    for (const Bucket& bucket : reader.buckets(run, {metric, rank}, first, last, kMostRead))
        if (bucket.count > 0 && std::isfinite(bucket.mean))
            means.push_back({bucket.firstStep, static_cast<double>(bucket.mean), bucket.count});
    return means;
}

double meanOf(const std::vector<MeanSteps>& means) {
    double sum = 0, count = 0;
    for (const MeanSteps& each : means) {
        sum += each.value * static_cast<double>(each.count);
        count += static_cast<double>(each.count);
    }
    return count > 0 ? sum / count : 0;
}

/// Of rates over as many steps: what they did together by the time that it took.
double meanRate(std::vector<MeanSteps> rates) {
    std::erase_if(rates, [](const MeanSteps& each) { return each.value <= 0; });
    for (MeanSteps& each : rates)
        each.value = 1 / each.value;
    return rates.empty() ? 0 : 1 / meanOf(rates);
}

/// The rank's newest step, or the newest in the span; -1: there is none.
int64_t newestStepOf(StoreReader& reader, const QString& run, int rank,
                     const std::optional<StepSpan>& span) {
    const SeriesKey steps{metricName(metric::kTrainStepMs), rank};
    if (!span) {
        const auto last = reader.lastPoint(run, steps);
        return last ? last->step : -1;
    }
    const auto all = reader.buckets(run, steps, span->first, span->last, 1);
    return all.empty() ? -1 : all.back().lastStep;
}

RankMeans readRank(StoreReader& reader, const RunSummary& run, const MetricDef& throughput,
                   int rank, int64_t first, int64_t last) {
    RankMeans means{.rank = rank};
    const auto read = [&](const std::string& metric) {
        return meansOf(reader, run.id, metric, rank, first, last);
    };
    means.stepMs = meanOf(read(metricName(metric::kTrainStepMs)));
    means.throughput = meanRate(read(throughput.name));
    for (const MetricDef* phase : stepPhases())
        means.phaseMs.push_back(meanOf(read(phase->name)));
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

/// The times of steps that all ranks have told of, by step.
std::map<int64_t, std::vector<RankTimes>> readTimes(StoreReader& reader, const RunSummary& run,
                                                    int64_t first, int64_t last) {
    std::map<int64_t, std::vector<RankTimes>> rows;
    std::map<int64_t, int> told; // values, by step
    for (int rank = 0; rank < run.ranks; ++rank)
        for (const MetricDef* phase : stepPhases())
            for (const Point& point : reader.points(run.id, {phase->name, rank}, first, last)) {
                auto& row = rows[point.step];
                row.resize(static_cast<size_t>(run.ranks));
                RankTimes& times = row[static_cast<size_t>(rank)];
                const bool isSum = phase->id == metric::kPhaseAllreduceMs;
                (phase->id == metric::kPhaseDataMs ? times.dataMs
                 : isSum                           ? times.exposedMs
                         : times.computeMs) += static_cast<double>(point.value);
                told[point.step] += isSum ? 1 : 0;
            }
    std::erase_if(rows, [&](const auto& row) { return told[row.first] != run.ranks; });
    return rows;
}

/// The last steps, played to the rule that the ranks themselves obey.
std::vector<Straggler> findStragglers(StoreReader& reader, const RunSummary& run, int64_t begin,
                                      int64_t last, double stepMs) {
    StragglerWatch watch(static_cast<size_t>(run.ranks));
    const int64_t first = std::max(begin + 1, last - replayedSteps(stepMs) + 1);
    for (const auto& [step, row] : readTimes(reader, run, first, last))
        watch.note(row);
    return watch.now();
}

/// The span, or some parts of a long one that are spread over it.
std::vector<StepSpan> partsOf(const StepSpan& span) {
    constexpr int64_t kParts = 8, kEach = 512;
    if (span.last - span.first < kParts * kEach)
        return {span};
    std::vector<StepSpan> parts;
    for (int64_t part = 0; part < kParts; ++part) {
        const int64_t first = span.first + (span.last - span.first - kEach) / (kParts - 1) * part;
        parts.push_back({first, first + kEach - 1});
    }
    return parts;
}

/// Each attempt and part is played by itself, so that nothing counts that was before.
std::vector<Straggler> stragglersIn(StoreReader& reader, const RunSummary& run,
                                    const StepSpan& span) {
    struct Slow {
        Straggler last;
        int64_t rows = 0;
    };
    std::map<std::pair<int, SlowCause>, Slow> slow;
    std::set<int64_t> starts;
    for (const StoredAttempt& attempt : reader.attempts(run.id))
        starts.insert(attempt.startStep);
    int64_t played = 0;
    for (const StepSpan& part : partsOf(span)) {
        std::optional<StragglerWatch> watch;
        int64_t before = 0;
        for (const auto& [step, row] : readTimes(reader, run, part.first, part.last)) {
            const auto start = starts.lower_bound(before);
            if (!watch || (start != starts.end() && *start < step))
                watch.emplace(static_cast<size_t>(run.ranks));
            before = step;
            watch->note(row);
            ++played;
            for (const Straggler& each : watch->now()) {
                Slow& known = slow[{each.rank, each.cause}];
                known.last = each;
                ++known.rows;
            }
        }
    }
    std::vector<Straggler> found;
    for (const auto& [key, each] : slow)
        if (4 * each.rows >= played)
            found.push_back(each.last);
    std::ranges::stable_sort(found, std::ranges::greater(), &Straggler::overMs);
    return found;
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

double RankMeans::dataMs() const {
    const auto found = std::ranges::find(stepPhases(), metric::kPhaseDataMs, &MetricDef::id);
    const auto index = static_cast<size_t>(found - stepPhases().begin());
    return index < phaseMs.size() ? phaseMs[index] : 0;
}

double RankMeans::busyMs() const {
    return std::accumulate(phaseMs.begin(), phaseMs.end(), 0.0) - allreduceMs();
}

size_t phaseOf(const Straggler& straggler, const std::vector<RankMeans>& ranks) {
    if (straggler.cause == SlowCause::kLink)
        return allreducePhase();
    const auto slow = std::ranges::find(ranks, straggler.rank, &RankMeans::rank);
    size_t widest = 0;
    double gap = -INFINITY;
    for (size_t phase = 0; phase < stepPhases().size(); ++phase) {
        const bool isData = stepPhases()[phase]->id == metric::kPhaseDataMs;
        if (phase == allreducePhase() || isData != (straggler.cause == SlowCause::kData) ||
            slow == ranks.end())
            continue;
        std::vector<double> others;
        for (const RankMeans& rank : ranks)
            if (rank.rank != slow->rank)
                others.push_back(rank.phaseMs[phase]);
        const double over = others.empty() ? 0 : slow->phaseMs[phase] - medianOf(std::move(others));
        if (over > gap) {
            gap = over;
            widest = phase;
        }
    }
    return widest;
}

RunFigures readFigures(StoreReader& reader, const RunSummary& run,
                       const std::optional<StepSpan>& span) {
    RunFigures figures;
    figures.span = span;
    const MetricDef throughput = throughputMetric(reader, run.id);
    figures.throughputMetric = throughput;
    const int64_t begin = beginOf(reader, run, span);
    const auto firstOf = [&](int64_t last) {
        return span ? span->first : firstOfLast(begin, last);
    };
    std::vector<int64_t> newest; // by rank; by steps, as the clocks of nodes differ
    for (int rank = 0; rank < run.ranks; ++rank) {
        newest.push_back(newestStepOf(reader, run.id, rank, span));
        const int64_t its = newest.back() >= 0 ? newest.back() : run.step;
        figures.ranks.push_back(
            readRank(reader, run, throughput, rank, firstOf(its), span ? span->last : its));
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
    const int64_t compared =
        std::min(usualSteps(begin, last), span ? last - span->first + 1 : last);
    figures.isCompared = current.size() > 1 && compared >= kStepsToCompare &&
                         static_cast<double>(compared) * figures.stepMs >= kMsToCompare;
    figures.attemptBegin = begin;
    figures.steps = std::max<int64_t>(0, last - firstOf(last) + 1);
    figures.lastStep = last;
    if (run.ranks > 1)
        figures.stragglers = span ? stragglersIn(reader, run, {span->first, last})
                                  : findStragglers(reader, run, begin, last, figures.stepMs);
    figures.bestStep = bestValidationStep(reader, run);
    return figures;
}

} // namespace rm
