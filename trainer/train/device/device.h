// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/device/plugin.h"

#include <c10/core/Device.h>

#include <string>

namespace rm {

/// The device this rank computes on. The CPU implements the same interface as a plugin.
struct Device {
    DevicePlugin* plugin = nullptr; ///< lives as long as the process
    at::Device at = at::kCPU;

    bool isCpu() const { return at.is_cpu(); }
};

/// The CPU with `threads` threads for ATen.
Device useCpu(int threads);

/// Loads libringmaster-cuda.so (../lib/ beside the program, then the linker's path) and selects
/// device `localRank`. kNotFound: no driver, plugin or device here; kTooNew: another release's.
Result<Device> useCuda(int localRank);

/// `kind`: "cpu" | "cuda" | "auto" (cuda where it can be had, else cpu).
Result<Device> useDevice(const std::string& kind, int localRank, int threads);

} // namespace rm
