// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/workloads/foreign_config.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/language_workload.h"
#include "trainer/train/workloads/llama/llama.h"
#include "trainer/train/workloads/registry.h"

namespace rm {
namespace {

constexpr const char* kEmbedding = "model.embed_tokens.weight";

/// Values of model.rope_scaling, as RopeScaling::Kind.
constexpr const char* kScalings[] = {"none", "linear", "llama3"};

RopeScaling scalingOf(const RunSpec::Model& model) {
    RopeScaling scaling;
    if (model.ropeScaling == kScalings[0])
        return scaling;
    scaling.kind =
        model.ropeScaling == kScalings[1] ? RopeScaling::Kind::kLinear : RopeScaling::Kind::kLlama3;
    scaling.factor = model.ropeFactor;
    scaling.lowFrequency = model.ropeLowFrequency;
    scaling.highFrequency = model.ropeHighFrequency;
    scaling.originalContext = model.ropeOriginalContext;
    return scaling;
}

/// `config`: the config.json of the weights, which names the tokens that begin and end a text.
LlamaSettings settingsOf(const RunSpec::Model& model, int64_t vocab, const std::string& config) {
    LlamaSettings settings{.layers = model.layers,
                           .width = model.width,
                           .heads = model.heads,
                           .kvHeads = model.kvHeads,
                           .headDim = model.headDim,
                           .feedForward = model.feedForward,
                           .context = model.context,
                           .vocab = vocab,
                           .ropeBase = model.ropeBase,
                           .ropeScaling = scalingOf(model),
                           .normEps = model.normEps,
                           .tiesEmbeddings = model.tieEmbeddings,
                           .attentionDropout = model.dropout,
                           .begin = {},
                           .ends = {}};
    if (const auto there = llamaSettings(config, "config.json")) {
        // Positions have no weights, so training with a shorter context loses none.
        settings.context = std::max(settings.context, there->context);
        settings.begin = there->begin;
        settings.ends = there->ends;
    }
    return settings;
}

class LlamaWorkload final : public LanguageWorkload {
public:
    std::string_view family() const override { return "llama"; }

    std::unique_ptr<LanguageModel> languageModel(const RunSpec& spec, int64_t vocabSize,
                                                 const std::string& config) const override {
        return std::make_unique<Llama>(settingsOf(spelledOut(spec.model), vocabSize, config),
                                       spec.train);
    }

    RunSpec::Model spelledOut(RunSpec::Model model) const override {
        constexpr int64_t kMultiple = 64; // the default feed-forward width is rounded up to it
        if (model.kvHeads == 0)
            model.kvHeads = model.heads;
        if (model.headDim == 0)
            model.headDim = model.width / model.heads;
        if (model.feedForward == 0)
            model.feedForward = (8 * model.width / 3 + kMultiple - 1) / kMultiple * kMultiple;
        if (model.ropeOriginalContext == 0)
            model.ropeOriginalContext = model.context;
        return model;
    }

    /// Names and layouts are those of LlamaForCausalLM; tables of rotary frequencies, which early
    /// versions of transformers saved, are left out.
    Result<Weights> withOurNames(const RunSpec& spec, Weights weights,
                                 const std::string& source) const override {
        dropEndings(weights, {".rotary_emb.inv_freq"});
        if (spec.model.tieEmbeddings)
            RM_RETURN_IF_ERROR(untie(weights, kEmbedding, "lm_head.weight", source));
        return weights;
    }

    const char* embeddingName() const override { return kEmbedding; }

    std::string_view configType() const override { return "llama"; }

    void readConfig(ForeignConfig& config, RunSpec::Model& model) const override {
        const auto there = llamaSettings(config.json().dump(), config.source());
        if (!there)
            return config.demand(false, there.error().message);
        model.type = "llama";
        model.layers = there->layers;
        model.width = there->width;
        model.heads = there->heads;
        model.kvHeads = there->kvHeads;
        model.headDim = there->headDim;
        model.feedForward = there->feedForward;
        model.context = there->context;
        model.dropout = there->attentionDropout;
        model.tieEmbeddings = there->tiesEmbeddings;
        model.normEps = there->normEps;
        model.ropeBase = there->ropeBase;
        model.ropeScaling = kScalings[static_cast<size_t>(there->ropeScaling.kind)];
        model.ropeFactor = there->ropeScaling.factor;
        model.ropeLowFrequency = there->ropeScaling.lowFrequency;
        model.ropeHighFrequency = there->ropeScaling.highFrequency;
        model.ropeOriginalContext = there->ropeScaling.originalContext;
    }
};

} // namespace

const Workload& llamaWorkload() {
    static const LlamaWorkload workload;
    return workload;
}

} // namespace rm
