// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/training.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

class Checkpointer;

/// Takes weights, averages and optimizer back to an earlier checkpoint. Steps and samples go on
/// from where they are, as repeating the samples would break the run again. All ranks call its
/// methods together.
class Rollback {
public:
    Rollback(Training& training, Checkpointer& checkpointer);

    /// `then` is called after each rollback, with the state of the checkpoint.
    void onRollback(std::function<void(const TrainState&)> then) { m_then = std::move(then); }

    enum class Outcome {
        kDone,
        kNoCheckpoint,
        kUseless, ///< it was done several times shortly before
    };
    /// Goes back to the newest checkpoint from before step `firstBad`, whose weights are good.
    /// `cause` is for the event. The learning rate is then multiplied by train.rollback_lr_factor.
    Result<Outcome> to(int64_t firstBad, const std::string& cause);

private:
    bool isUseless();
    std::string lowerLr();

    Training& m_training;
    Checkpointer& m_checkpointer;
    std::function<void(const TrainState&)> m_then;
    int64_t m_lastAt = -1;                          ///< step after which it was last asked for
    int m_count = 0;                                ///< rollbacks that followed each other soon
    std::vector<std::pair<int64_t, int64_t>> m_bad; ///< steps whose weights were taken back
};

} // namespace rm
