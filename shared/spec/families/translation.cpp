// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/families.h"
#include "shared/spec/schema_rows.h"

namespace rm {
namespace {

std::vector<FamilyRow> translationRows() {
    return {
        {plain("model.share_embeddings", "Share embeddings",
               "One vocabulary and one embedding for both languages.",
               RM_FIELD(model.shareEmbeddings))
             .alsoCalled({"share_all_embeddings", "joint_vocabulary"})},
        {number("train.batch_tokens", "Tokens a batch", "tokens",
                "Translation: pairs of like lengths are batched up to this many padded tokens of "
                "the longer side; 0: train.batch_size pairs, at random.",
                {0, 16777216}, RM_FIELD(train.batchTokens))
             .basic()
             .alsoCalled({"max_tokens", "tokens_per_batch", "batch_size_tokens"}),
         "train.rank_batch_sizes"},
        {number("validation.beams", "Beams", "",
                "Translation: width of the beam search; 1: greedy.", {1, 64},
                RM_FIELD(validation.beams))
             .alsoCalled({"num_beams", "beam", "beam_size", "beam_width"})},
        {number("validation.length_penalty", "Length penalty", "",
                "Translation: a hypothesis scores its log-probability over length to this power.",
                {0, 10}, RM_FIELD(validation.lengthPenalty))},
    };
}

std::vector<std::string_view> translationKeys() {
    auto keys = transformerKeys();
    keys.insert(keys.end(), {"data.max_bad", "train.batch_size", "train.rank_batch_sizes"});
    return keys;
}

void checkTranslation(const RunSpec& spec, std::vector<std::string>& mistakes) {
    checkHeads(spec, mistakes);
    constexpr int64_t kLeastTokens = 16;
    const int64_t tokens = spec.train.batchTokens;
    if (tokens > 0 && tokens < kLeastTokens)
        mistakes.push_back("train.batch_tokens is " + std::to_string(tokens) +
                           ", but must be 0 or at least " + std::to_string(kLeastTokens));
    if (tokens > 0 && !spec.train.rankBatchSizes.empty())
        mistakes.push_back("train.rank_batch_sizes is set, but the translation batches by tokens: "
                           "set train.batch_tokens = 0");
    if (spec.data.tokenizer != "sentencepiece")
        mistakes.push_back("data.tokenizer is \"" + spec.data.tokenizer +
                           "\", but a translation needs \"sentencepiece\"");
    if (spec.validation.sampleTokens > spec.model.context)
        mistakes.push_back(
            "validation.sample_tokens is " + std::to_string(spec.validation.sampleTokens) +
            ", but must be at most model.context = " + std::to_string(spec.model.context));
    if (spec.validation.sampleTokens == 0 && spec.train.watch != "loss")
        mistakes.push_back("train.watch is \"" + spec.train.watch +
                           "\", which validation.sample_tokens = 0 never measures");
}

/// A decoder layer also has cross-attention and counts as two here.
ModelBound translationBound(const RunSpec& spec) {
    ModelBound bound = transformerBound(spec, 3 * spec.model.layers, 2);
    if (spec.train.batchTokens > 0)
        bound.samples =
            static_cast<double>(spec.train.batchTokens) / static_cast<double>(spec.model.context) +
            1;
    return bound;
}

} // namespace

ModelFamily translationFamily() {
    return {.name = "translation",
            .types = {"translation"},
            .data = DataKind::kPairs,
            .rows = translationRows(),
            .uses = translationKeys(),
            .figures = {metric::kValidationLoss, metric::kValidationBleu, metric::kValidationChrf,
                        metric::kValidationCer, metric::kValidationWer},
            .check = checkTranslation,
            .bound = translationBound};
}

} // namespace rm
