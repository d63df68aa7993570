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
struct ProcessInfo { ///< nvmlProcessInfo_t, as of ..._v3
    unsigned int pid;
    unsigned long long usedGpuMemory; ///< kNotAvailable where the driver does not say
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
};
inline constexpr unsigned long long kNotAvailable = ~0ULL; ///< NVML_VALUE_NOT_AVAILABLE
struct PciInfo {                                           ///< nvmlPciInfo_t, as of ..._v3
    char busIdLegacy[16];
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    char busId[32];
};
inline constexpr Return kInsufficientSize = 7; ///< NVML_ERROR_INSUFFICIENT_SIZE
inline constexpr int kCorrected = 0;           ///< NVML_MEMORY_ERROR_TYPE_CORRECTED
inline constexpr int kUncorrected = 1;
inline constexpr int kVolatile = 0; ///< NVML_VOLATILE_ECC: since the driver was loaded
/// nvmlPageRetirementCauses_t
inline constexpr int kRetiredForSingleBits = 0;
inline constexpr int kRetiredForDoubleBit = 1;

/// Bits of nvmlDeviceGetCurrentClocksThrottleReasons ("nvmlClocksThrottleReasons").
struct ThrottleReason {
    unsigned long long bit;
    const char* word; ///< as in NODE_REPORT.md
};
inline constexpr ThrottleReason kThrottleReasons[] = {
    {0x02, "application-clocks"}, {0x04, "power-cap"},      {0x08, "hardware-slowdown"},
    {0x10, "sync-boost"},         {0x20, "thermal"},        {0x40, "hardware-thermal"},
    {0x80, "power-brake"},        {0x100, "display-clocks"}}; // 0x01 is that it is idle

inline constexpr int kTemperatureGpu = 0;     ///< NVML_TEMPERATURE_GPU
inline constexpr int kThresholdSlowdown = 1;  ///< NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
inline constexpr int kClockSm = 1;            ///< NVML_CLOCK_SM
inline constexpr int kClockMemory = 2;        ///< NVML_CLOCK_MEM
inline constexpr int kPcieTx = 0;             ///< NVML_PCIE_UTIL_TX_BYTES
inline constexpr int kPcieRx = 1;             ///< NVML_PCIE_UTIL_RX_BYTES
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
/// ...GetTemperatureThreshold, C; ...GetClockInfo, MHz; ...GetPcieThroughput, KB/s over 20 ms
using DeviceNumberOf = Return (*)(Device, int, unsigned int*);
using DevicePci = Return (*)(Device, PciInfo*); ///< nvmlDeviceGetPciInfo_v3
/// nvmlDeviceGetComputeRunningProcesses_v3, ...GetGraphicsRunningProcesses_v3
using DeviceProcesses = Return (*)(Device, unsigned int*, ProcessInfo*);
using DeviceEccErrors = Return (*)(Device, int, int, unsigned long long*); ///< ...GetTotalEccErrors
using DeviceThrottle = Return (*)(Device, unsigned long long*);
/// ...GetCurrPcieLinkGeneration, ...Width, ...GetMaxPcieLink...; ...GetEnforcedPowerLimit, mW
using DeviceNumber = Return (*)(Device, unsigned int*);
using DeviceRemappedRows = ///< corrected, uncorrected, pending, failed
    Return (*)(Device, unsigned int*, unsigned int*, unsigned int*, unsigned int*);
using DeviceRetiredPages = Return (*)(Device, int, unsigned int*, unsigned long long*);

} // namespace rm::nvml
