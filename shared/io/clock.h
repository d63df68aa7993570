// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

int64_t wallNowNs();      ///< nanoseconds since the Unix epoch
int64_t monotonicNowNs(); ///< CLOCK_MONOTONIC: for durations

} // namespace rm
