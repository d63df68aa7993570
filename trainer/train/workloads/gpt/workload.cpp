// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/workloads/foreign_config.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/gpt/gpt.h"
#include "trainer/train/workloads/language_workload.h"
#include "trainer/train/workloads/registry.h"

namespace rm {
namespace {

constexpr const char* kEmbedding = "transformer.wte.weight";

/// Whether the weights are of linear layers, by the shape of c_attn, which makes three vectors of
/// one.
bool isLinearLayout(Weights& weights) {
    const Weight* attention = findWeight(weights, "transformer.h.0.attn.c_attn.weight");
    return attention && attention->tensor.dim() == 2 &&
           attention->tensor.size(0) > attention->tensor.size(1);
}

class GptWorkload final : public LanguageWorkload {
public:
    std::string_view family() const override { return "gpt"; }
    bool hasPositionWeights() const override { return true; }

    std::unique_ptr<LanguageModel> languageModel(const RunSpec& spec, int64_t vocabSize,
                                                 const std::string& config) const override {
        auto model = std::make_unique<Gpt>(spec.model, vocabSize, spec.train);
        model->setTextEnds(textEndsOf(config, vocabSize));
        return model;
    }

    /// Adds the prefix `transformer.`, drops GPT-2's causal masks, and transposes weights of linear
    /// layers (out, in) to those of Conv1D (in, out).
    Result<Weights> withOurNames(const RunSpec&, Weights weights,
                                 const std::string& source) const override {
        if (findWeight(weights, "wte.weight"))
            for (Weight& weight : weights)
                if (!weight.name.starts_with("lm_head."))
                    weight.name = "transformer." + weight.name;
        dropEndings(weights, {".attn.bias", ".attn.masked_bias"});
        RM_RETURN_IF_ERROR(untie(weights, kEmbedding, "lm_head.weight", source));
        if (!isLinearLayout(weights))
            return weights;
        for (Weight& weight : weights)
            for (const char* layer : {".c_attn.weight", ".c_proj.weight", ".c_fc.weight"})
                if (weight.name.ends_with(layer) && weight.tensor.dim() == 2)
                    weight.tensor = weight.tensor.t();
        return weights;
    }

    const char* embeddingName() const override { return kEmbedding; }

    std::string_view configType() const override { return "gpt2"; }

    void readConfig(ForeignConfig& config, RunSpec::Model& model) const override {
        model.type = "gpt";
        model.layers = config.number("n_layer");
        model.heads = config.number("n_head");
        model.width = config.number("n_embd");
        model.context = config.number("n_positions");
        model.feedForward = config.number("n_inner", 0);
        model.dropout = config.real("resid_pdrop", model.dropout);
        config.demandText("activation_function", {"gelu_new", "gelu_pytorch_tanh"});
        config.demand(config.real("layer_norm_epsilon", 1e-5) == 1e-5,
                      "layer_norm_epsilon is not 1e-5");
        config.demand(!config.isTrue("scale_attn_by_inverse_layer_idx"),
                      "it scales attention by layer");
    }
};

} // namespace

const Workload& gptWorkload() {
    static const GptWorkload workload;
    return workload;
}

} // namespace rm
