// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"

#include <algorithm>
#include <ctime>

namespace rm {

namespace {

int64_t nowNs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace

int64_t wallNowNs() {
    return nowNs(CLOCK_REALTIME);
}

int64_t monotonicNowNs() {
    return nowNs(CLOCK_MONOTONIC);
}

int64_t coarseMonotonicNowNs() {
#ifdef CLOCK_MONOTONIC_COARSE
    return nowNs(CLOCK_MONOTONIC_COARSE);
#else
    return monotonicNowNs();
#endif
}

std::chrono::milliseconds timeLeft(std::chrono::steady_clock::time_point deadline) {
    using std::chrono::milliseconds;
    const auto rest = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    return std::max(rest, milliseconds(0));
}

} // namespace rm
