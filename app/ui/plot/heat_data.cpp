// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_data.h"

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr int64_t kSpanNs = 600'000'000'000;
constexpr int kBins = 120;
constexpr int kIndexBuckets = 256;

/// Where the last minutes of a series begin.
struct Beginning {
    int64_t step = 0;
    int64_t wallNs = 0; ///< of its first sample, if that is later than `sinceNs`
};

Beginning beginningSince(StoreReader& reader, const QString& run, const SeriesKey& key,
                         int64_t sinceNs, int64_t lastStep) {
    Beginning beginning{0, sinceNs};
    const auto buckets = reader.buckets(run, key, 0, lastStep, kIndexBuckets);
    for (const Bucket& b : buckets)
        if (b.wallNs < sinceNs)
            beginning.step = b.firstStep;
    if (!buckets.empty())
        beginning.wallNs = std::max(sinceNs, buckets.front().wallNs);
    return beginning;
}

std::vector<double> cellsOf(StoreReader& reader, const QString& run, const SeriesKey& key,
                            int64_t firstNs, int64_t lastNs) {
    std::vector<double> sums(kBins, 0), counts(kBins, 0);
    const auto last = reader.lastPoint(run, key);
    if (!last)
        return std::vector<double>(kBins, std::nan(""));
    const int64_t firstStep = beginningSince(reader, run, key, firstNs, last->step).step;
    for (const Point& point : reader.points(run, key, firstStep, last->step)) {
        if (point.wallNs < firstNs || point.wallNs > lastNs || !std::isfinite(point.value))
            continue;
        const auto bin = static_cast<size_t>((point.wallNs - firstNs) * (kBins - 1) /
                                             std::max<int64_t>(1, lastNs - firstNs));
        sums[bin] += point.value;
        counts[bin] += 1;
    }
    std::vector<double> cells(kBins);
    for (size_t bin = 0; bin < kBins; ++bin)
        cells[bin] = counts[bin] > 0 ? sums[bin] / counts[bin] : std::nan("");
    return cells;
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

/// Bins between two samples of a slow sampler are as the sample before them.
void closeSmallGaps(std::vector<double>& cells) {
    for (size_t bin = 1; bin + 1 < cells.size(); ++bin)
        if (std::isnan(cells[bin]) && !std::isnan(cells[bin + 1]))
            cells[bin] = cells[bin - 1];
}

int64_t firstSample(StoreReader& reader, const RunSummary& run, const char* metric,
                    int64_t sinceNs) {
    int64_t first = INT64_MAX;
    for (int rank = 0; rank < run.ranks; ++rank)
        first = std::min(first,
                         beginningSince(reader, run.id, {metric, rank}, sinceNs, INT64_MAX).wallNs);
    return first;
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

HeatData readHeat(StoreReader& reader, const RunSummary& run) {
    HeatData heat;
    for (const char* metric : {"gpu/utilization", "rank/cpu"}) {
        for (int rank = 0; rank < run.ranks; ++rank)
            if (const auto last = reader.lastPoint(run.id, {metric, rank}))
                heat.lastNs = std::max(heat.lastNs, last->wallNs);
        if (heat.lastNs == 0)
            continue;
        heat.metric = metric;
        heat.firstNs = firstSample(reader, run, metric, heat.lastNs - kSpanNs);
        for (int rank = 0; rank < run.ranks; ++rank) {
            heat.labels.push_back(labelOf(run, rank));
            heat.cells.push_back(
                cellsOf(reader, run.id, {metric, rank}, heat.firstNs, heat.lastNs));
            closeSmallGaps(heat.cells.back());
        }
        heat.top = topOf(heat);
        break;
    }
    return heat;
}

} // namespace rm
