// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/llama_weights.h"

#include <algorithm>

namespace rm {
namespace {

constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kOutput = "lm_head.weight";

Weight* find(Weights& weights, const char* name) {
    const auto at = std::ranges::find(weights, name, &Weight::name);
    return at == weights.end() ? nullptr : &*at;
}

/// Makes both matrices one.
Result<void> tie(Weights& weights, const std::string& source) {
    Weight* output = find(weights, kOutput);
    const Weight* embedding = find(weights, kEmbedding);
    if (!output)
        return {};
    if (!embedding) {
        output->name = kEmbedding;
        return {};
    }
    if (!output->tensor.equal(embedding->tensor))
        return fail(ErrorCode::kInvalid, "import " + source + ": " + kOutput + " differs from " +
                                             kEmbedding +
                                             ", to which its config.json says that it is tied");
    std::erase_if(weights, [](const Weight& weight) { return weight.name == kOutput; });
    return {};
}

} // namespace

Result<Weights> llamaWeights(Weights weights, const LlamaSettings& settings,
                             const std::string& source) {
    std::erase_if(weights, [](const Weight& weight) {
        return weight.name.ends_with(".rotary_emb.inv_freq");
    });
    if (settings.tiesEmbeddings)
        if (const auto tied = tie(weights, source); !tied)
            return tl::unexpected(tied.error());
    return weights;
}

} // namespace rm
