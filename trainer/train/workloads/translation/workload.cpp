// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/workloads/foreign_config.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/registry.h"
#include "trainer/train/workloads/start_weights.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"
#include "trainer/train/workloads/translation/translation.h"
#include "trainer/train/workloads/translation/translation_search.h"
#include "trainer/train/workloads/translation/translation_task.h"

#include <algorithm>
#include <sstream>

namespace rm {
namespace {

/// Host memory for vocabularies and texts; about the same with 2,000 and with 40,000 pairs.
constexpr int64_t kPairTexts = 10 << 20;
/// Share of the activations lost in gaps of a CPU's heap, because batches have many different
/// lengths, beyond those of the small rehearsed model. Without it, runs of a larger translation
/// took from 5 % less to 12 % more than estimated, on EPYC processors of four generations.
constexpr double kGapsOfLengths = 0.05;

constexpr const char* kShared = "model.shared.weight";
constexpr const char* kEncoder = "model.encoder.embed_tokens.weight";
constexpr const char* kDecoder = "model.decoder.embed_tokens.weight";

Batch imaginePairs(int64_t samples, int64_t tokens) {
    const std::vector<int64_t> side(static_cast<size_t>(tokens), 1);
    std::vector<EncodedPair> pairs(static_cast<size_t>(samples), EncodedPair{side, side});
    if (tokens > 1 && samples > 1) {
        pairs.back().source.pop_back();
        pairs.back().target.pop_back();
    }
    return makePairBatch(pairs);
}

/// The lines of a text that have words, as the encoder takes them. kInvalid: one is too long.
Result<std::vector<EncodedPair>> encodedLines(const std::string& text,
                                              const PairTokenizer& tokenizer, int64_t longest) {
    std::vector<EncodedPair> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        const auto ids = tokenizer.encodeSource(line);
        if (ids.size() < 2) // the end alone
            continue;
        if (static_cast<int64_t>(ids.size()) > longest)
            return fail(ErrorCode::kInvalid,
                        "try a translation: a line of " + std::to_string(ids.size()) +
                            " tokens is longer than model.context = " + std::to_string(longest) +
                            "; break it into shorter ones");
        lines.push_back({{ids.begin(), ids.end()}, {kEndId}});
    }
    return lines;
}

class TranslationWorkload final : public Workload {
public:
    std::string_view family() const override { return "translation"; }

    Result<std::unique_ptr<Task>> makeTask(const Session& session) const override {
        return TranslationTask::create(session);
    }

    bool hasManyShapes() const override { return true; }

    Result<DataSizes> dataSizes(const RunSpec& spec) const override {
        DataSizes sizes;
        sizes.vocab = vocabOfConfig(startText(spec, "config.json"));
        return sizes.vocab > 0 ? sizes : learntVocabulary(spec);
    }

    std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes,
                                     const World&) const override {
        return std::make_unique<Translation>(spec, TranslationVocab{sizes.vocab, sizes.vocab});
    }

    /// Pairs of model.context tokens. One pair has a token less, as padding costs a little.
    Batch imagineBatch(const RunSpec& spec, int64_t samples) const override {
        return imaginePairs(samples, spec.model.context);
    }

    std::vector<Batch> imagineOtherShapes(const RunSpec& spec, int64_t samples,
                                          int64_t count) const override {
        std::vector<Batch> batches;
        const int64_t tokens = samples * spec.model.context;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t part = i % 2 == 0 ? 1 + i / 2 : count - i / 2; // short and long by turns
            const int64_t length = std::max<int64_t>(2, spec.model.context * part / (count + 1));
            batches.push_back(
                imaginePairs(spec.train.batchTokens > 0 ? tokens / length : samples, length));
        }
        return batches;
    }

    /// As many of the longest pairs as train.batch_tokens hold, or train.batch_size of them.
    MicroBatch microBatch(const RunSpec& spec) const override {
        if (spec.train.batchTokens == 0)
            return Workload::microBatch(spec);
        return {"train.batch_tokens",
                std::max<int64_t>(1, spec.train.batchTokens / spec.model.context),
                spec.model.context, "one pair of model.context tokens"};
    }

    int64_t usesPerSample(const RunSpec& spec) const override { return spec.model.context; }

    Result<void> checkInput(const RunSpec& spec, const TryInput& input) const override {
        RM_RETURN_IF_ERROR(checkTextInput(spec, input, "translates text"));
        if (input.text.find_first_not_of(" \t\r\n") == input.text.npos)
            return fail(ErrorCode::kInvalid, "try a translation: there is no text to translate");
        return {};
    }

    /// A line for each line that has words.
    Result<TryAnswer> tryOut(const RunSpec& spec, Model& model, const std::string& checkpoint,
                             const Device& device, const TryInput& input) const override {
        RM_ASSIGN_OR_RETURN(const auto tokenizer,
                            PairTokenizer::load(checkpointText(checkpoint, "source.spm"),
                                                checkpointText(checkpoint, "target.spm")));
        const auto& translation = dynamic_cast<const Translation&>(model);
        const int64_t longest = translation.longest();
        RM_ASSIGN_OR_RETURN(const auto lines, encodedLines(input.text, tokenizer, longest));
        const auto& validation = spec.validation;
        const int64_t usual = validation.sampleTokens > 0 ? validation.sampleTokens : longest;
        const SearchSettings settings{std::min(longest, input.maxTokens.value_or(usual)),
                                      input.beams.value_or(validation.beams),
                                      validation.lengthPenalty};
        const Autocast autocast(spec.train.precision, device);
        TryAnswer answer;
        answer.kind = TryKind::kTranslation;
        if (lines.empty())
            return answer;
        const Batch batch = toDevice(makePairBatch(lines), device);
        const auto found = translate(translation, batch.tensors[0], batch.tensors[1], settings);
        for (size_t i = 0; i < found.size(); ++i) {
            answer.tokens += static_cast<int64_t>(found[i].size());
            answer.text += (i == 0 ? "" : "\n") + tokenizer.decodeTarget(found[i]);
        }
        return answer;
    }

    HostExtras hostExtras() const override {
        return {.bytes = kPairTexts, .gapsPerActivation = kGapsOfLengths};
    }

    /// Drops position tables, which are computed.
    Result<Weights> withOurNames(const RunSpec&, Weights weights,
                                 const std::string& source) const override {
        dropEndings(weights, {".embed_positions.weight"});
        std::vector<std::pair<const char*, const char*>> ties{{kDecoder, "lm_head.weight"}};
        if (findWeight(weights, kShared))
            ties = {{kShared, kEncoder}, {kShared, kDecoder}, {kShared, "lm_head.weight"}};
        for (const auto& [kept, copy] : ties)
            RM_RETURN_IF_ERROR(untie(weights, kept, copy, source));
        return weights;
    }

    Result<std::unique_ptr<Model>> modelFor(const RunSpec& spec, const Weights& weights,
                                            const std::string&,
                                            const std::string& source) const override {
        const bool shared = spec.model.shareEmbeddings;
        const auto first = rowsOf(weights, shared ? kShared : kEncoder, source);
        const auto second = shared ? first : rowsOf(weights, kDecoder, source);
        if (!first || !second)
            return tl::unexpected((first ? second : first).error());
        return std::make_unique<Translation>(spec, TranslationVocab{*first, *second});
    }

    std::string_view configType() const override { return "marian"; }

    void readConfig(ForeignConfig& config, RunSpec::Model& model) const override {
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
                      "its ids of padding and end of sentence are not ours (" +
                          std::to_string(kPadId) + ", " + std::to_string(kEndId) + ")");
    }
};

} // namespace

const Workload& translationWorkload() {
    static const TranslationWorkload workload;
    return workload;
}

} // namespace rm
