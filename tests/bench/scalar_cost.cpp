// SPDX-License-Identifier: Apache-2.0
// scalar_cost PUSHES: what a scalar costs the thread that logs it, ten to a step, as fast as it
// can, while the telemetry thread encodes and writes them. One line of JSON.
#include "shared/io/clock.h"
#include "tests/bench/journal_rows.h"
#include "trainer/train/telemetry/telemetry.h"

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int64_t kScalarsPerStep = 10;

/// Nanoseconds of the pushing thread.
int64_t pushAll(rm::Telemetry& telemetry, int64_t pushes) {
    const int64_t begin = rm::monotonicNowNs();
    for (int64_t step = 0; step < pushes / kScalarsPerStep; ++step) {
        for (int64_t i = 0; i < kScalarsPerStep; ++i)
            telemetry.push(static_cast<rm::MetricId>(rm::metric::kTrainLoss + i),
                           static_cast<float>(step) * 0.5f);
        telemetry.endStep(step);
    }
    return rm::monotonicNowNs() - begin;
}

} // namespace

int main(int argc, char** argv) {
    const int64_t pushes = argc > 1 ? std::atoll(argv[1]) : 0;
    if (pushes < kScalarsPerStep) {
        std::fputs("usage: scalar_cost PUSHES\n", stderr);
        return 2;
    }
    rm::ScratchJournal scratch;
    int64_t nanoseconds = 0;
    {
        rm::Telemetry telemetry(scratch.open(), 0);
        nanoseconds = pushAll(telemetry, pushes);
    }
    std::printf("{\"nsPerScalar\": %.4f, \"rows\": %lld}\n",
                static_cast<double>(nanoseconds) / static_cast<double>(pushes),
                static_cast<long long>(scratch.rows()));
    return 0;
}
