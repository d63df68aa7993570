// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_writer.h"

#include <algorithm>
#include <cmath>

namespace rm::test {

/// A trace of `nodes` times `ranksEach` ranks, of which the last one takes longest. Each rank's
/// clock is ahead of that of the rank before it.
inline Result<void> writeMadeUpTrace(StoreWriter& writer, const QString& run, int nodes,
                                     int ranksEach, int64_t firstStep, int steps, int64_t wallNs) {
    constexpr int64_t kMs = 1'000'000;
    constexpr int kBuckets = 4; // summed while the backward pass goes on
    const int ranks = nodes * ranksEach;
    Result<void> done;
    for (int rank = 0; rank < ranks && done; ++rank) {
        TraceRecorded part{rank, firstStep, steps, wallNs, rank * 1000 * kMs, false, true, {}};
        int64_t at = part.clockNs + kMs;
        const auto work = [=](int64_t step, int who) { // of the backward pass
            return (44 + who + (who == ranks - 1 ? 9 + step % 4 * 2 : step % 3)) * kMs;
        };
        for (int64_t step = firstStep; step < firstStep + steps; ++step) {
            const int64_t begin = at;
            const auto phase = [&](TraceKind kind, int64_t ns) {
                part.slices.push_back({kind, step, at, ns, 0, 0});
                at += ns;
            };
            const int64_t slowest = work(step, ranks - 1);
            phase(TraceKind::kData, 4 * kMs);
            phase(TraceKind::kForward, 21 * kMs);
            const int64_t backward = at;
            phase(TraceKind::kBackward, work(step, rank));
            phase(TraceKind::kAllReduceWait, slowest - work(step, rank) + 6 * kMs);
            for (int bucket = 0; bucket < kBuckets; ++bucket) {
                const int64_t from = backward + work(step, rank) * (bucket + 1) / kBuckets;
                const int64_t to = backward + slowest * (bucket + 1) / kBuckets + 6 * kMs;
                part.slices.push_back({TraceKind::kAllReduce, step, from, to - from, 25 << 20,
                                       (step - firstStep) * kBuckets + bucket});
            }
            phase(TraceKind::kOptimizer, 9 * kMs);
            if (step == firstStep + 2)
                phase(TraceKind::kValidation, 60 * kMs);
            phase(TraceKind::kBoundary, 2 * kMs);
            part.slices.push_back({TraceKind::kStep, step, begin, at - begin, 0, 0});
        }
        IngestBatch batch;
        batch.run = run;
        batch.nodeIndex = rank / ranksEach;
        batch.records.push_back(std::move(part));
        done = writer.ingest(batch);
    }
    return done;
}

} // namespace rm::test
