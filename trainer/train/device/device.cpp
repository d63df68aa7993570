// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/device.h"

#include <dlfcn.h>

#include <filesystem>

namespace rm {
namespace {

constexpr const char* kCudaPlugin = "libringmaster-cuda.so";

std::string dlerrorText() {
    const char* text = dlerror();
    return text ? text : "unknown cause";
}

std::string pluginFile() {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto beside = program.parent_path().parent_path() / "lib" / kCudaPlugin;
    return std::filesystem::exists(beside, ignored) ? beside.string() : kCudaPlugin;
}

Result<DevicePlugin*> loadPlugin(const std::string& file) {
    // RTLD_GLOBAL: torch_cuda registers its kernels with the libtorch that is already loaded.
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return fail(ErrorCode::kNotFound, "load " + file + ": " + dlerrorText());
    const auto version =
        reinterpret_cast<PluginVersionFunction>(dlsym(library, kPluginVersionSymbol));
    const auto make = reinterpret_cast<PluginFunction>(dlsym(library, kPluginSymbol));
    if (!version || !make)
        return fail(ErrorCode::kCorrupt, "load " + file + ": not a plugin of Ringmaster");
    if (version() != kDevicePluginVersion)
        return fail(ErrorCode::kTooNew, "load " + file + ": it has interface " +
                                            std::to_string(version()) + ", this trainer " +
                                            std::to_string(kDevicePluginVersion) +
                                            "; deploy the bundle of one release");
    return make();
}

/// Whether there is a driver. Without one, gigabytes of torch_cuda need not be loaded.
bool hasDriver() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return false;
    dlclose(driver);
    return true;
}

} // namespace

Result<Device> useCuda(int localRank) {
    const std::string attempt = "use GPU " + std::to_string(localRank);
    if (!hasDriver())
        return fail(ErrorCode::kNotFound, attempt +
                                              ": this machine has no NVIDIA driver (libcuda.so.1); "
                                              "set launch.device to \"cpu\"");
    const Result<DevicePlugin*> plugin = loadPlugin(pluginFile());
    if (!plugin)
        return failAs(attempt, plugin.error());
    const DevicePlugin::Probe probe = (*plugin)->probe();
    if (probe.count <= localRank)
        return fail(ErrorCode::kNotFound,
                    attempt + ": " +
                        (probe.count == 0 ? probe.reason
                                          : "this machine has " + std::to_string(probe.count)));
    (*plugin)->select(localRank);
    return Device{*plugin, at::Device(at::kCUDA, static_cast<at::DeviceIndex>(localRank))};
}

Result<Device> useDevice(const std::string& kind, int localRank, int threads) {
    if (kind == "cpu")
        return useCpu(threads);
    auto device = useCuda(localRank);
    if (!device && kind == "auto" && device.error().code == ErrorCode::kNotFound)
        return useCpu(threads);
    if (device)
        useCpu(threads); // work on the host stays on its share of cores
    return device;
}

} // namespace rm
