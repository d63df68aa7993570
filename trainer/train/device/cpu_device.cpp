// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "trainer/train/device/plugin.h"

#include <ATen/Parallel.h>

#include <array>

namespace rm {
namespace {

class CpuDevice final : public Device {
public:
    explicit CpuDevice(int threads) {
        if (threads > 0)
            at::set_num_threads(threads);
    }

    at::Device device() const override { return at::kCPU; }

    std::string describe() const override {
        const int threads = at::get_num_threads();
        return "CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    }

    c10::intrusive_ptr<c10d::Backend> makeBackend(const c10::intrusive_ptr<c10d::Store>&, int, int,
                                                  std::chrono::milliseconds) override {
        return {};
    }

    c10d::ProcessGroup::BackendType backendType() const override {
        return c10d::ProcessGroup::BackendType::GLOO;
    }

    void mark(Mark mark) override { m_marks[static_cast<size_t>(mark)] = monotonicNowNs(); }

    double elapsedMs(Mark from, Mark to) override {
        const int64_t ns = m_marks[static_cast<size_t>(to)] - m_marks[static_cast<size_t>(from)];
        return static_cast<double>(ns) / 1e6;
    }

    void synchronize() override {}

    Memory memory() const override { return {}; }

private:
    std::array<int64_t, kMarkCount> m_marks{};
};

} // namespace

std::unique_ptr<Device> makeCpuDevice(int threads) {
    return std::make_unique<CpuDevice>(threads);
}

} // namespace rm
