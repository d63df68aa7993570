// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_data.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rm {

namespace {

constexpr int kBins = 120;
constexpr int kBuckets = 8 * kBins;
constexpr int kIndexBuckets = 256;
constexpr int64_t kSparseNs = 5'000'000'000; ///< samples further apart leave a gap between them

struct Span {
    int64_t firstNs = 0, lastNs = 0;
};

struct Steps {
    int64_t first = 0, last = INT64_MAX;
};

/// The steps between which the samples of a span lie, and few others.
Steps stepsOf(StoreReader& reader, const QString& run, const SeriesKey& key, const Span& span) {
    Steps steps;
    for (const Bucket& b : reader.buckets(run, key, 0, INT64_MAX, kIndexBuckets)) {
        if (b.wallNs < span.firstNs)
            steps.first = b.firstStep;
        if (b.wallNs >= span.lastNs) {
            steps.last = b.lastStep;
            break;
        }
    }
    return steps;
}

/// Means by bin of time.
class Cells {
public:
    explicit Cells(const Span& span)
        : m_span(span)
        , m_sums(kBins, 0)
        , m_counts(kBins, 0) {}

    /// What was sampled between two moments, the first not included.
    void add(int64_t afterNs, const Bucket& bucket) {
        const int64_t elapsed = bucket.wallNs - afterNs;
        const bool isDense = elapsed <= kSparseNs * std::max<int64_t>(1, bucket.count);
        const int64_t last = binOf(bucket.wallNs);
        const int64_t first = isDense ? std::min(binOf(afterNs) + 1, last) : last;
        for (int64_t bin = std::max<int64_t>(0, first); bin <= std::min<int64_t>(last, kBins - 1);
             ++bin) {
            m_sums[static_cast<size_t>(bin)] += bucket.mean;
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
    /// Before the span: below 0; behind it: kBins or more.
    int64_t binOf(int64_t wallNs) const {
        const auto share =
            static_cast<double>(wallNs - m_span.firstNs) /
            static_cast<double>(std::max<int64_t>(1, m_span.lastNs - m_span.firstNs));
        return static_cast<int64_t>(std::floor(share * (kBins - 1)));
    }

    Span m_span;
    std::vector<double> m_sums, m_counts;
};

std::vector<double> cellsOf(StoreReader& reader, const QString& run, const SeriesKey& key,
                            const Span& span) {
    Cells cells(span);
    const Steps steps = stepsOf(reader, run, key, span);
    int64_t afterNs = span.firstNs;
    for (const Bucket& bucket : reader.buckets(run, key, steps.first, steps.last, kBuckets)) {
        if (std::isfinite(bucket.mean))
            cells.add(afterNs, bucket);
        afterNs = bucket.wallNs;
    }
    return cells.means();
}

QString labelOf(const RunSummary& run, int rank) {
    for (const RunNode& node : run.nodes)
        if (rank >= node.firstRank && rank < node.firstRank + node.ranks)
            return QString("%1  %2:%3")
                .arg(rank)
                .arg(QString::fromStdString(node.nodeName))
                .arg(rank - node.firstRank);
    return QString::number(rank);
}

/// The newest sample of any rank; 0: there is none.
int64_t lastSample(StoreReader& reader, const RunSummary& run, const char* metric) {
    int64_t newest = 0;
    for (int rank = 0; rank < run.ranks; ++rank)
        if (const auto last = reader.lastPoint(run.id, {metric, rank}))
            newest = std::max(newest, last->wallNs);
    return newest;
}

/// When the visible steps were done.
std::optional<Span> spanOfSteps(StoreReader& reader, const QString& run, double low, double high) {
    const auto buckets =
        reader.buckets(run, {"train/loss", 0}, static_cast<int64_t>(std::floor(low)),
                       static_cast<int64_t>(std::ceil(high)), kIndexBuckets);
    if (buckets.empty())
        return std::nullopt;
    return Span{buckets.front().wallNs, buckets.back().wallNs};
}

int64_t nsOf(double seconds) {
    return static_cast<int64_t>(seconds * 1e9);
}

/// What is visible, within `all`.
Span visibleSpan(StoreReader& reader, const HeatQuery& query, const Span& all) {
    if (!query.range)
        return all;
    const auto [low, high] = *query.range;
    Span span{nsOf(low), nsOf(high)};
    if (query.axis == XAxis::kRelative)
        span = {query.startNs + span.firstNs, query.startNs + span.lastNs};
    if (query.axis == XAxis::kStep)
        span = spanOfSteps(reader, query.run.id, low, high).value_or(all);
    span.firstNs = std::clamp(span.firstNs, all.firstNs, all.lastNs);
    span.lastNs = std::clamp(span.lastNs, span.firstNs, all.lastNs);
    return span;
}

double topOf(const HeatData& heat) {
    double top = 1;
    for (const auto& row : heat.cells)
        for (const double cell : row)
            if (cell > top)
                top = cell;
    return top;
}

} // namespace

HeatData readHeat(StoreReader& reader, const HeatQuery& query) {
    HeatData heat;
    const RunSummary& run = query.run;
    for (const char* metric : {"gpu/utilization", "rank/cpu"}) {
        const int64_t newest = lastSample(reader, run, metric);
        if (newest == 0)
            continue;
        const Span span = visibleSpan(reader, query, {std::min(query.startNs, newest), newest});
        heat.metric = metric;
        heat.firstNs = span.firstNs;
        heat.lastNs = span.lastNs;
        for (int rank = 0; rank < run.ranks; ++rank) {
            heat.labels.push_back(labelOf(run, rank));
            heat.cells.push_back(cellsOf(reader, run.id, {metric, rank}, span));
        }
        heat.top = topOf(heat);
        break;
    }
    return heat;
}

} // namespace rm
