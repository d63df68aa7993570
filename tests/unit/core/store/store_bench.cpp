// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the store: store_bench [POINTS]. One JSON line each, see packaging/bench.
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"

#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace rm {
namespace {

constexpr int kRanks = 64;
constexpr int kMetrics = 10;
constexpr int64_t kMillisPerStep = 10;

double secondsSince(int64_t startNs) {
    return static_cast<double>(monotonicNowNs() - startNs) * 1e-9;
}

std::unique_ptr<StoreWriter> openWith(const QString& path, int ranks) {
    auto writer = StoreWriter::open(path);
    if (!writer)
        std::abort();
    NewRun run;
    run.id = "bench";
    run.nodes = {{0, "node-a", ranks, 0}};
    if (!(*writer)->createRun(run))
        std::abort();
    return std::move(*writer);
}

/// Batches as a commit each 100 ms makes them, all metrics noisy, times with a jitter of 1 ms.
class Source {
public:
    Source(int ranks, int metrics)
        : m_ranks(ranks)
        , m_metrics(metrics) {}

    IngestBatch next(int64_t steps) {
        IngestBatch batch;
        batch.run = "bench";
        for (int rank = 0; rank < m_ranks; ++rank) {
            if (m_step == 0)
                batch.records.push_back(AttemptStarted{1, rank, m_ranks, 0, 1, ""});
            for (int64_t step = m_step + 1; step <= m_step + steps; ++step)
                batch.records.push_back(samples(rank, step));
        }
        m_step += steps;
        batch.cursors = {{"journal", static_cast<uint64_t>(m_step)}};
        return batch;
    }

private:
    Samples samples(int rank, int64_t step) {
        Samples samples{rank, step, 0, {}, {}};
        samples.wallNs = 1'700'000'000'000'000'000 + step * kMillisPerStep * 1'000'000 +
                         static_cast<int64_t>(m_random() % 1'000'000);
        for (int i = 0; i < m_metrics; ++i) {
            samples.metric.push_back(i < 5 ? MetricId(metric::kTrainLoss + i)
                                           : MetricId(metric::kPhaseDataMs + i - 5));
            samples.value.push_back(m_noise(m_random));
        }
        return samples;
    }

    int m_ranks, m_metrics;
    int64_t m_step = 0;
    std::mt19937_64 m_random{1};
    std::normal_distribution<float> m_noise{2.5f, 0.1f};
};

void measureIngest(int64_t points) {
    const QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    auto writer = openWith(path, kRanks);
    Source source(kRanks, kMetrics);
    double busy = 0, worst = 0;
    int64_t stored = 0;
    constexpr int64_t kStepsPerCommit = 1000 / kMillisPerStep / 10;
    while (stored < points) {
        const IngestBatch batch = source.next(kStepsPerCommit);
        const int64_t start = monotonicNowNs();
        if (!writer->ingest(batch))
            std::abort();
        const double took = secondsSince(start);
        busy += took;
        worst = std::max(worst, took);
        stored += kStepsPerCommit * kRanks * kMetrics;
    }
    writer.reset();
    std::printf("{\"bench\":\"M2-store\",\"points\":%lld,\"points_per_s\":%.0f,"
                "\"worst_commit_ms\":%.1f,\"bytes_per_point\":%.2f}\n",
                static_cast<long long>(stored), static_cast<double>(stored) / busy, worst * 1e3,
                static_cast<double>(QFileInfo(path).size()) / static_cast<double>(stored));
}

void measureOneSeries(int64_t points) {
    const QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    auto writer = openWith(path, 1);
    Source source(1, 1);
    for (int64_t stored = 0; stored < points; stored += 10'000)
        if (!writer->ingest(source.next(10'000)))
            std::abort();
    writer->checkpointWal();
    const auto reader = std::move(*StoreReader::open(path));
    const SeriesKey key{"train/loss", 0};
    std::mt19937_64 random(2);
    std::vector<double> times;
    for (int i = 0; i < 200; ++i) {
        const auto size = static_cast<int64_t>(1 + random() % static_cast<uint64_t>(points));
        const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(points));
        const int64_t start = monotonicNowNs();
        if (reader->buckets("bench", key, first, first + size, 1600).empty())
            continue;
        times.push_back(secondsSince(start) * 1e3);
    }
    std::sort(times.begin(), times.end());
    writer.reset();
    std::printf("{\"bench\":\"M3-store\",\"points\":%lld,\"bytes_per_point\":%.2f,"
                "\"buckets_ms_median\":%.2f,\"buckets_ms_p99\":%.2f}\n",
                static_cast<long long>(points),
                static_cast<double>(QFileInfo(path).size()) / static_cast<double>(points),
                times[times.size() / 2], times[times.size() * 99 / 100]);
}

} // namespace
} // namespace rm

int main(int argc, char** argv) {
    const int64_t points = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
    rm::measureIngest(points);
    rm::measureOneSeries(points);
    return 0;
}
