// SPDX-License-Identifier: Apache-2.0
#include "shared/counted.h"
#include "shared/io/clock.h"
#include "shared/io/free_memory.h"
#include "trainer/train/device/device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <cstring>
#include <mutex>

namespace rm {
namespace {

/// On the CPU work is done when its call returns, so the host's clock suffices.
class HostClock final : public StreamClock {
public:
    void start(int64_t step) override {
        close();
        m_open.step = step;
        m_open.ms.reserve(kUsualLaps);
        m_last = monotonicNowNs();
    }

    void lap(int phase) override {
        const int64_t now = monotonicNowNs();
        m_open.ms.emplace_back(phase, static_cast<float>(now - m_last) * 1e-6f);
        m_last = now;
    }

    std::vector<StepLaps> takeFinished() override { return std::exchange(m_finished, {}); }

    void close() override {
        if (!m_open.ms.empty())
            m_finished.push_back(std::exchange(m_open, {}));
    }

    bool isRecording() const override { return false; }
    RecordedLaps takeRecorded() override { return nullptr; }
    void replayed(const RecordedLaps&) override {}

private:
    static constexpr size_t kUsualLaps = 8; ///< one rank alone has five phases

    StepLaps m_open;
    std::vector<StepLaps> m_finished;
    int64_t m_last = 0;
};

class CpuDevice final : public DevicePlugin {
public:
    Probe probe() noexcept override { return {1, ""}; }
    void select(int) override {}
    void configure(const DeviceSettings&) override {}

    std::string deviceName() override { return "CPU, " + counted(at::get_num_threads(), "thread"); }

    c10::intrusive_ptr<c10d::Backend> makeBackend(const c10::intrusive_ptr<c10d::Store>&, int, int,
                                                  std::chrono::milliseconds) override {
        return {}; // the main group's Gloo serves
    }

    std::unique_ptr<StreamClock> makeClock() override { return std::make_unique<HostClock>(); }
    std::unique_ptr<StepGraphs> makeStepGraphs() override { return nullptr; }
    std::vector<at::Tensor> copyHere(std::vector<at::Tensor> host) override { return host; }
    const FusedOps* fusedOps() override { return nullptr; }
    DeviceMemory memory() override { return {.free = freeHostBytes()}; }
    void resetPeakMemory() override {}

    std::vector<uint8_t> rngState() override {
        at::Generator generator = at::detail::getDefaultCPUGenerator();
        const std::scoped_lock lock(generator.mutex());
        const at::Tensor state = generator.get_state();
        const auto* bytes = state.const_data_ptr<uint8_t>();
        return {bytes, bytes + state.numel()};
    }

    void setRngState(const std::vector<uint8_t>& state) override {
        const at::Tensor tensor = at::empty({static_cast<int64_t>(state.size())}, at::kByte);
        std::memcpy(tensor.mutable_data_ptr<uint8_t>(), state.data(), state.size());
        at::Generator generator = at::detail::getDefaultCPUGenerator();
        const std::scoped_lock lock(generator.mutex());
        generator.set_state(tensor);
    }

    void synchronize() override {}
};

} // namespace

Device useCpu(int threads) {
    static CpuDevice cpu;
    at::set_num_threads(threads);
    return {&cpu, at::kCPU};
}

} // namespace rm
