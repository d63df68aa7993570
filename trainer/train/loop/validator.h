// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/training.h"
#include "trainer/train/loop/watch.h"

#include <limits>
#include <optional>
#include <string>

namespace rm {

/// Measures the weights on what is held out, and remembers how good they were. All ranks call its
/// methods together.
class Validator {
public:
    explicit Validator(Training& training);

    bool isDue() const { return m_training.isDue(m_training.spec.validation.every); }
    /// Measures with the averaged weights where there are any; counts for train.patience.
    Result<void> validate();
    /// Does not count for train.patience, unless it is the best: then true.
    bool validateByCommand();
    /// Rank 0: what the model makes of its prompts now.
    void sample();

    bool hasValidated() const {
        return m_validatedAt == m_training.step;
    }                    ///< the weights as they are
    bool isBest() const; ///< the weights as they are, of all that were validated
    bool isPatienceOver() const;
    std::string whyPatienceIsOver() const;

    // What checkpoints hold of it.
    double loss() const { return m_loss; } ///< of the last validation
    /// Rank 0: the weights are being saved; whether they are the best that a checkpoint holds.
    /// `bestIsThere`: so is the one that bestSavedStep() names.
    bool noteSaving(bool bestIsThere);
    int64_t bestSavedStep() const { return m_watched.bestSavedStep; }
    void store(TrainState& state) const;
    void restore(const TrainState& from);

private:
    std::optional<double> measure();
    void noteFigure(double figure);

    Training& m_training;
    Watch m_watch;
    Watched m_watched;
    double m_loss = std::numeric_limits<double>::quiet_NaN();
    int64_t m_validatedAt = -1; ///< step after which the weights were last validated
    int64_t m_watchedAt = -1;   ///< likewise, and the figure noted
};

} // namespace rm
