// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/interchange/model_of.h"

#include "shared/io/json.h"
#include "trainer/train/workloads/gpt/gpt.h"
#include "trainer/train/workloads/resnet/resnet.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"
#include "trainer/train/workloads/translation/translation.h"

namespace rm {
namespace {

/// Rows of the tensor called `name`.
Result<int64_t> rowsOf(const Weights& weights, const std::string& name, const std::string& source) {
    for (const Weight& weight : weights)
        if (weight.name == name && weight.tensor.dim() > 0)
            return weight.tensor.size(0);
    return fail(ErrorCode::kInvalid, "import " + source + ": it has no matrix " + name);
}

Result<std::unique_ptr<Model>> gptOf(const RunSpec& spec, const Weights& weights,
                                     const std::string& config, const std::string& source) {
    const auto vocab = rowsOf(weights, "transformer.wte.weight", source);
    if (!vocab)
        return tl::unexpected(vocab.error());
    auto model = std::make_unique<Gpt>(spec.model, *vocab, spec.train);
    model->setTextEnds(textEndsOf(config, *vocab));
    return model;
}

Result<std::unique_ptr<Model>> translationOf(const RunSpec& spec, const Weights& weights,
                                             const std::string& source) {
    const bool shared = spec.model.shareEmbeddings;
    const auto first = rowsOf(
        weights, shared ? "model.shared.weight" : "model.encoder.embed_tokens.weight", source);
    const auto second =
        shared ? first : rowsOf(weights, "model.decoder.embed_tokens.weight", source);
    if (!first || !second)
        return tl::unexpected((first ? second : first).error());
    return std::make_unique<Translation>(spec, TranslationVocab{*first, *second});
}

Result<std::unique_ptr<Model>> resNetOf(const RunSpec& spec, const Weights& weights,
                                        const std::string& source) {
    static const World alone;
    const auto classes = rowsOf(weights, "fc.weight", source);
    if (!classes)
        return tl::unexpected(classes.error());
    ResNet::Settings settings;
    settings.type = spec.model.type;
    settings.classes = *classes;
    settings.imageSize = spec.model.imageSize;
    return std::make_unique<ResNet>(settings, alone);
}

/// Reads a config.json and notes what in it our models cannot be.
class Config {
public:
    Config(const Json& json, std::string source)
        : m_json(json)
        , m_source(std::move(source)) {}

    int64_t number(const char* key) {
        const auto value = intAt(m_json, key);
        if (!value)
            wrong("it has no " + std::string(key));
        return value.value_or(0);
    }
    int64_t number(const char* key, int64_t ifAbsent) const {
        return intAt(m_json, key).value_or(ifAbsent);
    }
    double real(const char* key, double ifAbsent) const {
        const auto at = m_json.find(key);
        return at != m_json.end() && at->is_number() ? at->get<double>() : ifAbsent;
    }
    bool isTrue(const char* key) const { return boolAt(m_json, key).value_or(false); }

    void demand(bool holds, const std::string& what) {
        if (!holds)
            wrong(what);
    }
    void demandText(const char* key, std::initializer_list<const char*> allowed) {
        const std::string text = textAt(m_json, key).value_or(*allowed.begin());
        bool known = false;
        for (const char* one : allowed)
            known = known || text == one;
        std::string words = key;
        words.append(" is \"").append(text).append("\", ours is \"").append(*allowed.begin());
        demand(known, words + "\"");
    }

    Result<void> outcome() const {
        if (m_wrong.empty())
            return {};
        return fail(ErrorCode::kInvalid, "import " + m_source + ": " + m_wrong);
    }

private:
    void wrong(const std::string& what) { m_wrong += (m_wrong.empty() ? "" : "; ") + what; }

    const Json& m_json;
    std::string m_source;
    std::string m_wrong;
};

void readGpt2(Config& config, RunSpec::Model& model) {
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

void readMarian(Config& config, RunSpec::Model& model) {
    model.type = "translation";
    model.layers = config.number("encoder_layers");
    model.heads = config.number("encoder_attention_heads");
    model.width = config.number("d_model");
    model.context = config.number("max_position_embeddings");
    model.feedForward = config.number("encoder_ffn_dim");
    model.dropout = config.real("dropout", model.dropout);
    model.shareEmbeddings = config.isTrue("share_encoder_decoder_embeddings");
    config.demandText("activation_function", {"relu"});
    config.demand(config.isTrue("scale_embedding"), "it does not scale embeddings");
    config.demand(config.number("decoder_layers") == model.layers &&
                      config.number("decoder_attention_heads") == model.heads &&
                      config.number("decoder_ffn_dim") == model.feedForward,
                  "its encoder and decoder have different sizes");
    config.demand(config.number("pad_token_id") == kPadId &&
                      config.number("eos_token_id") == kEndId &&
                      config.number("decoder_start_token_id") == kPadId,
                  "its ids of padding and end of sentence are not ours (" + std::to_string(kPadId) +
                      ", " + std::to_string(kEndId) + ")");
}

} // namespace

Result<std::unique_ptr<Model>> modelOf(const RunSpec& spec, const Weights& weights,
                                       const std::string& config, const std::string& source) {
    if (spec.model.type == "gpt")
        return gptOf(spec, weights, config, source);
    if (spec.model.type == "translation")
        return translationOf(spec, weights, source);
    return resNetOf(spec, weights, source);
}

Result<RunSpec> specOfConfig(const std::string& text, RunSpec spec, const std::string& source) {
    const auto json = parseJson(text, source);
    if (!json)
        return tl::unexpected(json.error());
    Config config(*json, source);
    const std::string type = textAt(*json, "model_type").value_or("");
    if (type == "gpt2")
        readGpt2(config, spec.model);
    else if (type == "marian")
        readMarian(config, spec.model);
    else
        config.demand(false, "its model_type is \"" + type + "\", we have gpt2 and marian");
    if (const auto done = config.outcome(); !done)
        return tl::unexpected(done.error());
    return spec;
}

} // namespace rm
