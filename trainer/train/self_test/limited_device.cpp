// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/limited_device.h"

#include "trainer/train/model/fused_ops.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <array>
#include <map>
#include <optional>
#include <utility>

namespace rm {
namespace {

// Undefined tensors say that no kernel covers this; then ATen's ops are used.

NormedSum noLayerNorm(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                      double, NormedFor) {
    return {};
}

at::Tensor noGelu(const at::Tensor&, const at::Tensor&) {
    return {};
}

at::Tensor noLoss(const at::Tensor&, const OutputLayer&, const at::Tensor&, const LossRule&) {
    return {};
}

class LimitedDevice final : public DevicePlugin {
public:
    LimitedDevice(const Device& whole, std::set<std::string> off)
        : m_whole(*whole.plugin)
        , m_place(whole.at)
        , m_off(std::move(off)) {
        if (const FusedOps* ops = m_whole.fusedOps())
            m_ops = FusedOps{isOff(fast_path::kLayerNorm) ? &noLayerNorm : ops->addLayerNorm,
                             isOff(fast_path::kGelu) ? &noGelu : ops->biasGelu,
                             isOff(fast_path::kClassifierLoss) ? &noLoss : ops->classifierLoss};
    }

    Probe probe() noexcept override { return m_whole.probe(); }
    void select(int localRank) override { m_whole.select(localRank); }
    void configure(const DeviceSettings& settings) override { m_whole.configure(settings); }
    std::string deviceName() override { return m_whole.deviceName(); }
    DeviceIdentity identity() override { return m_whole.identity(); }

    bool isTrusted(at::ScalarType type) override {
        if (type == at::kBFloat16 && isOff(fast_path::kBFloat16))
            return false;
        if (type == at::kHalf && isOff(fast_path::kFloat16))
            return false;
        return m_whole.isTrusted(type);
    }

    c10::intrusive_ptr<c10d::Backend> makeBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                                  int rank, int worldSize,
                                                  std::chrono::milliseconds timeout) override {
        if (isOff(fast_path::kCollectives))
            return {}; // Gloo serves
        return m_whole.makeBackend(store, rank, worldSize, timeout);
    }
    std::unique_ptr<StreamClock> makeClock() override { return m_whole.makeClock(); }

    std::unique_ptr<StepGraphs> makeStepGraphs() override {
        return isOff(fast_path::kRecordedSteps) ? nullptr : m_whole.makeStepGraphs();
    }

    std::vector<at::Tensor> copyHere(std::vector<at::Tensor> host) override {
        if (!isOff(fast_path::kCopies))
            return m_whole.copyHere(std::move(host));
        for (at::Tensor& tensor : host) {
            tensor = tensor.to(m_place);
            if (tensor.dim() == 4) // pictures
                tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
        }
        return host;
    }

    const FusedOps* fusedOps() override { return m_ops ? &*m_ops : nullptr; }
    DeviceMemory memory() override { return m_whole.memory(); }
    void resetPeakMemory() override { m_whole.resetPeakMemory(); }
    std::vector<uint8_t> rngState() override { return m_whole.rngState(); }
    void setRngState(const std::vector<uint8_t>& state) override { m_whole.setRngState(state); }
    void synchronize() override { m_whole.synchronize(); }

private:
    bool isOff(const char* path) const { return m_off.contains(path); }

    DevicePlugin& m_whole;
    const at::Device m_place;
    const std::set<std::string> m_off;
    std::optional<FusedOps> m_ops;
};

} // namespace

std::string plainWayInsteadOf(const std::string& path) {
    static const std::map<std::string, std::string> kWays = {
        {fast_path::kLayerNorm, "ATen's own operations normalize layers"},
        {fast_path::kGelu, "ATen's own operations compute GELU"},
        {fast_path::kClassifierLoss, "ATen's own operations compute the loss"},
        {fast_path::kRecordedSteps, "steps are queued kernel by kernel"},
        {fast_path::kBFloat16, "this rank computes in float32 where bfloat16 was asked for"},
        {fast_path::kFloat16, "this rank computes in float32 where float16 was asked for"},
        {fast_path::kCopies, "batches are copied between the steps"},
        {fast_path::kCollectives, "gradients are summed by Gloo, through the host's memory"},
    };
    const auto way = kWays.find(path);
    return way == kWays.end() ? "nothing takes its place" : way->second;
}

Device limited(const Device& whole, std::set<std::string> off) {
    if (off.empty())
        return whole;
    // Never destroyed: as plugins are, it is used until the process ends.
    return {new LimitedDevice(whole, std::move(off)), whole.at};
}

} // namespace rm
