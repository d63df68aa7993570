// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/optimizer.h"

#include <cstdint>
#include <optional>

namespace rm {

/// Keeps updates from being made of numbers that are not finite, and with float16 the loss scaled
/// so that its gradients are. It decides on the device, the host waits for nothing; and from the
/// global gradient norm, so that all ranks decide alike without a word to each other.
///
/// Loss scale as torch.amp.GradScaler's: 65536, twice after 2000 finite steps on end, half after
/// one that is not.
class GradScaler {
public:
    enum class Mode {
        kSkips,     ///< leaves out the update of a step that is not finite
        kStaysShut, ///< and all updates from then on, until open()
    };
    GradScaler(at::Device device, bool scalesLoss, Mode mode);

    bool scalesLoss() const { return m_scalesLoss; }
    Mode mode() const { return m_mode; }

    /// The gradient of `loss` with which backward() begins: `weight` times the loss scale; NaN when
    /// the loss is not finite, which then no rank's gradients are after they were summed.
    at::Tensor seed(const at::Tensor& loss, double weight) const;
    /// The same with a weight on the device, a float32 scalar.
    at::Tensor seed(const at::Tensor& loss, const at::Tensor& weight) const;

    /// The learning rate of the updates from now on, on the device, where a recorded update() finds
    /// it; that one's own does not count any more.
    void setLr(double lr);

    /// One step: norm, clipping by value and by norm (each 0: off), update. Returns the norm before
    /// clipping, a float32 scalar on the device.
    at::Tensor update(Optimizer& optimizer, double lr, double clip, double clipValue);

    /// Whether an update was held back since open(), as far as the host knows without waiting: the
    /// device may be a few steps ahead. Only with kStaysShut.
    bool seenShut() const;

    // These wait for the device.
    bool isShut() const; ///< seenShut() as it is now
    void open();
    int64_t heldSinceOpen() const; ///< updates
    int64_t skipped() const;       ///< updates held back in all
    double lossScale() const;

    /// What a checkpoint keeps.
    struct State {
        double lossScale = kFirstScale;
        int64_t finiteSteps = 0; ///< on end, towards the next growth
        int64_t skipped = 0;
        bool operator==(const State&) const = default;
    };
    State state() const;
    void restore(const State& state);

    static constexpr double kFirstScale = 65536.0;

private:
    void judge(at::Tensor& norm);
    at::Tensor divisorFor(const at::Tensor& norm, double clip) const;

    bool m_scalesLoss;
    Mode m_mode;
    int64_t m_skippedAtOpen = 0;
    at::Tensor m_scale;       ///< float32 scalars, all of them
    at::Tensor m_inverse;     ///< of m_scale
    at::Tensor m_finiteSteps; ///< int32
    at::Tensor m_foundInf;    ///< 1: this step's update is held back
    at::Tensor m_skipped;
    at::Tensor m_lr;   ///< undefined until setLr()
    at::Tensor m_seen; ///< m_foundInf on the host, some time later
};

} // namespace rm
