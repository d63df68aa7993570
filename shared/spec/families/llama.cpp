// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/families.h"
#include "shared/spec/schema_rows.h"

namespace rm {
namespace {

std::vector<FamilyRow> llamaRows() {
    const SchemaRow::Only stretched{"model.rope_scaling", {"linear", "llama3"}};
    const SchemaRow::Only llama3{"model.rope_scaling", {"llama3"}};
    return {
        {number("model.kv_heads", "Key and value heads", "",
                "Heads of keys and values, which divide the heads; 0: as many as heads.", {0, 1024},
                RM_FIELD(model.kvHeads))
             .alsoCalled({"n_kv_heads", "num_key_value_heads", "num_kv_heads", "n_head_kv"}),
         "model.heads"},
        {number("model.head_dim", "Width of a head", "",
                "Width of an attention head, even; 0: the width divided by the heads.", {0, 8192},
                RM_FIELD(model.headDim))
             .alsoCalled({"attention_head_dim", "d_head"}),
         "model.width"},
        {plain("model.tie_embeddings", "Tie embeddings",
               "One matrix for the tokens that come and for those that go.",
               RM_FIELD(model.tieEmbeddings))
             .alsoCalled({"tied_embeddings", "tie_word_embeddings", "weight_tying"})},
        {number("model.norm_eps", "Epsilon of norms", "", "Added to the mean square in RMSNorm.",
                {0, 1}, RM_FIELD(model.normEps))
             .alsoCalled({"rms_norm_eps", "layernorm_epsilon"})},
        {number("model.rope_base", "Rotary base", "",
                "Base of the frequencies of rotary embeddings.", {1, 1e12},
                RM_FIELD(model.ropeBase))
             .alsoCalled({"rope_theta", "rotary_base", "rope_freq_base"})},
        {choice("model.rope_scaling", "Rotary scaling",
                "How rotary embeddings are stretched over a longer context than was learnt.",
                {"none", "linear", "llama3"}, RM_FIELD(model.ropeScaling))
             .alsoCalled({"rope_type"})},
        {number("model.rope_factor", "Rotary factor", "",
                "How many times longer the context became.", {1, 1e6}, RM_FIELD(model.ropeFactor))
             .onlyWith(stretched)},
        {number("model.rope_low_frequency", "Low frequency", "",
                "Waves longer than the original context divided by this are stretched in full.",
                {1e-6, 1e6}, RM_FIELD(model.ropeLowFrequency))
             .onlyWith(llama3)
             .alsoCalled({"low_freq_factor"})},
        {number("model.rope_high_frequency", "High frequency", "",
                "Waves shorter than the original context divided by this stay as they are.",
                {1e-6, 1e6}, RM_FIELD(model.ropeHighFrequency))
             .onlyWith(llama3)
             .alsoCalled({"high_freq_factor"})},
        {number("model.rope_original_context", "Original context", "tokens",
                "Tokens of the context before it was stretched; 0: model.context.", {0, 1048576},
                RM_FIELD(model.ropeOriginalContext))
             .onlyWith(llama3)
             .alsoCalled({"original_max_position_embeddings"})},
    };
}

void checkLlama(const RunSpec& spec, std::vector<std::string>& mistakes) {
    checkHeads(spec, mistakes);
    const auto& model = spec.model;
    if (model.kvHeads > 0 && model.heads % model.kvHeads != 0)
        mistakes.push_back("model.heads is " + std::to_string(model.heads) +
                           ", which model.kv_heads = " + std::to_string(model.kvHeads) +
                           " does not divide");
    const int64_t head =
        model.headDim > 0 ? model.headDim : model.width / std::max<int64_t>(1, model.heads);
    if (head % 2 != 0)
        mistakes.push_back("the width of a head is " + std::to_string(head) +
                           ", but rotary embeddings need an even one: set model.head_dim, or "
                           "change model.width or model.heads");
    if (model.ropeScaling == "llama3" && model.ropeLowFrequency >= model.ropeHighFrequency)
        mistakes.push_back("model.rope_low_frequency must be below model.rope_high_frequency");
}

/// Counts both embeddings, and three matrices per feed-forward net instead of two.
ModelBound llamaBound(const RunSpec& spec) {
    RunSpec wider = spec;
    const int64_t head = spec.model.headDim * spec.model.heads;
    wider.model.width = std::max(spec.model.width, head);
    wider.model.feedForward = 3 * std::max(spec.model.feedForward, 2 * spec.model.width) / 2;
    return transformerBound(wider, spec.model.layers, 2);
}

} // namespace

ModelFamily llamaFamily() {
    return {.name = "llama",
            .types = {"llama"},
            .data = DataKind::kText,
            .rows = llamaRows(),
            .uses = generatorKeys(),
            .figures = {metric::kValidationLoss},
            .check = checkLlama,
            .bound = llamaBound};
}

} // namespace rm
