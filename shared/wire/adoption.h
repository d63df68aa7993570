// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

/// How often `attach` tries to start another supervisor for an attempt that has lost its own, and
/// after how many such tries without effect the app takes an attempt without ranks for lost.
inline constexpr int64_t kAdoptMs = 3000;
inline constexpr int kAdoptTries = 4;

} // namespace rm
