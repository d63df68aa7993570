// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions and types of the NVIDIA Management Library that the agent calls, declared from its
/// documentation (https://docs.nvidia.com/deploy/nvml-api/, release 580: "Initialization and
/// Cleanup", "System Queries", "Device Queries"). The library's binary interface is stable:
/// incompatible changes get a new suffix (_v2).
namespace rm::nvml {

using Return = int; ///< nvmlReturn_t; 0 is NVML_SUCCESS
using Device = struct DeviceHandle*;

/// NVML_ERROR_GPU_IS_LOST: "The GPU has fallen off the bus or has otherwise become inaccessible".
inline constexpr Return kGpuIsLost = 15;

struct Utilization { ///< nvmlUtilization_t, percent
    unsigned int gpu;
    unsigned int memory;
};
struct Memory { ///< nvmlMemory_t, bytes
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};
inline constexpr int kTemperatureGpu = 0;     ///< NVML_TEMPERATURE_GPU
inline constexpr unsigned int kTextSize = 96; ///< NVML_DEVICE_NAME_V2_BUFFER_SIZE, the largest used

using Init = Return (*)();                                  ///< nvmlInit_v2
using Shutdown = Return (*)();                              ///< nvmlShutdown
using DriverVersion = Return (*)(char*, unsigned int);      ///< nvmlSystemGetDriverVersion
using DeviceCount = Return (*)(unsigned int*);              ///< nvmlDeviceGetCount_v2
using DeviceByIndex = Return (*)(unsigned int, Device*);    ///< nvmlDeviceGetHandleByIndex_v2
using DeviceText = Return (*)(Device, char*, unsigned int); ///< ...GetName, ...GetUUID
using DeviceMemory = Return (*)(Device, Memory*);           ///< nvmlDeviceGetMemoryInfo
using DeviceUtilization = Return (*)(Device, Utilization*); ///< ...GetUtilizationRates
using DeviceComputeCapability = ///< nvmlDeviceGetCudaComputeCapability: major, minor
    Return (*)(Device, int*, int*);
using DevicePower = Return (*)(Device, unsigned int*);            ///< ...GetPowerUsage, mW
using DeviceTemperature = Return (*)(Device, int, unsigned int*); ///< ...GetTemperature, C

} // namespace rm::nvml
