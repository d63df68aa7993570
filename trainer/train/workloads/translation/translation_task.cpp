// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/translation_task.h"

#include "shared/io/clock.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/text_metrics/bleu.h"
#include "trainer/train/text_metrics/chrf.h"
#include "trainer/train/text_metrics/edit_rate.h"
#include "trainer/train/workloads/start_weights.h"
#include "trainer/train/workloads/translation/pairs/pair_shape.h"
#include "trainer/train/workloads/translation/translation_search.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>

namespace rm {
namespace {

constexpr size_t kSamples = 3;

/// The vocabularies of model.start_from must have the ids of their SentencePiece models, unlike
/// those in Marian's own folders.
Result<PairTokenizer> tokenizerOfWeights(const RunSpec& spec) {
    const std::string attempt =
        "take the vocabularies of model.start_from = " + spec.model.startFrom;
    auto loaded = PairTokenizer::load(startText(spec, "source.spm"), startText(spec, "target.spm"));
    if (!loaded)
        return failAs(attempt, loaded.error());
    for (const auto& [name, text] : loaded->files(spec.model.context, {}))
        if (name.ends_with("vocab.json"))
            if (parseJson(startText(spec, name), name) != parseJson(text, name))
                return fail(ErrorCode::kInvalid,
                            attempt + ": its " + name +
                                " gives pieces other numbers than its SentencePiece model does; "
                                "only folders that Ringmaster exported can be started from");
    return loaded;
}

/// The tokenizer of the checkpoint that the run resumes from, else of model.start_from; empty: to
/// be learnt. On rank 0.
Result<std::string> tokenizerOfStart(const Session& session) {
    const std::string& dir = session.options.startFrom;
    if (!session.world.isFirst() || (dir.empty() && session.spec.model.startFrom.empty()))
        return std::string();
    const auto loaded = dir.empty() ? tokenizerOfWeights(session.spec)
                                    : PairTokenizer::load(checkpointText(dir, "source.spm"),
                                                          checkpointText(dir, "target.spm"));
    return loaded.map([](const PairTokenizer& tokenizer) { return tokenizer.serialized(); });
}

std::vector<int64_t> wide(const std::vector<int32_t>& ids) {
    return {ids.begin(), ids.end()};
}

int64_t widthOf(const EncodedPair& pair) {
    return static_cast<int64_t>(std::max(pair.source.size(), pair.target.size()));
}

std::unique_ptr<BatchSource> batchesOf(const PairFile& pairs, const RunSpec& spec) {
    const auto seed = static_cast<uint64_t>(spec.seed);
    if (spec.train.batchTokens > 0)
        return std::make_unique<PairBatches>(pairs, spec.train.batchTokens, seed);
    return std::make_unique<RandomPairs>(pairs, seed);
}

} // namespace

/// All fields can be summed.
struct TranslationTask::Measured {
    double loss = 0; ///< times tokens
    int64_t tokens = 0;
    BleuCounts bleu;
    ChrfCounts chrf;
    EditCounts characters, words;

    template <class Visit>
    void eachCount(const Visit& visit) {
        for (int64_t* count :
             {&tokens, &bleu.hypothesisWords, &bleu.referenceWords, &characters.edits,
              &characters.reference, &words.edits, &words.reference})
            visit(*count);
        for (auto* counts : {&bleu.matches, &bleu.totals})
            std::ranges::for_each(*counts, visit);
        for (auto* counts : {&chrf.hypothesis, &chrf.reference, &chrf.matches})
            std::ranges::for_each(*counts, visit);
    }

    void add(Measured& other) {
        loss += other.loss;
        std::vector<int64_t> theirs;
        other.eachCount([&](int64_t count) { theirs.push_back(count); });
        auto next = theirs.begin();
        eachCount([&](int64_t& count) { count += *next++; });
    }

    /// Over all ranks, exactly.
    void sum(const World& world) {
        std::vector<int64_t> counts;
        eachCount([&](int64_t count) { counts.push_back(count); });
        at::Tensor all = at::tensor(counts, at::kLong);
        at::Tensor losses = at::tensor({loss}, at::kDouble);
        world.sum(all);
        world.sum(losses);
        loss = losses[0].item<double>();
        const auto* next = all.const_data_ptr<int64_t>();
        eachCount([&](int64_t& count) { count = *next++; });
    }
};

Result<std::unique_ptr<Task>> TranslationTask::create(const Session& session) {
    RM_ASSIGN_OR_RETURN(const auto known, agreeOnFirst(session.world, tokenizerOfStart(session)));
    RM_ASSIGN_OR_RETURN(
        auto data, preparePairData(session.spec, session.runDir + "/data", session.world, known));
    if (session.world.isFirst())
        for (const std::string& warning : data.warnings)
            session.event(Severity::kWarning, "pairs-left-out", warning, 0);
    if (data.bad > 0 && session.world.isFirst())
        session.telemetry->push(metric::kDataBadSamples, static_cast<float>(data.bad));
    return std::unique_ptr<Task>(new TranslationTask(session, std::move(data)));
}

TranslationTask::TranslationTask(const Session& session, PairData data)
    : Task(session)
    , m_data(std::move(data))
    , m_batches(batchesOf(m_data.train, session.spec))
    , m_model(session.spec, {m_data.tokenizer.sourceVocab(), m_data.tokenizer.targetVocab()}) {
    m_dataIdentity = m_data.identity;
    chooseValidation();
}

Batch TranslationTask::padded(const Batch& batch) const {
    return paddedTo(recordedShape(shapeOf(batch), m_session.spec.train.batchTokens,
                                  m_session.spec.model.context),
                    batch);
}

/// The first held-out pairs of the shard, as many as validation.batches hold, in batches of similar
/// lengths. The same for any number of ranks.
void TranslationTask::chooseValidation() {
    const RunSpec& spec = m_session.spec;
    const bool isByTokens = spec.train.batchTokens > 0;
    const int64_t size = isByTokens ? spec.train.batchTokens : spec.train.batchSize;
    const auto shareOf = [&](const EncodedPair& ids) { return isByTokens ? widthOf(ids) : 1; };
    const int64_t budget = spec.validation.batches * size;
    int64_t taken = 0;
    for (int64_t i = 0; i < m_data.validation.count() && taken < budget; ++i) {
        const std::string_view source = m_data.validation.text(2 * i);
        const std::string_view target = m_data.validation.text(2 * i + 1);
        EncodedPair ids{wide(m_data.tokenizer.encodeSource(source)),
                        wide(m_data.tokenizer.encodeTarget(target))};
        if (widthOf(ids) > spec.model.context)
            continue;
        taken += shareOf(ids);
        m_heldOut.push_back({std::string(source), std::string(target), std::move(ids)});
    }
    std::vector<size_t> order(m_heldOut.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return widthOf(m_heldOut[i].ids); });
    for (const size_t i : order) {
        const auto rows =
            static_cast<int64_t>(m_heldOutBatches.empty() ? 0 : m_heldOutBatches.back().size() + 1);
        if (rows == 0 || rows * shareOf(m_heldOut[i].ids) > size)
            m_heldOutBatches.emplace_back();
        m_heldOutBatches.back().push_back(i);
    }
}

std::vector<std::string> TranslationTask::translated(const Batch& batch) const {
    const auto& validation = m_session.spec.validation;
    const SearchSettings settings{validation.sampleTokens, validation.beams,
                                  validation.lengthPenalty};
    std::vector<std::string> texts;
    for (const auto& ids : translate(m_model, batch.tensors[0], batch.tensors[1], settings))
        texts.push_back(m_data.tokenizer.decodeTarget(ids));
    return texts;
}

TranslationTask::Measured TranslationTask::measure(const std::vector<size_t>& members) {
    std::vector<EncodedPair> pairs;
    for (const size_t i : members)
        pairs.push_back(m_heldOut[i].ids);
    const Batch batch = toDevice(makePairBatch(pairs), m_session.device);
    const Autocast autocast(m_session.spec.train.precision, m_session.device);
    Measured measured;
    measured.tokens = batch.targets;
    measured.loss = m_model.loss(batch, false).item<double>() * static_cast<double>(batch.targets);
    if (m_session.spec.validation.sampleTokens == 0)
        return measured;
    const std::vector<std::string> texts = translated(batch);
    for (size_t row = 0; row < members.size(); ++row) {
        const std::string& reference = m_heldOut[members[row]].target;
        addSentence(measured.bleu, texts[row], reference);
        addSentence(measured.chrf, texts[row], reference);
        addCharacters(measured.characters, texts[row], reference);
        addWords(measured.words, texts[row], reference);
    }
    return measured;
}

std::vector<Figure> TranslationTask::validate() {
    if (m_heldOut.empty())
        return {};
    const at::NoGradGuard noGrad;
    Measured all;
    const auto ranks = static_cast<size_t>(m_session.world.size());
    for (auto i = static_cast<size_t>(m_session.world.rank()); i < m_heldOutBatches.size();
         i += ranks) {
        Measured batch = measure(m_heldOutBatches[i]);
        all.add(batch);
    }
    all.sum(m_session.world);
    std::vector<Figure> figures = {
        {metric::kValidationLoss, all.loss / static_cast<double>(all.tokens)}};
    if (m_session.spec.validation.sampleTokens > 0) {
        figures.push_back({metric::kValidationBleu, bleu(all.bleu)});
        figures.push_back({metric::kValidationChrf, chrf(all.chrf)});
        figures.push_back({metric::kValidationCer, errorRate(all.characters)});
        figures.push_back({metric::kValidationWer, errorRate(all.words)});
    }
    return figures;
}

std::vector<SampleText> TranslationTask::samples(int64_t step) {
    const size_t count = std::min(kSamples, m_heldOut.size());
    if (count == 0)
        return {};
    std::vector<EncodedPair> pairs;
    for (size_t i = 0; i < count; ++i)
        pairs.push_back(m_heldOut[i].ids);
    const Autocast autocast(m_session.spec.train.precision, m_session.device);
    const auto texts = translated(toDevice(makePairBatch(pairs), m_session.device));
    std::vector<SampleText> samples;
    for (size_t i = 0; i < count; ++i) {
        SampleText sample{step, wallNowNs(), m_heldOut[i].source, texts[i]};
        sample.kind = SampleKind::kTranslation;
        sample.reference = m_heldOut[i].target;
        ChrfCounts counts;
        addSentence(counts, sample.text, sample.reference);
        sample.score = static_cast<float>(chrf(counts));
        samples.push_back(std::move(sample));
    }
    return samples;
}

std::string TranslationTask::summary() const {
    return "vocabularies " + std::to_string(m_data.tokenizer.sourceVocab()) + " and " +
           std::to_string(m_data.tokenizer.targetVocab()) + ", " +
           std::to_string(m_data.train.count()) + " training and " +
           std::to_string(m_data.validation.count()) + " validation pairs";
}

TextFiles TranslationTask::files() const {
    const auto& validation = m_session.spec.validation;
    TextFiles files = m_data.tokenizer.files(m_model.longest(), m_data.languages);
    files.emplace_back("config.json", m_model.configJson());
    files.emplace_back("generation_config.json",
                       m_model.generationJson(std::max<int64_t>(1, validation.sampleTokens),
                                              validation.beams, validation.lengthPenalty));
    return files;
}

} // namespace rm
