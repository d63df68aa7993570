// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/language_workload.h"

#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/data/text/token_file.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/data/text/tokenizer_file.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/language_task.h"
#include "trainer/train/workloads/start_weights.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/ones.h>

#include <algorithm>

namespace rm {

namespace {

constexpr int64_t kFewestTokens = 20; ///< of an answer, where the spec says nothing

/// The vocabulary of a tokenizer that is not learnt from the texts.
Result<DataSizes> sizesOfTokenizer(const RunSpec& spec) {
    const char* name = tokenizerModelFile(spec.data);
    const auto model = spec.data.tokenizerFile.empty() ? Result<std::string>(startText(spec, name))
                                                       : readTokenizerFile(spec.data);
    return model.and_then([&](const std::string& text) { return makeTokenizer(spec.data, text); })
        .map([](const std::unique_ptr<Tokenizer>& tokenizer) {
            DataSizes sizes;
            sizes.vocab = tokenizer->vocabSize();
            return sizes;
        });
}

} // namespace

Result<std::unique_ptr<Task>> LanguageWorkload::makeTask(const Session& session) const {
    return LanguageTask::create(session, *this);
}

Result<DataSizes> LanguageWorkload::dataSizes(const RunSpec& spec) const {
    constexpr int64_t kBytes = 256; // the vocabulary of data.tokenizer = "bytes"
    const auto& train = spec.data.train;
    DataSizes sizes;
    sizes.vocab = vocabOfConfig(startText(spec, "config.json"));
    if (sizes.vocab > 0)
        return sizes;
    const bool isKnown = !(spec.data.tokenizerFile.empty() && spec.model.startFrom.empty());
    if (tokenizerModelFile(spec.data) && isKnown)
        return sizesOfTokenizer(spec);
    if (!train.empty() && train.front().ends_with(".rmtok")) {
        const auto shard = TokenFile::open(train.front());
        if (!shard)
            return fail(shard.error().code, "read the vocabulary's size: " + shard.error().message);
        sizes.vocab = shard->vocabSize();
        return sizes;
    }
    if (spec.data.tokenizer != "bytes")
        return learntVocabulary(spec);
    sizes.vocab = kBytes;
    return sizes;
}

std::unique_ptr<Model> LanguageWorkload::makeModel(const RunSpec& spec, const DataSizes& sizes,
                                                   const World&) const {
    return languageModel(spec, sizes.vocab, {});
}

/// Sequences of model.context tokens.
Batch LanguageWorkload::imagineBatch(const RunSpec& spec, int64_t samples) const {
    const at::Tensor ids = at::ones({samples, spec.model.context}, at::kLong);
    return {{ids, ids.clone()}, samples * spec.model.context};
}

Result<std::unique_ptr<Model>> LanguageWorkload::modelFor(const RunSpec& spec,
                                                          const Weights& weights,
                                                          const std::string& config,
                                                          const std::string& source) const {
    RM_ASSIGN_OR_RETURN(const auto vocab, rowsOf(weights, embeddingName(), source));
    return languageModel(spec, vocab, config);
}

Result<void> LanguageWorkload::checkInput(const RunSpec& spec, const TryInput& input) const {
    return checkTextInput(spec, input, "continues text");
}

Result<TryAnswer> LanguageWorkload::tryOut(const RunSpec& spec, Model& model,
                                           const std::string& checkpoint, const Device&,
                                           const TryInput& input) const {
    const std::string attempt = "try " + checkpoint;
    const char* file = tokenizerModelFile(spec.data);
    const std::string serialized = file ? checkpointText(checkpoint, file) : std::string();
    if (file && serialized.empty())
        return fail(ErrorCode::kInvalid,
                    attempt + ": it has no " + file + ", so its tokens cannot be read");
    RM_ASSIGN_OR_RETURN(const auto tokenizer, makeTokenizer(spec.data, serialized));
    std::vector<int32_t> prompt;
    RM_RETURN_IF_ERROR(tokenizer->encode(input.text.empty() ? "\n" : input.text, prompt));
    if (prompt.empty())
        return fail(ErrorCode::kInvalid, attempt + ": the text has no token");
    const auto& validation = spec.validation;
    const Sampling sampling{input.temperature.value_or(validation.temperature),
                            input.topK.value_or(validation.topK),
                            input.topP.value_or(validation.topP)};
    const int64_t count =
        input.maxTokens.value_or(std::max<int64_t>(validation.sampleTokens, kFewestTokens));
    auto& language = dynamic_cast<LanguageModel&>(model);
    const auto ids = language.generate(std::move(prompt), count, sampling,
                                       at::detail::createCPUGenerator(input.seed));
    TryAnswer answer;
    answer.kind = TryKind::kText;
    answer.text = toValidUtf8(tokenizer->decode(ids));
    answer.tokens = static_cast<int64_t>(ids.size());
    return answer;
}

int64_t LanguageWorkload::usesPerSample(const RunSpec& spec) const {
    return spec.model.context;
}

} // namespace rm
