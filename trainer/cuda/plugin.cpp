// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/plugin.h"

#include "trainer/cuda/batch_copies.h"
#include "trainer/cuda/nccl_defaults.h"
#include "trainer/cuda/stream_clock.h"
#if defined(RINGMASTER_STEP_GRAPHS)
#include "trainer/cuda/step_graph.h"
#endif
#if defined(RINGMASTER_KERNELS)
#include "trainer/cuda/fused/cuda_kernels.h"
#endif

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace rm {
namespace {

c10::DeviceIndex current() {
    return c10::cuda::current_device();
}

/// Why cudaGetDeviceCount() found no device, in words.
std::string whyNoDevice(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
    case cudaErrorNoDevice:
        return "no NVIDIA GPU is visible (CUDA_VISIBLE_DEVICES may hide it)";
    case cudaErrorInsufficientDriver:
        return CUDART_VERSION >= 13000
                   ? "no NVIDIA driver is loaded, or it is older than CUDA 13 needs (580)"
                   : "no NVIDIA driver is loaded, or it is older than CUDA 12 needs (525)";
    default:
        return cudaGetErrorString(error);
    }
}

/// NVRTC, which compiles kernels for cuDNN and torch at run time, searches its builtins library
/// only in the linker's folders. Loads the one beside this library in advance.
void loadNvrtcBuiltins() {
    static constexpr const char* kName =
        CUDART_VERSION >= 13000 ? "libnvrtc-builtins.so.13.0" : "libnvrtc-builtins.so.12.6";
    dlopen(kName, RTLD_LAZY | RTLD_GLOBAL); // if it is missing, NVRTC reports that when needed
}

/// "580.65.06"; empty: unknown.
std::string driverVersion() {
    std::ifstream file("/sys/module/nvidia/version");
    std::string version;
    std::getline(file, version);
    return version;
}

/// As NVML writes it: "GPU-" and the 16 bytes in five groups.
std::string uuidText(const cudaUUID_t& uuid) {
    static constexpr size_t kGroupEnds[] = {3, 5, 7, 9};
    std::string text = "GPU-";
    for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        text += digits;
        if (std::find(std::begin(kGroupEnds), std::end(kGroupEnds), i) != std::end(kGroupEnds))
            text += '-';
    }
    return text;
}

class CudaPlugin final : public DevicePlugin {
public:
    Probe probe() noexcept override {
        int count = 0;
        const cudaError_t error = cudaGetDeviceCount(&count);
        (void)cudaGetLastError(); // else the next CUDA call of torch would report this one
        if (error != cudaSuccess || count == 0)
            return {0, whyNoDevice(error)};
        return {count, {}};
    }

    void select(int localRank) override {
        TORCH_CHECK(localRank >= 0 && localRank < c10::cuda::device_count(),
                    "select GPU of local rank ", localRank, ": this node has ",
                    int(c10::cuda::device_count()), "; give the node no more ranks than GPUs");
        loadNvrtcBuiltins();
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
        c10::cuda::set_device(static_cast<c10::DeviceIndex>(localRank));
    }

    void configure(const DeviceSettings& settings) override {
        at::globalContext().setBenchmarkCuDNN(settings.tryConvolutions);
        m_traceFolder = settings.traceFolder;
    }

    std::string deviceName() override { return at::cuda::getCurrentDeviceProperties()->name; }

    // GPUs before Ampere cannot compute bfloat16, or only by detours; the app never asks for it
    // there.
    bool isTrusted(at::ScalarType type) override {
        return type != at::kBFloat16 || at::cuda::getCurrentDeviceProperties()->major >= 8;
    }

    DeviceIdentity identity() override {
        return {uuidText(at::cuda::getCurrentDeviceProperties()->uuid), driverVersion(),
                "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
                    std::to_string(CUDART_VERSION % 1000 / 10)};
    }

    c10::intrusive_ptr<c10d::Backend> makeBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                                  int rank, int worldSize,
                                                  std::chrono::milliseconds timeout) override {
        applyNcclDefaults(m_traceFolder);
        auto options = c10d::ProcessGroupNCCL::Options::create();
        options->timeout = timeout;
        auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, worldSize, options);
        group->setBoundDeviceId(at::Device(c10::DeviceType::CUDA, current()));
        return group;
    }

    std::unique_ptr<StreamClock> makeClock() override {
        return std::make_unique<CudaStreamClock>();
    }

    std::unique_ptr<StepGraphs> makeStepGraphs() override {
#if defined(RINGMASTER_STEP_GRAPHS)
        return std::make_unique<CudaStepGraphs>();
#else
        return nullptr;
#endif
    }

    std::vector<at::Tensor> copyHere(std::vector<at::Tensor> host) override {
        if (!m_copies)
            m_copies.emplace(at::Device(c10::DeviceType::CUDA, current()));
        return m_copies->start(host);
    }

    const FusedOps* fusedOps() override {
#if defined(RINGMASTER_KERNELS)
        return cudaFusedOps();
#else
        return nullptr;
#endif
    }

    DeviceMemory memory() override {
        const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(current());
        // Index 0 of each array is the sum over all pools.
        const int64_t allocated = stats.allocated_bytes[0].current;
        const int64_t reserved = stats.reserved_bytes[0].current;
        size_t free = 0;
        size_t total = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        return {allocated, stats.allocated_bytes[0].peak, reserved, static_cast<int64_t>(total),
                static_cast<int64_t>(free) + reserved - allocated};
    }

    void resetPeakMemory() override {
        c10::cuda::CUDACachingAllocator::resetPeakStats(current());
    }

    std::vector<uint8_t> rngState() override {
        const at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(current());
        const at::Tensor state = generator.get_state();
        const auto* bytes = state.data_ptr<uint8_t>();
        return {bytes, bytes + state.numel()};
    }

    void setRngState(const std::vector<uint8_t>& state) override {
        at::Tensor tensor =
            at::empty({static_cast<int64_t>(state.size())}, at::TensorOptions(at::kByte));
        std::memcpy(tensor.data_ptr<uint8_t>(), state.data(), state.size());
        at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(current());
        const std::lock_guard<std::mutex> lock(generator.mutex());
        generator.set_state(tensor);
    }

    void synchronize() override {
        c10::cuda::device_synchronize();
    }

private:
    std::string m_traceFolder;
    std::optional<BatchCopies> m_copies;
};

} // namespace
} // namespace rm

extern "C" __attribute__((visibility("default"))) int ringmaster_plugin_version() {
    return rm::kDevicePluginVersion;
}

extern "C" __attribute__((visibility("default"))) rm::DevicePlugin* ringmaster_plugin() {
    // Never destroyed: CUDA may be shut down before static objects are destroyed.
    static auto* plugin = new rm::CudaPlugin;
    return plugin;
}
