// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "app/ui/plot/chart_data.h"
#include "shared/metrics/metric_title.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rm {

namespace {

constexpr int kBins = 120;
constexpr int kBuckets = 8 * kBins;
constexpr int kHeatIndexBuckets = 256;
constexpr int64_t kSampleNs = 1'000'000'000; ///< an agent samples each second
constexpr int64_t kSparseNs = 5 * kSampleNs; ///< samples further apart leave a gap between them

struct Steps {
    int64_t first = 0, last = INT64_MAX;
};

/// A range of steps that covers the samples of a span and few others.
Steps stepsOf(StoreReader& reader, const QString& run, const SeriesKey& key, const TimeSpan& span) {
    Steps steps;
    for (const Bucket& b : reader.buckets(run, key, 0, INT64_MAX, kHeatIndexBuckets)) {
        if (b.wallNs < span.firstNs)
            steps.first = b.firstStep;
        if (b.wallNs >= span.lastNs) {
            steps.last = b.lastStep;
            break;
        }
    }
    return steps;
}

/// The time in which a bucket's samples were taken; the bucket before it ended at `afterNs`.
TimeSpan spanOf(const Bucket& bucket, int64_t afterNs) {
    const int64_t samples = std::max<int64_t>(1, bucket.count);
    const bool isDense = bucket.wallNs - afterNs <= kSparseNs * samples;
    return {isDense ? afterNs : bucket.wallNs - kSampleNs * samples, bucket.wallNs};
}

/// Means by bin of the time in which the run trained.
class Cells {
public:
    explicit Cells(const TimeSpans& trained)
        : m_trained(trained)
        , m_length(std::max<int64_t>(1, lengthOf(trained)))
        , m_sums(kBins, 0)
        , m_counts(kBins, 0) {}

    /// Adds the mean of what was sampled in a span.
    void add(const TimeSpan& span, double mean) {
        if (within(m_trained, span).empty())
            return;
        const int last = binOf(span.lastNs);
        const bool isFirst = span.firstNs <= m_trained.front().firstNs;
        for (int bin = isFirst ? 0 : std::min(binOf(span.firstNs) + 1, last); bin <= last; ++bin) {
            m_sums[static_cast<size_t>(bin)] += mean;
            m_counts[static_cast<size_t>(bin)] += 1;
        }
    }

    std::vector<double> means() const {
        std::vector<double> means(kBins);
        for (size_t bin = 0; bin < kBins; ++bin)
            means[bin] = m_counts[bin] > 0 ? m_sums[bin] / m_counts[bin] : std::nan("");
        return means;
    }

private:
    int binOf(int64_t wallNs) const {
        return static_cast<int>(static_cast<double>(passedAt(m_trained, wallNs)) /
                                static_cast<double>(m_length) * (kBins - 1));
    }

    const TimeSpans& m_trained;
    int64_t m_length;
    std::vector<double> m_sums, m_counts;
};

template <class Use>
void eachSpan(const std::vector<Bucket>& buckets, Use use) {
    for (size_t i = 0; i < buckets.size(); ++i) {
        const Bucket& bucket = buckets[i];
        const int64_t afterNs =
            i > 0 ? buckets[i - 1].wallNs : bucket.wallNs - kSampleNs * bucket.count;
        use(spanOf(bucket, afterNs), bucket);
    }
}

/// Reads only the samples around `span` in detail.
std::vector<double> cellsOf(StoreReader& reader, const QString& run, const SeriesKey& key,
                            const TimeSpan& span, const TimeSpans& trained) {
    Cells cells(trained);
    const Steps steps = stepsOf(reader, run, key, span);
    eachSpan(reader.buckets(run, key, steps.first, steps.last, kBuckets),
             [&](const TimeSpan& sampled, const Bucket& bucket) {
                 if (std::isfinite(bucket.mean))
                     cells.add(sampled, bucket.mean);
             });
    return cells.means();
}

/// When the last of these steps was done that are there; `sinceNs` at the least.
int64_t doneNs(StoreReader& reader, const QString& run, const Steps& steps, int64_t sinceNs) {
    const auto done =
        reader.buckets(run, {metricName(metric::kTrainLoss), 0}, steps.first, steps.last, 1);
    return done.empty() ? sinceNs : std::max(sinceNs, done.back().wallNs);
}

/// The times in which the ranks were held: they were sampled, but did not train. They did for the
/// steps that `step` had them do.
TimeSpans heldTimes(StoreReader& reader, const QString& run, int64_t newestNs) {
    const auto attempts = reader.attempts(run);
    const auto endOf = [&](int attempt) {
        for (const StoredAttempt& later : attempts)
            if (later.attempt > attempt && later.hasStarted)
                return later.startedNs;
        return newestNs;
    };
    TimeSpans held;
    int holding = 0; // the attempt that is held; 0: none
    const auto commands = reader.commands(run);
    for (size_t at = 0; at < commands.size(); ++at) {
        const auto& [applied, attempt] = commands[at];
        if (applied.ok && applied.kind == "step") {
            if (holding == attempt)
                held.back().lastNs = applied.wallNs;
            const bool isFollowed = at + 1 < commands.size() && commands[at + 1].attempt == attempt;
            const Steps steps{applied.step + 1,
                              isFollowed ? commands[at + 1].applied.step : INT64_MAX};
            const int64_t fromNs = doneNs(reader, run, steps, applied.wallNs);
            held.push_back({fromNs, std::max(fromNs, endOf(attempt))});
            holding = attempt;
        } else if (applied.ok && applied.kind == "hold" && holding != attempt) {
            held.push_back({applied.wallNs, std::max(applied.wallNs, endOf(attempt))});
            holding = attempt;
        } else if (applied.ok && applied.kind == "continue" && holding == attempt) {
            held.back().lastNs = applied.wallNs;
            holding = 0;
        }
    }
    return united(std::move(held), 0);
}

/// The times in which any rank was sampled and the run was not held.
TimeSpans trainedTimes(StoreReader& reader, const RunSummary& run, const std::string& metric,
                       int64_t newestNs) {
    TimeSpans sampled;
    for (int rank = 0; rank < run.ranks; ++rank)
        eachSpan(reader.buckets(run.id, {metric, rank}, 0, INT64_MAX, kBuckets),
                 [&](const TimeSpan& span, const Bucket&) { sampled.push_back(span); });
    return without(united(std::move(sampled), kSparseNs), heldTimes(reader, run.id, newestNs));
}

/// The times in which ranks were sampled at steps that do not count any more.
TimeSpans abandonedTimes(StoreReader& reader, const RunSummary& run, const std::string& metric) {
    TimeSpans sampled;
    for (const StoredLine& line : reader.lines(run.id))
        for (int rank = 0; line.retiredBy != 0 && rank < run.ranks; ++rank)
            eachSpan(reader.buckets(run.id, line, {metric, rank}, 0, INT64_MAX, kBuckets),
                     [&](const TimeSpan& span, const Bucket&) { sampled.push_back(span); });
    return united(std::move(sampled), kSparseNs);
}

QString rankLabel(const RunSummary& run, int rank) {
    for (const RunNode& node : run.nodes)
        if (rank >= node.firstRank && rank < node.firstRank + node.ranks)
            return QString("%1  %2:%3")
                .arg(rank)
                .arg(QString::fromStdString(node.nodeName))
                .arg(rank - node.firstRank);
    return QString::number(rank);
}

/// The newest sample of any rank; 0: there is none.
int64_t lastSample(StoreReader& reader, const RunSummary& run, const std::string& metric) {
    int64_t newest = 0;
    for (int rank = 0; rank < run.ranks; ++rank)
        if (const auto last = reader.lastPoint(run.id, {metric, rank}))
            newest = std::max(newest, last->wallNs);
    return newest;
}

/// When the visible steps were done.
std::optional<TimeSpan> spanOfSteps(StoreReader& reader, const QString& run, double low,
                                    double high) {
    const auto buckets = reader.buckets(run, {metricName(metric::kTrainLoss), 0},
                                        static_cast<int64_t>(std::floor(low)),
                                        static_cast<int64_t>(std::ceil(high)), kHeatIndexBuckets);
    if (buckets.empty())
        return std::nullopt;
    return TimeSpan{buckets.front().wallNs, buckets.back().wallNs};
}

int64_t nsOf(double seconds) {
    return static_cast<int64_t>(seconds * 1e9);
}

/// The visible span, within `all`.
TimeSpan visibleSpan(StoreReader& reader, const HeatQuery& query, const TimeSpan& all) {
    if (!query.range)
        return all;
    const auto [low, high] = *query.range;
    TimeSpan span{nsOf(low), nsOf(high)};
    if (query.axis == XAxis::kRelative)
        span = {query.startNs + span.firstNs, query.startNs + span.lastNs};
    if (query.axis == XAxis::kStep)
        span = spanOfSteps(reader, query.run.id, low, high).value_or(all);
    span.firstNs = std::clamp(span.firstNs, all.firstNs, all.lastNs);
    span.lastNs = std::clamp(span.lastNs, span.firstNs, all.lastNs);
    return span;
}

/// From 0 to 1 at the least where the scale is of how busy ranks are; of other metrics it spans
/// what there is.
void setScale(HeatData& heat) {
    double low = qInf(), high = -qInf();
    for (const auto& row : heat.cells)
        for (const double cell : row)
            if (std::isfinite(cell)) {
                low = std::min(low, cell);
                high = std::max(high, cell);
            }
    const bool isBusy = heat.label.isEmpty() || heat.format == MetricFormat::kPercent;
    heat.bottom = isBusy || low > high ? 0 : low;
    heat.top = std::max(isBusy ? 1 : heat.bottom, high);
    if (heat.top == heat.bottom)
        heat.top += 1; // or the scale would have no length
}

/// The metrics to try, in this order.
std::vector<MetricDef> candidates(StoreReader& reader, const HeatQuery& query) {
    if (query.metric.empty())
        return {builtinMetric(metric::kGpuUtilization), builtinMetric(metric::kRankCpu)};
    for (const MetricDef& metric : reader.metrics(query.run.id))
        if (metric.name == query.metric)
            return {metric};
    return {};
}

/// When the run trained: by how busy its ranks were, which is sampled each second, else by the
/// metric itself.
struct Training {
    TimeSpans trained, abandoned;
};

Training trainingOf(StoreReader& reader, const RunSummary& run, const std::string& metric) {
    for (const std::string& sampled :
         {metricName(metric::kGpuUtilization), metricName(metric::kRankCpu), metric})
        if (const int64_t newest = lastSample(reader, run, sampled); newest > 0)
            return {trainedTimes(reader, run, sampled, newest),
                    abandonedTimes(reader, run, sampled)};
    return {};
}

} // namespace

HeatData readHeat(StoreReader& reader, const HeatQuery& query) {
    HeatData heat;
    const RunSummary& run = query.run;
    for (const MetricDef& def : candidates(reader, query)) {
        const std::string& metric = def.name;
        const int64_t newest = lastSample(reader, run, metric);
        if (newest == 0)
            continue;
        const TimeSpan span = visibleSpan(reader, query, {std::min(query.startNs, newest), newest});
        const auto [all, abandoned] = trainingOf(reader, run, metric);
        heat.metric = QString::fromStdString(metric);
        if (!query.metric.empty())
            heat.label = QString::fromStdString(titleOf(def));
        heat.format = def.format;
        heat.trained = within(all, span);
        heat.abandoned = abandoned;
        heat.beforeNs = passedAt(all, span.firstNs);
        heat.endNs = span.lastNs;
        for (int rank = 0; rank < run.ranks; ++rank) {
            heat.labels.push_back(rankLabel(run, rank));
            heat.cells.push_back(cellsOf(reader, run.id, {metric, rank}, span, heat.trained));
        }
        setScale(heat);
        break;
    }
    return heat;
}

} // namespace rm
