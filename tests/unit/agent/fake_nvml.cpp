// SPDX-License-Identifier: Apache-2.0
// Two devices for tests of the reader; the second one knows nothing of power, temperature,
// clocks, PCIe's throughput and compute capability, and is lost while RINGMASTER_FAKE_GPU_LOST is
// set. RINGMASTER_FAKE_NVML="DRIVER;CAPABILITY;NAME", the second ten times NVIDIA's, makes two of
// these of both; ";CAPABILITY;NAME" after it makes the second another. The second is at 0000:3b:00
// and in bad health; RINGMASTER_FAKE_GPU_PID is a process that has memory of it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

#define RM_EXPORT __attribute__((visibility("default")))

struct Utilization {
    unsigned int gpu, memory;
};
struct Memory {
    unsigned long long total, free, used;
};
struct ProcessInfo {
    unsigned int pid;
    unsigned long long bytes;
    unsigned int gpuInstance, computeInstance;
};
struct PciInfo {
    char legacy[16];
    unsigned int domain, bus, device, deviceId, subSystemId;
    char id[32];
};

static int s_devices[2];
static bool isSecond(void* device) {
    return device == &s_devices[1];
}

static int say(char* text, int part, const char* usual) {
    const char* at = std::getenv("RINGMASTER_FAKE_NVML");
    if (!at)
        return std::strcpy(text, usual), 0;
    for (; part > 0; --part)
        at = std::strchr(at, ';') + 1;
    const char* end = std::strchr(at, ';');
    return std::sprintf(text, "%.*s", static_cast<int>(end ? end - at : long(std::strlen(at))), at),
           0;
}

/// Of what the variable says: the part of a device, where the second may have its own.
static int partOf(void* device, int part) {
    const char* at = std::getenv("RINGMASTER_FAKE_NVML");
    int parts = 1;
    for (; at && *at; ++at)
        parts += *at == ';';
    return isSecond(device) && parts == 5 ? part + 2 : part;
}

RM_EXPORT int nvmlInit_v2() {
    return 0;
}
RM_EXPORT int nvmlShutdown() {
    return 0;
}
RM_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned int) {
    return say(text, 0, "580.65.06");
}
RM_EXPORT int nvmlDeviceGetCount_v2(unsigned int* count) {
    *count = 2;
    return 0;
}
RM_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
    *device = &s_devices[index];
    return 0;
}
RM_EXPORT int nvmlDeviceGetName(void* device, char* text, unsigned int) {
    return say(text, partOf(device, 2), "Fake H200");
}
RM_EXPORT int nvmlDeviceGetUUID(void* device, char* text, unsigned int) {
    std::strcpy(text, isSecond(device) ? "GPU-bbbb" : "GPU-aaaa");
    return 0;
}
RM_EXPORT int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
    char digits[96];
    say(digits, partOf(device, 1), "90");
    const int tenfold = std::atoi(digits);
    *major = tenfold / 10;
    *minor = tenfold % 10;
    return isSecond(device) && !std::getenv("RINGMASTER_FAKE_NVML") ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
    if (isSecond(device) && std::getenv("RINGMASTER_FAKE_GPU_LOST"))
        return 15;
    *memory = {1000, 600, 400};
    return 0;
}
RM_EXPORT int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
    *utilization = {isSecond(device) ? 75u : 25u, 0};
    return 0;
}
RM_EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) {
    *milliwatts = 350'500;
    return isSecond(device) ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetTemperature(void* device, int, unsigned int* degrees) {
    *degrees = 61;
    return isSecond(device) ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetTemperatureThreshold(void* device, int kind, unsigned int* degrees) {
    *degrees = kind == 1 ? 87 : 0;
    return isSecond(device) ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned int* milliwatts) {
    *milliwatts = 700'000;
    return isSecond(device) ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetClockInfo(void* device, int kind, unsigned int* mhz) {
    *mhz = kind == 1 ? 1980 : kind == 2 ? 2619 : 0;
    return isSecond(device) ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetPcieThroughput(void* device, int direction, unsigned int* kilobytes) {
    *kilobytes = direction == 1 ? 2000 : 1000;
    return isSecond(device) ? 3 : 0;
}
RM_EXPORT int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
    *pci = {"", 0, isSecond(device) ? 0x3bu : 0x18u, 0, 0, 0, ""};
    return 0;
}
RM_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count,
                                                      ProcessInfo* processes) {
    const char* pid = std::getenv("RINGMASTER_FAKE_GPU_PID");
    *count = isSecond(device) && pid ? 2 : 0;
    if (*count > 0) {
        processes[0] = {static_cast<unsigned int>(std::atoi(pid)), 300, 0, 0};
        processes[1] = {4'000'000, ~0ULL, 0, 0}; // of another container
    }
    return 0;
}
RM_EXPORT int nvmlDeviceGetTotalEccErrors(void* device, int type, int, unsigned long long* count) {
    *count = type == 1 ? 1 : 7;
    return isSecond(device) ? 0 : 3;
}
RM_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    *reasons = isSecond(device) ? 0x24 : 0x1;
    return 0;
}
RM_EXPORT int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned int* lanes) {
    *lanes = isSecond(device) ? 8 : 16;
    return 0;
}
RM_EXPORT int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned int* lanes) {
    *lanes = 16;
    return 0;
}
RM_EXPORT int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned int* generation) {
    *generation = 1;
    return 0;
}
RM_EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned int* generation) {
    *generation = 5;
    return 0;
}
RM_EXPORT int nvmlDeviceGetRemappedRows(void* device, unsigned int* corrected,
                                        unsigned int* uncorrected, unsigned int* pending,
                                        unsigned int* failed) {
    *corrected = 1;
    *uncorrected = 2;
    *pending = 1;
    *failed = 0;
    return isSecond(device) ? 0 : 3;
}
RM_EXPORT int nvmlDeviceGetRetiredPages(void* device, int cause, unsigned int* count,
                                        unsigned long long*) {
    *count = cause == 1 ? 2 : 0;
    return isSecond(device) ? 3 : *count > 0 ? 7 : 0;
}
}
