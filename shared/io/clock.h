// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace rm {

int64_t wallNowNs();      ///< nanoseconds since the Unix epoch
int64_t monotonicNowNs(); ///< CLOCK_MONOTONIC: for durations
/// The same clock as of the last kernel tick, if the system has such a clock: up to some 10 ms
/// behind, but many times cheaper.
int64_t coarseMonotonicNowNs();

/// The time until `deadline`, rounded up; 0 once it has passed.
std::chrono::milliseconds timeLeft(std::chrono::steady_clock::time_point deadline);

} // namespace rm
