// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/task.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_data.h"
#include "trainer/train/workloads/translation/translation.h"

namespace rm {

/// Trains a translation model on pairs of sentences.
class TranslationTask final : public Task {
public:
    static Result<std::unique_ptr<Task>> create(const Session& session);

    Model& model() override { return m_model; }
    BatchSource& training() override { return *m_batches; }
    Batch padded(const Batch& batch) const override;
    /// Loss, and BLEU, chrF, CER and WER of the decoded pairs.
    std::vector<Figure> validate() override;
    std::vector<SampleText> samples(int64_t step) override;
    std::string summary() const override;
    TextFiles files() const override;

private:
    /// A held-out pair as people and as the model see it.
    struct HeldOut {
        std::string source, target;
        EncodedPair ids;
    };
    struct Measured; ///< sums over pairs

    TranslationTask(const Session& session, PairData data);

    void chooseValidation();
    std::vector<std::string> translated(const Batch& batch) const;
    Measured measure(const std::vector<size_t>& batch);

    PairData m_data;
    std::unique_ptr<BatchSource> m_batches;
    Translation m_model;
    std::vector<HeldOut> m_heldOut;                    ///< the pairs of validation
    std::vector<std::vector<size_t>> m_heldOutBatches; ///< indices, sorted by length
};

} // namespace rm
