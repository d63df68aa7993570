// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text/text_data.h"
#include "trainer/train/workloads/language_workload.h"
#include "trainer/train/workloads/task.h"

namespace rm {

/// A model that learns to go on with text.
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
    TextFiles m_besideTokenizer; ///< of a tokenizer.json that came with others, on rank 0
    TextBatches m_batches;
    std::unique_ptr<LanguageModel> m_model;
};

} // namespace rm
