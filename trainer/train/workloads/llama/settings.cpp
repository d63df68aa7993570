// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/settings.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace rm {
namespace {

struct Whole {
    int64_t min, max;
};
struct Bounds {
    double min, max;
};

constexpr Whole kLayers{1, 1024};
constexpr Whole kHeads{1, 1024};
constexpr Whole kHeadDim{2, 8192};
constexpr Whole kWidth{1, 131072};
constexpr Whole kFeedForward{1, 1048576};
constexpr Whole kContext{1, 1048576};
constexpr Whole kVocab{1, 16777216};
constexpr Bounds kRopeBase{1, 1e12};
constexpr Bounds kFactor{1, 1e6};
constexpr Bounds kFrequency{1e-6, 1e6};
constexpr Bounds kNormEps{0, 1};
constexpr Bounds kDropout{0, 0.99};
constexpr size_t kMostEnds = 64; ///< tokens that end a text; any more are left out

struct KindName {
    RopeScaling::Kind kind;
    const char* name;
};
constexpr KindName kKinds[] = {{RopeScaling::Kind::kNone, "default"},
                               {RopeScaling::Kind::kLinear, "linear"},
                               {RopeScaling::Kind::kLlama3, "llama3"}};

std::string text(double number) {
    return Json(number).dump();
}

/// Reads the values of one config.json and collects what is wrong with them.
class Reader {
public:
    explicit Reader(const Json& json)
        : m_json(json) {}

    const std::string& wrongs() const { return m_wrongs; }

    void wrong(const std::string& what) { m_wrongs += (m_wrongs.empty() ? "" : "; ") + what; }

    /// A number within `bounds`. Without `ifAbsent` it must be present.
    int64_t whole(const Json& object, const char* key, Whole bounds,
                  std::optional<int64_t> ifAbsent = {}) {
        if (isAbsent(object, key) && ifAbsent)
            return *ifAbsent;
        const auto value = intAt(object, key);
        if (!value)
            wrong(absentOr(object, key, "no whole number"));
        else if (*value < bounds.min || *value > bounds.max)
            wrong(std::string(key) + " is " + std::to_string(*value) + ", it must be from " +
                  std::to_string(bounds.min) + " to " + std::to_string(bounds.max));
        else
            return *value;
        return bounds.min;
    }
    int64_t whole(const char* key, Whole bounds, std::optional<int64_t> ifAbsent = {}) {
        return whole(m_json, key, bounds, ifAbsent);
    }

    double real(const Json& object, const char* key, Bounds bounds,
                std::optional<double> ifAbsent = {}) {
        if (isAbsent(object, key) && ifAbsent)
            return *ifAbsent;
        const auto at = object.find(key);
        if (at == object.end() || !at->is_number())
            wrong(absentOr(object, key, "no number"));
        else if (const double value = at->get<double>(); value >= bounds.min && value <= bounds.max)
            return value;
        else
            wrong(std::string(key) + " is " + text(value) + ", it must be from " +
                  text(bounds.min) + " to " + text(bounds.max));
        return bounds.min;
    }
    double real(const char* key, Bounds bounds, double ifAbsent) {
        return real(m_json, key, bounds, ifAbsent);
    }

    bool flag(const char* key) {
        if (isAbsent(m_json, key))
            return false;
        const auto value = boolAt(m_json, key);
        if (!value)
            wrong(absentOr(m_json, key, "neither true nor false"));
        return value.value_or(false);
    }

    void demandFalse(const char* key) {
        if (flag(key))
            wrong(std::string(key) + " is true, our linear layers have no biases");
    }
    void demandText(const char* key, const char* wanted) {
        if (isAbsent(m_json, key))
            return;
        const auto value = textAt(m_json, key);
        if (value != wanted)
            wrong(std::string(key) + " is " + (value ? "\"" + *value + "\"" : "no text") +
                  ", ours is \"" + wanted + "\"");
    }

    /// The object with that name; nullptr: it is missing or empty.
    const Json* object(const char* key) {
        if (isAbsent(m_json, key))
            return nullptr;
        const Json& value = *m_json.find(key);
        if (!value.is_object())
            wrong(absentOr(m_json, key, "no object"));
        return value.is_object() && !value.empty() ? &value : nullptr;
    }

    /// Tokens of the vocabulary that `key` names: one, or a list of them.
    std::vector<int64_t> tokens(const char* key, int64_t vocab) const {
        std::vector<int64_t> found;
        const auto at = m_json.find(key);
        if (at == m_json.end())
            return found;
        for (const Json& value : at->is_array() ? *at : Json::array({*at})) {
            const int64_t id = value.is_number_integer() ? value.get<int64_t>() : -1;
            if (id >= 0 && id < vocab && found.size() < kMostEnds &&
                std::ranges::find(found, id) == found.end())
                found.push_back(id);
        }
        return found;
    }

private:
    static bool isAbsent(const Json& object, const char* key) {
        const auto at = object.find(key);
        return at == object.end() || at->is_null();
    }
    static std::string absentOr(const Json& object, const char* key, const char* instead) {
        return isAbsent(object, key) ? "it has no " + std::string(key)
                                     : std::string(key) + " is " + instead;
    }

    const Json& m_json;
    std::string m_wrongs;
};

RopeScaling::Kind kindOf(Reader& reader, const Json& rope) {
    auto name = textAt(rope, "rope_type");
    if (!name)
        name = textAt(rope, "type").value_or(kKinds[0].name);
    for (const auto& [kind, known] : kKinds)
        if (*name == known)
            return kind;
    reader.wrong("its rotary embeddings are scaled by \"" + *name +
                 "\"; we have \"default\", \"linear\" and \"llama3\"");
    return RopeScaling::Kind::kNone;
}

RopeScaling scalingOf(Reader& reader, const Json& rope, int64_t context) {
    RopeScaling scaling;
    scaling.kind = kindOf(reader, rope);
    if (reader.real(rope, "partial_rotary_factor", kFactor, 1.0) != 1)
        reader.wrong("partial_rotary_factor is not 1");
    if (scaling.kind == RopeScaling::Kind::kNone)
        return scaling;
    scaling.factor = reader.real(rope, "factor", kFactor);
    if (scaling.kind == RopeScaling::Kind::kLinear)
        return scaling;
    scaling.lowFrequency = reader.real(rope, "low_freq_factor", kFrequency);
    scaling.highFrequency = reader.real(rope, "high_freq_factor", kFrequency);
    scaling.originalContext =
        reader.whole(rope, "original_max_position_embeddings", kContext, context);
    if (scaling.lowFrequency >= scaling.highFrequency)
        reader.wrong("low_freq_factor is not below high_freq_factor");
    return scaling;
}

/// `rope_scaling` goes before `rope_parameters`, as in transformers 5.
void readRope(Reader& reader, LlamaSettings& settings) {
    const Json* rope = reader.object("rope_scaling");
    if (!rope)
        rope = reader.object("rope_parameters");
    settings.ropeBase = reader.real("rope_theta", kRopeBase, settings.ropeBase);
    if (!rope)
        return;
    settings.ropeBase = reader.real(*rope, "rope_theta", kRopeBase, settings.ropeBase);
    settings.ropeScaling = scalingOf(reader, *rope, settings.context);
}

void readSizes(Reader& reader, LlamaSettings& settings) {
    settings.layers = reader.whole("num_hidden_layers", kLayers);
    settings.width = reader.whole("hidden_size", kWidth);
    settings.heads = reader.whole("num_attention_heads", kHeads);
    settings.kvHeads = reader.whole("num_key_value_heads", kHeads, settings.heads);
    settings.feedForward = reader.whole("intermediate_size", kFeedForward);
    settings.context = reader.whole("max_position_embeddings", kContext);
    settings.vocab = reader.whole("vocab_size", kVocab);
    settings.headDim = reader.whole("head_dim", kHeadDim, settings.width / settings.heads);
    if (!reader.wrongs().empty())
        return; // the rules need values that are missing
    if (settings.width % settings.heads != 0)
        reader.wrong("num_attention_heads does not divide hidden_size");
    if (settings.heads % settings.kvHeads != 0)
        reader.wrong("num_key_value_heads does not divide num_attention_heads");
    if (settings.headDim < kHeadDim.min || settings.headDim % 2 != 0)
        reader.wrong("the width of a head is " + std::to_string(settings.headDim) +
                     ", rotary embeddings need an even one");
}

LlamaSettings read(Reader& reader) {
    LlamaSettings settings;
    readSizes(reader, settings);
    readRope(reader, settings);
    settings.normEps = reader.real("rms_norm_eps", kNormEps, settings.normEps);
    settings.attentionDropout = reader.real("attention_dropout", kDropout, 0);
    settings.tiesEmbeddings = reader.flag("tie_word_embeddings");
    reader.demandText("hidden_act", "silu");
    reader.demandFalse("attention_bias");
    reader.demandFalse("mlp_bias");
    const std::vector<int64_t> begins = reader.tokens("bos_token_id", settings.vocab);
    if (begins.size() == 1)
        settings.begin = begins.front();
    settings.ends = reader.tokens("eos_token_id", settings.vocab);
    return settings;
}

nlohmann::ordered_json ropeParameters(const LlamaSettings& settings) {
    const RopeScaling& scaling = settings.ropeScaling;
    nlohmann::ordered_json rope;
    for (const auto& [kind, name] : kKinds)
        if (kind == scaling.kind)
            rope["rope_type"] = name;
    rope["rope_theta"] = settings.ropeBase;
    if (scaling.kind == RopeScaling::Kind::kNone)
        return rope;
    rope["factor"] = scaling.factor;
    if (scaling.kind == RopeScaling::Kind::kLinear)
        return rope;
    rope["low_freq_factor"] = scaling.lowFrequency;
    rope["high_freq_factor"] = scaling.highFrequency;
    rope["original_max_position_embeddings"] = scaling.originalContext;
    return rope;
}

} // namespace

Result<LlamaSettings> llamaSettings(const std::string& config, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(config, source));
    const std::string attempt = "read the config.json of " + source + ": ";
    if (!json.is_object())
        return fail(ErrorCode::kInvalid, attempt + "it is no object");
    Reader reader(json);
    reader.demandText("model_type", "llama");
    LlamaSettings settings = read(reader);
    if (!reader.wrongs().empty())
        return fail(ErrorCode::kInvalid, attempt + reader.wrongs());
    return settings;
}

nlohmann::ordered_json llamaTextEnds(const LlamaSettings& settings) {
    nlohmann::ordered_json begin, end; // null
    if (settings.begin)
        begin = *settings.begin;
    if (settings.ends.size() == 1)
        end = settings.ends.front();
    else if (!settings.ends.empty())
        end = settings.ends;
    return {{"bos_token_id", begin}, {"eos_token_id", end}};
}

std::string llamaConfig(const LlamaSettings& settings) {
    const bool isScaled = settings.ropeScaling.kind != RopeScaling::Kind::kNone;
    const auto rope = ropeParameters(settings);
    nlohmann::ordered_json config = {
        {"model_type", "llama"},
        {"architectures", {"LlamaForCausalLM"}},
        {"vocab_size", settings.vocab},
        {"max_position_embeddings", settings.context},
        {"hidden_size", settings.width},
        {"intermediate_size", settings.feedForward},
        {"num_hidden_layers", settings.layers},
        {"num_attention_heads", settings.heads},
        {"num_key_value_heads", settings.kvHeads},
        {"head_dim", settings.headDim},
        {"hidden_act", "silu"},
        {"rms_norm_eps", settings.normEps},
        {"rope_parameters", rope},
        // For transformers before 5.
        {"rope_theta", settings.ropeBase},
        {"rope_scaling", isScaled ? rope : nlohmann::ordered_json()},
        {"attention_bias", false},
        {"mlp_bias", false},
        {"attention_dropout", settings.attentionDropout},
        {"initializer_range", kLlamaInitStd},
        {"tie_word_embeddings", settings.tiesEmbeddings},
        {"torch_dtype", "float32"},
    };
    config.update(llamaTextEnds(settings));
    return config.dump(2) + "\n";
}

} // namespace rm
