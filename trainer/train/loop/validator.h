// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "trainer/train/loop/training.h"
#include "trainer/train/loop/watch.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace rm {

/// Measures the weights on held-out data and keeps the results. All ranks call its methods
/// together.
class Validator {
public:
    explicit Validator(Training& training);

    /// Sets the function that gets every figure on rank 0.
    void setReport(std::function<void(MetricId, double)> note) { m_report = std::move(note); }

    /// A planned pause is judged by what it validates, as where a sweep goes on with the best.
    bool isDue() const {
        const RunSpec::Validation& rule = m_training.spec.validation;
        return m_training.isDue(rule.every) || m_training.isDueByEpochs(rule.everyEpochs) ||
               (validates(m_training.spec) && m_training.isPausePlanned());
    }
    /// Measures with the averaged weights, if any; counts for train.patience.
    Result<void> validate();
    /// The same by command. Counts for train.patience only if it is the best; returns whether it
    /// is.
    bool validateByCommand();
    /// Rank 0: prints and journals the texts that the model generates from its prompts now.
    void sample();

    bool hasValidated() const {
        return m_validatedAt == m_training.step;
    }                    ///< the weights as they are
    bool isBest() const; ///< the current weights, of all validations
    bool isPatienceOver() const;
    std::string whyPatienceIsOver() const;

    // For checkpoints.
    /// The watched figure of the weights as they are; nullopt: not validated, or not finite.
    std::optional<Manifest::Watched> watchedNow() const;
    double loss() const { return m_loss; } ///< of the last validation
    /// Rank 0: call it when the weights are saved. Returns whether they are the best of all saved
    /// ones. `bestIsThere`: the checkpoint of bestSavedStep() still exists.
    bool noteSaving(bool bestIsThere);
    int64_t bestSavedStep() const { return m_watched.bestSavedStep; }
    void store(TrainState& state) const;
    void restore(const TrainState& from);

private:
    std::optional<double> measure();
    void noteFigure(double figure);

    Training& m_training;
    std::function<void(MetricId, double)> m_report;
    Watch m_watch;
    Watched m_watched;
    double m_loss = std::numeric_limits<double>::quiet_NaN();
    int64_t m_validatedAt = -1; ///< step after which the weights were last validated
    int64_t m_watchedAt = -1;   ///< likewise, and the watched figure was noted
};

} // namespace rm
