// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/spike_watch.h"
#include "trainer/train/loop/training.h"
#include "trainer/train/session/ending.h"

#include <optional>
#include <string>

namespace rm {

class Rollback;

/// Handles spikes of the loss and of the gradient norm as train.on_spike says. All ranks decide
/// alike: the gradient norm is the same on all, and the loss is the mean of theirs, which they sum
/// together with the commands while the next step computes. So a spike is found one step later; but
/// with "skip" the device itself leaves out an update whose gradients are above the limit. Only
/// logged steps count. All ranks call its methods together.
class SpikeGuard {
public:
    SpikeGuard(Training& training, Rollback& rollback);

    /// Notes a logged step's figures: this rank's loss, and the gradient norm of all ranks.
    void onStep(double loss, double gradNorm);
    /// At a step's start: the loss that the ranks sum until its end, if there is a new one.
    std::optional<double> reportLoss();
    /// At the step's end: judges the ranks' mean loss; nullopt: not all had a finite one. Returns
    /// how the run ends; nullopt: it goes on.
    Result<std::optional<Ending>> judge(std::optional<double> meanLoss);

    /// The gradient norm above which an update is left out.
    double normLimit() const;

    // For checkpoints: a run that resumes from one, or goes back to it, decides as it did there.
    void store(TrainState& state) const;
    void restore(const TrainState& from);

private:
    struct Figures {
        int64_t step = 0;
        double loss = 0, gradNorm = 0;
        double normLimit = 0; ///< the limit for its update
    };
    bool skips() const;
    bool isOn() const;
    Result<std::optional<Ending>> act(const Figures& at, const std::string& what);
    void warn(const Figures& at, const std::string& what);

    Training& m_training;
    Rollback& m_rollback;
    SpikeWatch m_losses;
    SpikeWatch m_norms;
    std::optional<Figures> m_new;      ///< of the last logged step, not summed yet
    std::optional<Figures> m_reported; ///< being summed
    int64_t m_warnedAt = -1;           ///< step of the last event; those soon after it are counted
    int64_t m_unreported = 0;
};

} // namespace rm
