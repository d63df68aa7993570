// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/slowdowns.h"

#include "app/core/findings/text.h"
#include "shared/amounts.h"
#include "shared/metrics/median.h"
#include "shared/spec/toml_fields.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr double kLeastData = 0.10;
constexpr double kLeastSums = 0.15;
constexpr double kLeastSaving = 0.03;
constexpr double kLeastValidation = 0.10;
constexpr double kLeastGrowth = 0.05; ///< of what is taken, in an hour
constexpr double kHotC = 85;          ///< from about here on GPUs lower their clocks

std::string percent(double share) {
    return QLocale::c().toString(100 * share, 'f', 0).toStdString() + " %";
}

std::string inMs(double ms) {
    return QLocale::c().toString(ms, 'f', ms < 10 ? 1 : 0).toStdString() + " ms";
}

std::string times(double factor) {
    return QLocale::c().toString(factor, 'f', 2).toStdString();
}

double sumOf(const std::optional<double>& a, const std::optional<double>& b) {
    return a.value_or(0) + b.value_or(0);
}

/// A step with what lies between it and the next.
double wholeMs(const Pace& pace) {
    return pace.stepMs + sumOf(pace.validationMs, pace.checkpointMs);
}

std::string placeOf(const Pace& pace, int rank) {
    const std::string* node = nullptr;
    for (const auto& [first, name] : pace.nodes)
        node = first <= rank ? &name : node;
    return node ? say("pace.rank-on", {{"rank", std::to_string(rank)}, {"node", *node}})
                : say("pace.rank", {{"rank", std::to_string(rank)}});
}

std::string workersCure(const RunSpec& spec) {
    return spec.data.workers == 0
               ? say("pace.set-workers")
               : say("pace.raise-workers", {{"workers", std::to_string(spec.data.workers)}});
}

Slowdown dataWaits(const Pace& pace) {
    const double gain = speedUpWithout(pace.stepMs, pace.dataMs);
    return {pace.dataMs / pace.stepMs,
            gain,
            -1,
            {},
            finding("slow-data", {{"share", percent(pace.dataMs / pace.stepMs)},
                                  {"data", inMs(pace.dataMs)},
                                  {"step", inMs(pace.stepMs)},
                                  {"factor", times(gain)},
                                  {"workers", workersCure(pace.spec)}})};
}

/// What larger steps and compressed gradients would gain, as far as they can.
std::string sumsCure(const Pace& pace) {
    std::vector<std::string> cures;
    if (pace.spec.distribution.compression == "none")
        cures.push_back(say("pace.compress",
                            {{"factor", times(speedUpWithout(pace.stepMs, pace.exposedMs / 2))}}));
    const bool isGlobal = pace.spec.train.globalBatch > 0;
    const int64_t size =
        2 * (isGlobal ? pace.spec.train.globalBatch : pace.spec.train.accumulation);
    // Twice the samples in a step that computes twice and sums once.
    const double gain = speedUpWithout(2 * pace.stepMs, pace.exposedMs);
    cures.push_back(
        say("pace.larger-steps", {{"key", isGlobal ? "train.global_batch" : "train.accumulation"},
                                  {"size", std::to_string(size)},
                                  {"factor", times(gain)}}));
    return joined(cures);
}

Slowdown sums(const Pace& pace) {
    const double gain = speedUpWithout(pace.stepMs, pace.exposedMs);
    return {pace.exposedMs / pace.stepMs,
            gain,
            -1,
            {},
            finding("slow-communication", {{"share", percent(pace.exposedMs / pace.stepMs)},
                                           {"sums", inMs(pace.exposedMs)},
                                           {"step", inMs(pace.stepMs)},
                                           {"factor", times(gain)},
                                           {"cures", sumsCure(pace)}})};
}

const char* stragglerId(SlowCause cause) {
    switch (cause) {
    case SlowCause::kData:
        return "slow-rank.data";
    case SlowCause::kCompute:
        return "slow-rank.compute";
    case SlowCause::kLink:
        return "slow-rank.link";
    }
    return "slow-rank.compute";
}

Slowdown slowRank(const Pace& pace, const Straggler& slow) {
    const double gain = speedUpWithout(slow.stepMs, slow.overMs);
    return {slow.stepMs > 0 ? slow.overMs / slow.stepMs : 0, gain, slow.rank, slow.cause,
            finding(stragglerId(slow.cause), {{"rank", placeOf(pace, slow.rank)},
                                              {"takes", inMs(slow.usualMs + slow.overMs)},
                                              {"usual", inMs(slow.usualMs)},
                                              {"share", percent(slow.slowsBy())},
                                              {"factor", times(gain)}})};
}

Slowdown checkpoints(const Pace& pace) {
    const double gain = speedUpWithout(wholeMs(pace), *pace.checkpointMs);
    return {*pace.checkpointMs / wholeMs(pace),
            gain,
            -1,
            {},
            finding("slow-checkpoints", {{"share", percent(*pace.checkpointMs / wholeMs(pace))},
                                         {"factor", times(gain)},
                                         {"every", std::to_string(pace.spec.checkpoint.every)}})};
}

Slowdown validation(const Pace& pace) {
    const double gain = speedUpWithout(wholeMs(pace), *pace.validationMs);
    return {*pace.validationMs / wholeMs(pace),
            gain,
            -1,
            {},
            finding("slow-validation", {{"share", percent(*pace.validationMs / wholeMs(pace))},
                                        {"factor", times(gain)},
                                        {"every", std::to_string(pace.spec.validation.every)}})};
}

Slowdown growth(const Pace& pace, const MemoryGrowth& memory) {
    const auto words = [](double bytes) { return memoryWords(std::llround(bytes)); };
    return {0,
            1,
            memory.rank,
            {},
            finding(memory.isGpu ? "slow-memory.gpu" : "slow-memory",
                    {{"rank", placeOf(pace, memory.rank)},
                     {"now", words(memory.bytes)},
                     {"growth", words(memory.bytesPerHour)}})};
}

Slowdown heat(const Pace& pace) {
    return {
        0,
        1,
        pace.hottestC->first,
        {},
        finding("slow-heat", {{"rank", placeOf(pace, pace.hottestC->first)},
                              {"degrees", std::to_string(std::lround(pace.hottestC->second))}})};
}

Slowdown computing(const Pace& pace) {
    const double share = pace.workMs / pace.stepMs;
    return {share,
            1,
            -1,
            {},
            finding("slow-compute",
                    {{"share", percent(share)},
                     {"work", inMs(pace.workMs)},
                     {"step", inMs(pace.stepMs)},
                     {"mfu", pace.mfu ? say("pace.mfu", {{"share", percent(*pace.mfu)}}) : ""}})};
}

bool grows(const MemoryGrowth& memory) {
    return memory.isSteady && memory.bytes > 0 &&
           memory.bytesPerHour >= kLeastGrowth * memory.bytes;
}

// The part that reads.

/// Of two ranks the one that is not slow.
double lowerMedianOf(std::vector<double> values) {
    std::ranges::sort(values);
    return values[(values.size() - 1) / 2];
}

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr double kHourNs = 3600e9;

/// Boundaries after steps of rank 0, from one attempt's figures: how long each took on the whole.
struct Between {
    double validationMs = 0, checkpointMs = 0;
    int64_t validations = 0, saves = 0;
};

/// The time between the last steps' ends that is in no step: at validations it is theirs, but for
/// what a checkpoint stalled there.
Between readBetween(StoreReader& reader, const QString& run, int64_t first, int64_t last) {
    Between sum;
    const auto steps = reader.points(run, {metricName(metric::kTrainStepMs), 0}, first, last);
    auto saves = reader.points(run, {metricName(metric::kPhaseCheckpointMs), 0}, first, last);
    std::erase_if(saves, [](const Point& save) { return !std::isfinite(save.value); });
    const auto validations =
        reader.points(run, {metricName(metric::kValidationLoss), 0}, first, last);
    for (const Point& save : saves)
        sum.checkpointMs += static_cast<double>(save.value);
    sum.saves = static_cast<int64_t>(saves.size());
    for (const Point& validation : validations) {
        const auto next = std::ranges::upper_bound(steps, validation.step, {}, &Point::step);
        if (next == steps.begin() || next == steps.end() ||
            std::prev(next)->step != validation.step || !std::isfinite(next->value))
            continue;
        double ms = static_cast<double>(next->wallNs - std::prev(next)->wallNs) / 1e6 -
                    static_cast<double>(next->value);
        for (const Point& save : saves)
            ms -= save.step == validation.step ? static_cast<double>(save.value) : 0;
        sum.validationMs += std::max(0.0, ms);
        ++sum.validations;
    }
    return sum;
}

/// A line through the samples of the attempt, or of those in the span, once they are of ten
/// minutes.
std::optional<MemoryGrowth> readGrowth(StoreReader& reader, const QString& run,
                                       const RunFigures& figures, MetricId metric, int rank) {
    constexpr int kTenths = 10;
    constexpr int64_t kLeastNs = 600 * kNsPerSecond;
    const StepSpan span = figures.span.value_or(StepSpan());
    const auto buckets =
        reader.buckets(run, {metricName(metric), rank},
                       std::max(figures.attemptBegin + 1, span.first), span.last, 400);
    std::vector<std::pair<double, double>> samples; // hours, bytes
    for (const Bucket& bucket : buckets)
        if (std::isfinite(bucket.mean))
            samples.emplace_back(static_cast<double>(bucket.wallNs) / kHourNs,
                                 static_cast<double>(bucket.mean));
    if (samples.size() < 4 * kTenths ||
        (samples.back().first - samples.front().first) * kHourNs < kLeastNs)
        return std::nullopt;
    samples.erase(samples.begin(), // models, caches and kernels take their memory at the beginning
                  samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 3));
    double hours = 0, bytes = 0;
    for (const auto& [hour, each] : samples) {
        hours += hour / static_cast<double>(samples.size());
        bytes += each / static_cast<double>(samples.size());
    }
    double over = 0, under = 0;
    for (const auto& [hour, each] : samples) {
        over += (hour - hours) * (each - bytes);
        under += (hour - hours) * (hour - hours);
    }
    MemoryGrowth growth{rank, metric == metric::kGpuMemoryBytes, samples.back().second,
                        under > 0 ? over / under : 0, true};
    double before = 0;
    for (int tenth = 0; tenth < kTenths; ++tenth) {
        std::vector<double> part;
        for (size_t i = samples.size() * static_cast<size_t>(tenth) / kTenths;
             i < samples.size() * static_cast<size_t>(tenth + 1) / kTenths; ++i)
            part.push_back(samples[i].second);
        const double median = medianOf(std::move(part));
        growth.isSteady = growth.isSteady && median > before;
        before = median;
    }
    return growth;
}

} // namespace

double speedUpWithout(double stepMs, double savedMs) {
    return stepMs > 0 && stepMs > savedMs ? stepMs / (stepMs - savedMs) : 1;
}

std::vector<Slowdown> findSlowdowns(const Pace& pace) {
    std::vector<Slowdown> found;
    if (pace.steps == 0 || pace.stepMs <= 0)
        return found;
    for (const Straggler& slow : pace.stragglers)
        found.push_back(slowRank(pace, slow));
    if (pace.hasPhases && pace.dataMs >= kLeastData * pace.stepMs)
        found.push_back(dataWaits(pace));
    if (pace.hasPhases && pace.ranks > 1 && pace.exposedMs >= kLeastSums * pace.stepMs)
        found.push_back(sums(pace));
    if (pace.checkpointMs && *pace.checkpointMs >= kLeastSaving * wholeMs(pace))
        found.push_back(checkpoints(pace));
    if (pace.validationMs && *pace.validationMs >= kLeastValidation * wholeMs(pace))
        found.push_back(validation(pace));
    std::ranges::stable_sort(found, std::ranges::greater(), &Slowdown::speedUp);
    const bool isBoundByWork = found.empty() && pace.hasPhases;
    for (const MemoryGrowth& memory : pace.memory)
        if (grows(memory))
            found.push_back(growth(pace, memory));
    if (pace.hottestC && pace.hottestC->second >= kHotC)
        found.push_back(heat(pace));
    if (isBoundByWork)
        found.insert(found.begin(), computing(pace));
    return found;
}

std::vector<std::string> unknownsOf(const Pace& pace) {
    std::vector<std::string> unknown;
    if (pace.steps == 0 || pace.stepMs <= 0)
        return {say(pace.isOfSpan ? "pace.no-steps-there" : "pace.no-steps")};
    if (!pace.hasPhases)
        unknown.push_back(say("pace.no-phases"));
    if (!pace.validationMs && pace.spec.validation.every > 0)
        unknown.push_back(say(pace.isOfSpan ? "pace.no-validation-there" : "pace.no-validation"));
    if (!pace.checkpointMs && pace.spec.checkpoint.every > 0)
        unknown.push_back(say(pace.isOfSpan ? "pace.no-checkpoint-there" : "pace.no-checkpoint"));
    if (pace.memory.empty())
        unknown.push_back(say("pace.no-memory"));
    if (!pace.hottestC)
        unknown.push_back(say("pace.no-gpus"));
    return unknown;
}

std::string verdictLine(const std::vector<Slowdown>& slowdowns) {
    if (slowdowns.empty())
        return {};
    const CheckRow& first = slowdowns.front().row;
    return say("check.problem", {{"title", first.title}, {"evidence", first.evidence}});
}

Pace readPace(StoreReader& reader, const RunSummary& run, const RunFigures& figures) {
    constexpr int64_t kAlsoBefore = 1000; ///< steps in which validations and checkpoints are sought
    constexpr int64_t kMostOfSpan = 10'000;
    Pace pace;
    pace.isOfSpan = figures.span.has_value();
    pace.ranks = run.ranks;
    pace.stepMs = figures.stepMs;
    pace.stragglers = figures.stragglers;
    if (run.nodes.size() > 1)
        for (const RunNode& node : run.nodes)
            pace.nodes.emplace_back(node.firstRank, node.nodeName);
    if (const auto spec = parseRunSpec(reader.specToml(run.id), run.id.toStdString()))
        pace.spec = *spec;
    std::vector<double> data, work, exposed;
    for (const RankMeans& rank : figures.ranks) {
        if (!rank.isCurrent || rank.busyMs() <= 0)
            continue;
        data.push_back(rank.dataMs());
        work.push_back(rank.busyMs() - rank.dataMs());
        exposed.push_back(rank.allreduceMs());
    }
    pace.hasPhases = !work.empty();
    pace.steps = figures.stepMs > 0 ? figures.steps : 0;
    pace.lastStep = figures.lastStep;
    if (pace.hasPhases) {
        pace.dataMs = lowerMedianOf(data);
        pace.workMs = lowerMedianOf(work);
        pace.exposedMs = *std::ranges::min_element(exposed);
    }
    std::vector<double> mfu;
    for (int rank = 0; pace.steps > 0 && rank < run.ranks; ++rank)
        for (const Bucket& mean : reader.buckets(run.id, {metricName(metric::kTrainMfu), rank},
                                                 pace.firstStep(), pace.lastStep, 1))
            if (mean.count > 0)
                mfu.push_back(static_cast<double>(mean.mean));
    if (!mfu.empty())
        pace.mfu = lowerMedianOf(mfu);
    const int64_t last = figures.span ? figures.lastStep : run.step;
    const int64_t first =
        std::max(figures.attemptBegin + 1,
                 figures.span ? std::max(figures.span->first, last - kMostOfSpan + 1)
                              : last - kAlsoBefore + 1);
    const Between between = readBetween(reader, run.id, first, last);
    const auto steps = static_cast<double>(std::max<int64_t>(1, last - first + 1));
    if (between.validations > 0)
        pace.validationMs = between.validationMs / steps;
    if (between.saves > 0)
        pace.checkpointMs = between.checkpointMs / steps;
    for (int rank = 0; rank < run.ranks; ++rank) {
        for (const MetricId metric : {metric::kRankMemoryBytes, metric::kGpuMemoryBytes})
            if (const auto growth = readGrowth(reader, run.id, figures, metric, rank))
                pace.memory.push_back(*growth);
        std::vector<double> degrees;
        const auto buckets = reader.buckets(run.id, {metricName(metric::kGpuTemperatureC), rank},
                                            figures.span ? first : std::max(first, last - 100),
                                            figures.span ? figures.span->last : INT64_MAX, 60);
        for (const Bucket& bucket : buckets)
            if (std::isfinite(bucket.mean))
                degrees.push_back(static_cast<double>(bucket.mean));
        if (degrees.empty())
            continue;
        const double median = medianOf(std::move(degrees));
        if (!pace.hottestC || median > pace.hottestC->second)
            pace.hottestC = {rank, median};
    }
    return pace;
}

Verdict readVerdict(StoreReader& reader, const RunSummary& run, const RunFigures& figures) {
    Verdict verdict;
    verdict.pace = readPace(reader, run, figures);
    verdict.slowdowns = findSlowdowns(verdict.pace);
    verdict.unknowns = unknownsOf(verdict.pace);
    return verdict;
}

Verdict readVerdict(StoreReader& reader, const RunSummary& run,
                    const std::optional<StepSpan>& span) {
    return readVerdict(reader, run, readFigures(reader, run, span));
}

} // namespace rm
