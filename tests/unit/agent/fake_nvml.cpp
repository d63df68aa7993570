// SPDX-License-Identifier: Apache-2.0
// Two devices for tests of the reader; the second one knows nothing of power, temperature and
// compute capability, and
// is lost while RINGMASTER_FAKE_GPU_LOST is set. RINGMASTER_FAKE_NVML="DRIVER;CAPABILITY;NAME", the
// second ten times NVIDIA's, makes two of these of both; ";CAPABILITY;NAME" after it makes the
// second one another.
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
}
