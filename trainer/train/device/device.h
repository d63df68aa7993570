// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rm {

/// Moments of a step between which the phases lie; slots of Device::mark().
enum class Mark : uint8_t {
    kStepStart,
    kBatchReady,    ///< the batch lies on the device
    kForwardDone,   ///< of the micro-batch in work
    kGradsComputed, ///< this rank's last gradient is computed, its last bucket sent
    kBackwardDone,  ///< gradients of all ranks are averaged
    kStepDone,      ///< after the optimizer
};
inline constexpr size_t kMarkCount = 6;

/// Where one rank computes: the CPU, or an accelerator by plugin (plugin.h). One per process,
/// used by the training thread alone, except mark(), which autograd's thread calls as well while
/// the training thread waits for it. Functions report failure by c10::Error, as LibTorch does.
class Device {
public:
    virtual ~Device() = default;

    virtual at::Device device() const = 0;
    virtual std::string describe() const = 0; ///< "CPU, 2 threads", "NVIDIA H200 (cuda:0)"

    /// The collective backend for tensors of this device: nullptr on the CPU, where the main
    /// group's Gloo serves. Blocks until all ranks called it.
    virtual c10::intrusive_ptr<c10d::Backend> makeBackend(const c10::intrusive_ptr<c10d::Store>&,
                                                          int rank, int worldSize,
                                                          std::chrono::milliseconds timeout) = 0;
    virtual c10d::ProcessGroup::BackendType backendType() const = 0;

    /// Stamps the moment at which the work enqueued so far is done. Never waits.
    virtual void mark(Mark mark) = 0;
    /// Time between two stamped marks. Waits for the later one: for logged steps only.
    virtual double elapsedMs(Mark from, Mark to) = 0;

    /// Waits until all enqueued work is done.
    virtual void synchronize() = 0;

    struct Memory {
        int64_t usedBytes = 0; ///< by tensors of this process
        int64_t peakBytes = 0;
        int64_t totalBytes = 0; ///< 0: not known
    };
    virtual Memory memory() const = 0;
};

} // namespace rm
