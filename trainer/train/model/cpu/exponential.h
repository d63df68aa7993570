// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

constexpr float kMostExponent = 87.0F; // e^88.8 is more than a float holds

/// e^z for |z| <= kMostExponent, for loops that the compiler vectorizes. Static, so that files
/// compiled for different processors do not share it.
// z = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor series, 2^n put together from its bits.
static inline float exponential(float z) {
    constexpr float kLog2E = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
    constexpr float kToWhole = 12582912.0F; // 1.5 * 2^23: a sum with it is a whole number
    const float n = (z * kLog2E + kToWhole) - kToWhole;
    const float r = (z - n * kLn2High) - n * kLn2Low;
    float series = 1.0F / 5040;
    series = series * r + 1.0F / 720;
    series = series * r + 1.0F / 120;
    series = series * r + 1.0F / 24;
    series = series * r + 1.0F / 6;
    series = series * r + 0.5F;
    series = series * r + 1.0F;
    series = series * r + 1.0F;
    return series * __builtin_bit_cast(float, (static_cast<int32_t>(n) + 127) << 23);
}

} // namespace rm
