// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/optimizer.h"

#include <cstdint>
#include <optional>

namespace rm {

/// Prevents updates with non-finite gradients and, with float16, scales the loss to fit them into
/// its range. It decides on the device, so the host never waits, and by the global gradient norm,
/// so that all ranks decide alike without communication.
///
/// The loss scale is as in torch.amp.GradScaler: 65536 at first, doubled after 2000 consecutive
/// finite steps, halved after one that is not.
class GradScaler {
public:
    enum class Mode {
        kSkips,     ///< skips the update of a non-finite step
        kStaysShut, ///< and all updates from then on, until open()
    };
    GradScaler(at::Device device, bool scalesLoss, Mode mode);

    bool scalesLoss() const { return m_scalesLoss; }
    Mode mode() const { return m_mode; }

    /// The seed for backward(): `weight` times the loss scale. NaN when the loss is not finite, so
    /// that the summed gradients of all ranks are not finite either.
    at::Tensor seed(const at::Tensor& loss, double weight) const;
    /// The same with a weight on the device, a float32 scalar.
    at::Tensor seed(const at::Tensor& loss, const at::Tensor& weight) const;

    /// Sets the learning rate of further updates on the device, for recorded updates. The `lr` of
    /// update() is then ignored.
    void setLr(double lr);

    /// Updates whose norm is above `limit` are left out, too, from now on; these are not counted as
    /// skipped and shut nothing. To be called first before an update is recorded.
    void setNormLimit(double limit);
    bool hasNormLimit() const { return m_normLimit.defined(); }

    /// One step: computes the norm, clips by value and by norm (each 0: off), updates. Returns the
    /// norm before clipping, a float32 scalar on the device.
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

    /// The state that a checkpoint keeps.
    struct State {
        double lossScale = kFirstScale;
        int64_t finiteSteps = 0; ///< consecutive, until the scale grows
        int64_t skipped = 0;
        bool operator==(const State&) const = default;
    };
    State state() const;
    void restore(const State& state);

    static constexpr double kFirstScale = 65536.0;

private:
    void judge(at::Tensor& norm);
    at::Tensor skipFor(const at::Tensor& norm) const;
    at::Tensor divisorFor(const at::Tensor& norm, double clip) const;

    bool m_scalesLoss;
    Mode m_mode;
    int64_t m_skippedAtOpen = 0;
    at::Tensor m_scale;       ///< float32 scalars, all of them
    at::Tensor m_inverse;     ///< 1 / m_scale
    at::Tensor m_finiteSteps; ///< int32
    at::Tensor m_foundInf;    ///< 1: skip this step's update
    at::Tensor m_skipped;
    at::Tensor m_lr;        ///< undefined until setLr()
    at::Tensor m_normLimit; ///< undefined until setNormLimit()
    at::Tensor m_seen;      ///< m_foundInf on the host, some time later
};

} // namespace rm
