// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/language_model.h"
#include "trainer/train/workloads/workload.h"

namespace rm {

/// The common parts of causal language models: data, task, sizes and made-up batches.
class LanguageWorkload : public Workload {
public:
    Result<std::unique_ptr<Task>> makeTask(const Session& session) const override;
    Result<DataSizes> dataSizes(const RunSpec& spec) const override;
    std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes,
                                     const World& world) const override;
    Batch imagineBatch(const RunSpec& spec, int64_t samples) const override;
    int64_t usesPerSample(const RunSpec& spec) const override;
    Result<void> checkInput(const RunSpec& spec, const TryInput& input) const override;
    /// Continues the text as samples of a validation do.
    Result<TryAnswer> tryOut(const RunSpec& spec, Model& model, const std::string& checkpoint,
                             const Device& device, const TryInput& input) const override;
    Result<std::unique_ptr<Model>> modelFor(const RunSpec& spec, const Weights& weights,
                                            const std::string& config,
                                            const std::string& source) const override;

    /// An uninitialised model. `config`: config.json of its future weights; empty: none.
    virtual std::unique_ptr<LanguageModel> languageModel(const RunSpec& spec, int64_t vocabSize,
                                                         const std::string& config) const = 0;
    /// The tensor with a row for each token.
    virtual const char* embeddingName() const = 0;
};

} // namespace rm
