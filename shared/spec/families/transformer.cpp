// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/families.h"

#include <algorithm>

namespace rm {
namespace {

double vocabularyBound(const RunSpec& spec) {
    constexpr double kBytes = 256;
    constexpr double kMostVocab = 1 << 18; // a vocabulary not read yet
    const auto& train = spec.data.train;
    const bool isUnread = !train.empty() && train.front().ends_with(".rmtok");
    if (isUnread || !spec.data.tokenizerFile.empty() || !spec.model.startFrom.empty())
        return kMostVocab;
    return std::max(kBytes, static_cast<double>(spec.data.vocabSize));
}

} // namespace

std::vector<std::string_view> transformerKeys() {
    return {"model.layers",       "model.heads",     "model.width",
            "model.feed_forward", "model.context",   "model.dropout",
            "data.tokenizer",     "data.vocab_size", "validation.sample_tokens"};
}

std::vector<std::string_view> generatorKeys() {
    auto keys = transformerKeys();
    keys.insert(keys.end(), {"train.batch_size", "train.rank_batch_sizes", "validation.prompt",
                             "validation.temperature", "validation.top_k", "validation.top_p",
                             "data.tokenizer_file"});
    return keys;
}

void checkHeads(const RunSpec& spec, std::vector<std::string>& mistakes) {
    const auto& model = spec.model;
    if (model.heads > 0 && model.width % model.heads != 0)
        mistakes.push_back("model.width is " + std::to_string(model.width) +
                           ", which model.heads = " + std::to_string(model.heads) +
                           " does not divide");
}

ModelBound transformerBound(const RunSpec& spec, int64_t layers, int vocabularies) {
    const auto blocks = static_cast<double>(layers);
    const auto width = static_cast<double>(spec.model.width);
    const auto context = static_cast<double>(spec.model.context);
    const double inner =
        spec.model.feedForward > 0 ? static_cast<double>(spec.model.feedForward) : 4 * width;
    const double vocab = vocabularyBound(spec) * vocabularies;
    const double attention = static_cast<double>(spec.model.heads) * context;
    ModelBound bound;
    bound.parameters =
        (vocab + context) * width + blocks * width * (4 * width + 2 * inner + inner / width + 16);
    bound.perSample = context * (blocks * (40 * width + 10 * inner + 6 * attention) + 16 * vocab);
    bound.samples = static_cast<double>(spec.train.batchSize);
    return bound;
}

} // namespace rm
