// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/language_task.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/data/text/tokenizer_file.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/formats/folder_texts.h"
#include "trainer/train/workloads/start_weights.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <filesystem>

namespace rm {
namespace {

constexpr uint64_t kSampleStream = 0x73616d70; // keeps samples apart from other seeds

/// A file of the checkpoint that the run resumes from, else of model.start_from; empty when there
/// is none. Only rank 0's result is used.
std::string textOfStart(const Session& session, const char* file) {
    const std::string& checkpoint = session.options.startFrom;
    if (!checkpoint.empty())
        return checkpointText(checkpoint, file);
    return session.world.isFirst() ? startText(session.spec, file) : std::string();
}

/// The serialized tokenizer, if a checkpoint or model.start_from determines it. Only rank 0's
/// result is used.
std::string knownTokenizer(const Session& session) {
    const char* file = tokenizerModelFile(session.spec.data);
    const bool isNamed =
        session.options.startFrom.empty() && !session.spec.data.tokenizerFile.empty();
    return file && !isNamed ? textOfStart(session, file) : std::string();
}

/// The files beside the tokenizer if it comes from elsewhere. Only on rank 0.
TextFiles besideTokenizer(const Session& session) {
    const RunSpec& spec = session.spec;
    if (!tokenizerModelFile(spec.data) || !session.world.isFirst())
        return {};
    for (const std::string* source :
         {&session.options.startFrom, &spec.data.tokenizerFile, &spec.model.startFrom})
        if (!source->empty()) {
            std::error_code ignored;
            const std::filesystem::path path = *source;
            const bool isFolder = std::filesystem::is_directory(path, ignored);
            const bool isTokenizer = source == &spec.data.tokenizerFile && !isFolder;
            if (isTokenizer && path.filename() != tokenizerModelFile(spec.data))
                return {}; // with another name, files beside it may not be its own
            return filesBesideTokenizer((isFolder ? path : path.parent_path()).string());
        }
    return {};
}

/// Rows of the embedding. The weights that a run starts from may have rows of padding.
Result<int64_t> rowsOf(const Session& session, int64_t vocabSize) {
    if (session.spec.model.startFrom.empty() && session.options.startFrom.empty())
        return vocabSize;
    Result<std::string> mine;
    if (session.world.isFirst())
        mine = embeddingRows(vocabSize, vocabOfConfig(textOfStart(session, "config.json")))
                   .map([](int64_t rows) { return std::to_string(rows); });
    return agreeOnFirst(session.world, mine).map([](const std::string& rows) {
        return int64_t{std::stoll(rows)};
    });
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
    RM_ASSIGN_OR_RETURN(auto data, prepareTextData(session.spec, session.runDir + "/data",
                                                   session.world, knownTokenizer(session),
                                                   !session.options.startFrom.empty()));
    if (!data.notUtf8.empty())
        session.event(Severity::kWarning, "text-not-utf8", data.notUtf8, 0);
    RM_ASSIGN_OR_RETURN(const auto rows, rowsOf(session, data.vocabSize));
    data.vocabSize = rows;
    return std::unique_ptr<Task>(new LanguageTask(session, std::move(data), workload));
}

LanguageTask::LanguageTask(const Session& session, TextData data, const LanguageWorkload& workload)
    : Task(session)
    , m_data(std::move(data))
    , m_besideTokenizer(besideTokenizer(session))
    , m_batches(m_data.train, session.spec.model.context, static_cast<uint64_t>(session.spec.seed))
    , m_model(workload.languageModel(session.spec, m_data.vocabSize,
                                     textOfStart(session, "config.json"))) {
    m_dataIdentity = m_data.identity;
}

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
    const std::string& text = spec.validation.prompt;
    if (!m_data.tokenizer->encode(text.empty() ? "\n" : text, prompt) || prompt.empty())
        return {};
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
    const char* own = tokenizerModelFile(m_session.spec.data);
    for (const auto& [name, text] : m_besideTokenizer)
        if (name != own)
            setText(files, name, text);
    return files;
}

} // namespace rm
