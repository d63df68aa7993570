// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/device/device.h"

#include <cstdint>
#include <memory>
#include <string>

namespace rm {

/// libringmaster-cuda.so: the only thing linked to torch_cuda and NCCL, loaded by dlopen when a
/// node has a driver. It exports two functions in C:
///
///   uint32_t ringmasterPluginVersion();                  // must equal kPluginVersion
///   rm::Device* ringmasterMakeDevice(int localRank, char* error, size_t errorSize);
///
/// ringmasterMakeDevice() selects device `localRank`, makes it current, and returns a new Device,
/// or nullptr with a text in `error` (no driver, no such device). It does not throw.
inline constexpr uint32_t kPluginVersion = 1;
inline constexpr const char* kPluginFile = "libringmaster-cuda.so";

extern "C" {
using PluginVersionFunction = uint32_t (*)();
using MakeDeviceFunction = Device* (*)(int localRank, char* error, size_t errorSize);
}

/// The CPU with `threads` threads for ATen; 0: leaves ATen's own choice.
std::unique_ptr<Device> makeCpuDevice(int threads);

/// Loads the plugin from `path` (empty: ../lib/ beside the program, then the linker's path) and
/// makes the device. kNotFound: no plugin or driver here; kTooNew: plugin of another release.
Result<std::unique_ptr<Device>> makePluginDevice(const std::string& path, int localRank);

/// `kind`: "cpu" | "cuda" | "auto" (cuda where it can be had, else cpu).
Result<std::unique_ptr<Device>> makeDevice(const std::string& kind, int localRank, int threads);

} // namespace rm
