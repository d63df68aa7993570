// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/plugin.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>

namespace rm {
namespace {

std::string dlerrorText() {
    const char* text = dlerror();
    return text ? text : "unknown cause";
}

Result<void*> openPlugin(const std::string& path) {
    std::string file = path;
    if (file.empty()) {
        std::error_code ignored;
        const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
        const auto beside = program.parent_path().parent_path() / "lib" / kPluginFile;
        file = std::filesystem::exists(beside, ignored) ? beside.string() : kPluginFile;
    }
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return fail(ErrorCode::kNotFound, "load " + file + ": " + dlerrorText());
    return library;
}

Result<void> checkVersion(void* library) {
    const auto version =
        reinterpret_cast<PluginVersionFunction>(dlsym(library, "ringmasterPluginVersion"));
    if (!version)
        return fail(ErrorCode::kCorrupt, std::string("load ") + kPluginFile +
                                             ": not a Ringmaster plugin (" + dlerrorText() + ")");
    if (version() != kPluginVersion)
        return fail(ErrorCode::kTooNew, std::string("load ") + kPluginFile + ": it has interface " +
                                            std::to_string(version()) + ", this trainer needs " +
                                            std::to_string(kPluginVersion) +
                                            "; deploy the bundle of one release");
    return {};
}

/// Without a driver the plugin's first CUDA call would throw: better not to load it at all.
bool hasDriver() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return false;
    dlclose(driver);
    return true;
}

} // namespace

Result<std::unique_ptr<Device>> makePluginDevice(const std::string& path, int localRank) {
    const Result<void*> library = openPlugin(path);
    if (!library)
        return tl::unexpected(library.error());
    if (const auto version = checkVersion(*library); !version)
        return tl::unexpected(version.error());
    const auto make = reinterpret_cast<MakeDeviceFunction>(dlsym(*library, "ringmasterMakeDevice"));
    if (!make)
        return fail(ErrorCode::kCorrupt, std::string("load ") + kPluginFile + ": " + dlerrorText());
    std::array<char, 512> error{};
    std::unique_ptr<Device> device(make(localRank, error.data(), error.size()));
    if (!device)
        return fail(ErrorCode::kNotFound,
                    "use GPU " + std::to_string(localRank) + ": " + error.data());
    return device;
}

Result<std::unique_ptr<Device>> makeDevice(const std::string& kind, int localRank, int threads) {
    if (kind == "cpu")
        return makeCpuDevice(threads);
    if (!hasDriver()) {
        if (kind == "auto")
            return makeCpuDevice(threads);
        return fail(ErrorCode::kNotFound, "use GPU " + std::to_string(localRank) +
                                              ": this machine has no NVIDIA driver (libcuda.so.1); "
                                              "set launch.device to \"cpu\"");
    }
    auto device = makePluginDevice("", localRank);
    if (!device && kind == "auto" && device.error().code == ErrorCode::kNotFound)
        return makeCpuDevice(threads);
    return device;
}

} // namespace rm
