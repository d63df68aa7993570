// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <set>
#include <string>

namespace rm {

/// The fast paths: what a device can do faster than in the plain way. A path is switched off where
/// the self-test found its results wrong. The names stand in files (shared/wire/NODE_REPORT.md).
namespace fast_path {
inline constexpr const char* kLayerNorm = "layer-norm-kernel";
inline constexpr const char* kGelu = "gelu-kernel";
inline constexpr const char* kClassifierLoss = "loss-kernel";
inline constexpr const char* kRecordedSteps = "recorded-steps";
inline constexpr const char* kBFloat16 = "bfloat16";
inline constexpr const char* kFloat16 = "float16";
inline constexpr const char* kCopies = "copies-aside";
inline constexpr const char* kCollectives = "collectives"; ///< the device's own: NCCL
/// No fast path but the device itself: without it there is nothing to train on.
inline constexpr const char* kDevice = "device";
} // namespace fast_path

/// The plain way that replaces a fast path, in words: "ATen normalizes layers".
std::string plainWayInsteadOf(const std::string& path);

/// `whole` without the fast paths in `off`, for as long as the process lives.
Device limited(const Device& whole, std::set<std::string> off);

} // namespace rm
