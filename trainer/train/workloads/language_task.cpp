// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/language_task.h"

#include "shared/io/clock.h"
#include "trainer/train/autocast.h"
#include "trainer/train/checkpoint/checkpoint.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

namespace rm {
namespace {

constexpr uint64_t kSampleStream = 0x73616d70; // keeps samples apart from other seeds

/// A file of the checkpoint that the run goes on from; empty when there is none.
std::string textOfStart(const Session& session, const char* file) {
    return file && !session.options.startFrom.empty()
               ? checkpointText(session.options.startFrom, file)
               : std::string();
}

Sampling samplingOf(const RunSpec::Validation& validation) {
    return {validation.temperature, validation.topK, validation.topP};
}

/// This rank's share, in batches of the training size.
std::vector<std::vector<int64_t>> myBatches(const std::vector<int64_t>& starts,
                                            const Session& session) {
    std::vector<std::vector<int64_t>> batches;
    const auto batchSize = static_cast<size_t>(session.spec.train.batchSize);
    const auto stride = static_cast<size_t>(session.world.size());
    for (auto i = static_cast<size_t>(session.world.rank()); i < starts.size(); i += stride) {
        if (batches.empty() || batches.back().size() == batchSize)
            batches.emplace_back();
        batches.back().push_back(starts[i]);
    }
    return batches;
}

} // namespace

Result<std::unique_ptr<Task>> LanguageTask::create(const Session& session,
                                                   const LanguageWorkload& workload) {
    auto data = prepareTextData(session.spec, session.runDir + "/data", session.world,
                                textOfStart(session, tokenizerModelFile(session.spec.data)));
    if (!data)
        return tl::unexpected(data.error());
    return std::unique_ptr<Task>(new LanguageTask(session, std::move(*data), workload));
}

LanguageTask::LanguageTask(const Session& session, TextData data, const LanguageWorkload& workload)
    : Task(session)
    , m_data(std::move(data))
    , m_batches(m_data.train, session.spec.model.context, static_cast<uint64_t>(session.spec.seed))
    , m_model(workload.languageModel(session.spec, m_data.vocabSize,
                                     textOfStart(session, "config.json"))) {}

std::vector<Figure> LanguageTask::validate() {
    const RunSpec& spec = m_session.spec;
    const ValidationWindows windows = validationWindows(
        m_data.validation, spec.model.context, spec.validation.batches * spec.train.batchSize);
    if (windows.starts.empty())
        return {};
    const at::NoGradGuard noGrad;
    at::Tensor total = at::zeros({2}, at::kDouble); // loss times tokens, tokens
    for (const auto& starts : myBatches(windows.starts, m_session)) {
        const Batch batch =
            toDevice(readWindows(m_data.validation, starts, windows.context), m_session.device);
        const Autocast autocast(spec.train.precision, m_session.device);
        const auto tokens = static_cast<double>(batch.targets);
        total[0] += m_model->loss(batch, false).item<double>() * tokens;
        total[1] += tokens;
    }
    m_session.world.sum(total);
    return {{metric::kValidationLoss, total[0].item<double>() / total[1].item<double>()}};
}

// Depends on weights, seed and step alone.
std::vector<SampleText> LanguageTask::samples(int64_t step) {
    const RunSpec& spec = m_session.spec;
    if (!m_data.tokenizer)
        return {};
    std::vector<int32_t> prompt;
    m_data.tokenizer->encode(spec.validation.prompt.empty() ? "\n" : spec.validation.prompt,
                             prompt);
    const auto seed =
        mixSeed(static_cast<uint64_t>(spec.seed), static_cast<uint64_t>(step), kSampleStream);
    const auto ids =
        m_model->generate(std::move(prompt), spec.validation.sampleTokens,
                          samplingOf(spec.validation), at::detail::createCPUGenerator(seed));
    return {
        {step, wallNowNs(), spec.validation.prompt, toValidUtf8(m_data.tokenizer->decode(ids))}};
}

std::string LanguageTask::summary() const {
    return "vocabulary " + std::to_string(m_data.vocabSize) + ", " +
           std::to_string(m_data.train.count()) + " training and " +
           std::to_string(m_data.validation.count()) + " validation tokens";
}

TextFiles LanguageTask::files() const {
    const auto& validation = m_session.spec.validation;
    TextFiles files = {{"config.json", m_model->configJson()},
                       {"generation_config.json",
                        m_model->generationJson(std::max<int64_t>(1, validation.sampleTokens),
                                                samplingOf(validation))}};
    if (m_data.tokenizer)
        for (auto& file : m_data.tokenizer->files())
            files.push_back(std::move(file));
    return files;
}

} // namespace rm
