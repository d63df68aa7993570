// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace rm {

/// A fake device that computes on the CPU and whose graphs replay from their third run on. A replay
/// does not call the step, like a real recording, unless `computes` is set.
class FakeDevice final : public DevicePlugin {
public:
    class Graph final : public StepGraph {
    public:
        Graph(FakeDevice& device, std::function<void()> step)
            : m_device(device)
            , m_step(std::move(step)) {}

        bool run() override {
            if (++m_runs <= kWarmUps || !m_device.obstacle.empty()) {
                m_step();
                return false;
            }
            ++m_device.replays;
            if (m_device.computes)
                m_step();
            return true;
        }
        std::string obstacle() const override {
            return m_runs > kWarmUps ? m_device.obstacle : std::string();
        }

    private:
        FakeDevice& m_device;
        std::function<void()> m_step;
        int m_runs = 0;
    };
    class Graphs final : public StepGraphs {
    public:
        explicit Graphs(FakeDevice& device)
            : m_device(device) {}
        std::unique_ptr<StepGraph> make(std::function<void()> step) override {
            ++m_device.graphs;
            return std::make_unique<Graph>(m_device, std::move(step));
        }

    private:
        FakeDevice& m_device;
    };
    static constexpr int kWarmUps = 2;

    std::string obstacle;  ///< of every recording; empty: none
    bool computes = false; ///< replays call the step
    DeviceIdentity who;    ///< without a runtime it is taken for the CPU
    const FusedOps* ops = nullptr;
    bool hasBFloat16 = true;
    int damagedCopy = 0; ///< which of copyHere()'s arrives changed, from 1 on; 0: none
    /// Makes its own collectives, as makeBackend(); without it it has none.
    std::function<c10::intrusive_ptr<c10d::Backend>(const c10::intrusive_ptr<c10d::Store>&,
                                                    int rank, int ranks)>
        collectives;
    std::string name = "fake"; ///< as a driver calls it
    int graphs = 0;            ///< made
    int replays = 0;
    int copies = 0;

    std::unique_ptr<StepGraphs> makeStepGraphs() override {
        return std::make_unique<Graphs>(*this);
    }
    Probe probe() noexcept override { return {1, ""}; }
    void select(int) override {}
    void configure(const DeviceSettings&) override {}
    std::string deviceName() override { return name; }
    DeviceIdentity identity() override { return who; }
    bool isTrusted(at::ScalarType type) override { return type != at::kBFloat16 || hasBFloat16; }
    c10::intrusive_ptr<c10d::Backend> makeBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                                  int rank, int ranks,
                                                  std::chrono::milliseconds) override {
        return collectives ? collectives(store, rank, ranks) : nullptr;
    }
    std::unique_ptr<StreamClock> makeClock() override { return cpu().makeClock(); }
    std::vector<at::Tensor> copyHere(std::vector<at::Tensor> host) override {
        if (++copies == damagedCopy)
            host.front().add_(1);
        return host;
    }
    const FusedOps* fusedOps() override { return ops; }
    DeviceMemory memory() override { return {}; }
    void resetPeakMemory() override {}
    std::vector<uint8_t> rngState() override { return cpu().rngState(); }
    void setRngState(const std::vector<uint8_t>& state) override { cpu().setRngState(state); }
    void synchronize() override {}

private:
    static DevicePlugin& cpu() { return *useCpu(1).plugin; }
};

} // namespace rm
