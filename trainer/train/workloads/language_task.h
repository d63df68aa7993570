// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text/text_data.h"
#include "trainer/train/workloads/language_workload.h"
#include "trainer/train/workloads/task.h"

namespace rm {

/// Trains a causal language model.
class LanguageTask final : public Task {
public:
    static Result<std::unique_ptr<Task>> create(const Session& session,
                                                const LanguageWorkload& workload);

    Model& model() override { return *m_model; }
    BatchSource& training() override { return m_batches; }
    std::vector<Figure> validate() override;
    std::vector<SampleText> samples(int64_t step) override;
    std::string summary() const override;
    TextFiles files() const override;

private:
    LanguageTask(const Session& session, TextData data, const LanguageWorkload& workload);

    TextData m_data;
    TextFiles m_besideTokenizer; ///< files that came with a tokenizer.json, on rank 0
    TextBatches m_batches;
    std::unique_ptr<LanguageModel> m_model;
};

} // namespace rm
