// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/training_pass.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"
#include "trainer/train/workloads/translation/translation_search.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <map>

using namespace rm;

namespace {

constexpr int64_t kSourceVocab = 40;
constexpr int64_t kTargetVocab = 30;

RunSpec specOf(bool shared = false) {
    RunSpec spec;
    spec.model.type = "translation";
    spec.model.layers = 2;
    spec.model.heads = 2;
    spec.model.width = 16;
    spec.model.feedForward = 24;
    spec.model.context = 20;
    spec.model.shareEmbeddings = shared;
    return spec;
}

Translation makeModel(const RunSpec& spec = specOf(), int64_t targetVocab = kTargetVocab,
                      double sharpness = 3) {
    Translation model(spec,
                      {kSourceVocab, spec.model.shareEmbeddings ? kSourceVocab : targetVocab});
    model.initialize(at::detail::createCPUGenerator(3));
    const at::NoGradGuard noGrad;
    for (const Parameter& parameter : model.parameters())
        if (parameter.decays)
            at::Tensor(parameter.value).mul_(sharpness); // so that differences show
    return model;
}

EncodedPair pairOf(int64_t source, int64_t target, uint64_t seed = 5) {
    const auto draw = [generator = at::detail::createCPUGenerator(seed)](int64_t vocab,
                                                                         int64_t count) {
        const at::Tensor ids = at::randint(3, vocab, {count}, generator, at::kLong);
        std::vector<int64_t> list(ids.const_data_ptr<int64_t>(),
                                  ids.const_data_ptr<int64_t>() + count);
        list.back() = kEndId;
        return list;
    };
    EncodedPair pair{draw(kSourceVocab, source), {}};
    pair.target = draw(kTargetVocab, target);
    return pair;
}

/// Three pairs of unlike lengths.
std::vector<EncodedPair> somePairs() {
    return {pairOf(5, 9, 1), pairOf(12, 3, 2), pairOf(8, 6, 3)};
}

at::Tensor logitsOf(const Translation& model, const Batch& batch) {
    const at::Tensor memory = model.encode(batch.tensors[0], batch.tensors[1], false);
    return model.logits(memory, batch.tensors[1], batch.tensors[2], false);
}

/// Of `target` and then kEndId, by one forward pass without a cache.
double logProbability(const Translation& model, const at::Tensor& source,
                      const std::vector<int32_t>& target, bool ends) {
    std::vector<int64_t> input{kPadId};
    input.insert(input.end(), target.begin(), target.end());
    const at::Tensor none = at::empty({0}, at::kBool);
    const at::Tensor logits = model.logits(model.encode(source, none, false), none,
                                           at::tensor(input, at::kLong).unsqueeze(0), false);
    const at::Tensor scores = at::log_softmax(logits[0], 1);
    double sum = ends ? scores[int64_t(target.size())][kEndId].item<double>() : 0;
    for (size_t i = 0; i < target.size(); ++i)
        sum += scores[int64_t(i)][target[i]].item<double>();
    return sum;
}

/// The best of all sequences of at most `most` tokens.
class Exhaustive {
public:
    Exhaustive(const Translation& model, at::Tensor source, int64_t vocab,
               const SearchSettings& settings)
        : m_model(model)
        , m_source(std::move(source))
        , m_vocab(vocab)
        , m_settings(settings) {
        visit({});
    }
    std::vector<int32_t> best;

private:
    void visit(const std::vector<int32_t>& prefix) {
        const auto length = int64_t(prefix.size());
        judge(prefix, true, length + 1);
        if (length == m_settings.maxTokens - 1) {
            extend(prefix, [&](const auto& longer) { judge(longer, false, length + 1); });
            return;
        }
        extend(prefix, [&](const auto& longer) { visit(longer); });
    }

    template <class Use>
    void extend(const std::vector<int32_t>& prefix, const Use& use) {
        for (int32_t id = 1; id < m_vocab; ++id) {
            if (id == kPadId)
                continue;
            std::vector<int32_t> longer = prefix;
            longer.push_back(id);
            use(longer);
        }
    }

    void judge(const std::vector<int32_t>& target, bool ends, int64_t length) {
        const double score = logProbability(m_model, m_source, target, ends) /
                             std::pow(double(length), m_settings.lengthPenalty);
        if (score > m_score) {
            m_score = score;
            best = target;
        }
    }

    const Translation& m_model;
    at::Tensor m_source;
    int64_t m_vocab;
    SearchSettings m_settings;
    double m_score = -1e30;
};

} // namespace

class TestTranslation : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void parametersHaveTheNamesAndShapesOfMarian() {
        const Translation model = makeModel();
        std::map<std::string, std::vector<int64_t>> shapes;
        for (const Parameter& parameter : model.parameters())
            shapes[parameter.name] = parameter.value.sizes().vec();
        using Shape = std::vector<int64_t>;
        QCOMPARE(shapes.size(), size_t{2 + 2 * 16 + 2 * 26});
        QCOMPARE(shapes.at("model.encoder.embed_tokens.weight"), (Shape{kSourceVocab, 16}));
        QCOMPARE(shapes.at("model.decoder.embed_tokens.weight"), (Shape{kTargetVocab, 16}));
        QCOMPARE(shapes.at("model.encoder.layers.1.self_attn.q_proj.weight"), (Shape{16, 16}));
        QCOMPARE(shapes.at("model.decoder.layers.0.encoder_attn.out_proj.bias"), (Shape{16}));
        QCOMPARE(shapes.at("model.decoder.layers.1.fc1.weight"), (Shape{24, 16}));
        QCOMPARE(shapes.at("model.encoder.layers.0.final_layer_norm.weight"), (Shape{16}));
        QCOMPARE(model.buffers().front().name, std::string("final_logits_bias"));
        QCOMPARE(model.buffers().front().value.sizes().vec(), (Shape{1, kTargetVocab}));
    }

    void sharedEmbeddingIsOneParameter() {
        const Translation model = makeModel(specOf(true));
        QCOMPARE(model.parameters().size(), size_t{1 + 2 * 16 + 2 * 26});
        QCOMPARE(model.parameters().front().name, std::string("model.shared.weight"));
    }

    void freshModelKnowsLittle() {
        Translation model = makeModel(specOf(), kTargetVocab, 1);
        const double loss = model.loss(makePairBatch(somePairs()), false).item<double>();
        QVERIFY2(std::abs(loss - std::log(double(kTargetVocab))) < 1, QByteArray::number(loss));
    }

    void paddingChangesNothing() {
        Translation model = makeModel();
        const at::NoGradGuard noGrad;
        const auto pairs = somePairs();
        const Batch together = makePairBatch(pairs);
        const at::Tensor logits = logitsOf(model, together);
        double sum = 0;
        for (size_t i = 0; i < pairs.size(); ++i) {
            const Batch alone = makePairBatch({pairs[i]});
            sum += model.loss(alone, false).item<double>() * double(alone.targets);
            const auto length = int64_t(pairs[i].target.size());
            const at::Tensor padded = logits[int64_t(i)].narrow(0, 0, length);
            const at::Tensor difference = logitsOf(model, alone)[0].sub(padded).abs().max();
            QVERIFY2(difference.item<double>() < 1e-5 * padded.abs().max().item<double>(),
                     QByteArray::number(difference.item<double>()));
        }
        const double mean = sum / double(together.targets);
        QVERIFY(std::abs(model.loss(together, false).item<double>() - mean) < 1e-5 * mean);
    }

    void laterTokensDoNotChangeEarlierOnes() {
        const Translation model = makeModel();
        const at::NoGradGuard noGrad;
        EncodedPair pair = pairOf(6, 10);
        const at::Tensor before = logitsOf(model, makePairBatch({pair}));
        pair.target[5] = pair.target[5] == 7 ? 8 : 7;
        const at::Tensor after = logitsOf(model, makePairBatch({pair}));
        QVERIFY(at::allclose(before.narrow(1, 0, 6), after.narrow(1, 0, 6)));
        QVERIFY(!at::allclose(before.narrow(1, 6, 1), after.narrow(1, 6, 1)));
    }

    void labelSmoothingActsInTrainingOnly() {
        RunSpec spec = specOf();
        spec.train.labelSmoothing = 0.1;
        Translation smooth = makeModel(spec);
        Translation sharp = makeModel();
        const at::NoGradGuard noGrad;
        const Batch batch = makePairBatch(somePairs());
        const double plain = sharp.loss(batch, true).item<double>();
        QCOMPARE(smooth.loss(batch, false).item<double>(), plain);
        at::Tensor scores = at::log_softmax(logitsOf(sharp, batch).reshape({-1, kTargetVocab}), 1)
                                .index_select(0, batch.tensors[4]);
        const double even = -scores.mean().item<double>();
        const double expected = 0.9 * plain + 0.1 * even;
        QVERIFY(std::abs(smooth.loss(batch, true).item<double>() - expected) < 1e-5 * expected);
    }

    void dropoutActsInTrainingOnly() {
        RunSpec spec = specOf();
        spec.model.dropout = 0.3;
        Translation model = makeModel(spec);
        const at::NoGradGuard noGrad;
        const Batch batch = makePairBatch(somePairs());
        QVERIFY(model.loss(batch, false).equal(model.loss(batch, false)));
        QVERIFY(!model.loss(batch, true).equal(model.loss(batch, true)));
    }

    void everyParameterGetsAGradient() {
        Translation model = makeModel(specOf(true));
        model.loss(makePairBatch(somePairs()), true).backward();
        for (const Parameter& parameter : model.parameters())
            QVERIFY2(parameter.value.grad().defined(), parameter.name.c_str());
    }

    void checkpointedActivationsGiveTheSameGradients_data() {
        QTest::addColumn<bool>("shared");
        QTest::addColumn<double>("dropout");
        QTest::newRow("separate, dropout") << false << 0.2;
        QTest::newRow("shared, dropout") << true << 0.2;
        QTest::newRow("shared, no dropout") << true << 0.0;
    }

    void checkpointedActivationsGiveTheSameGradients() {
        QFETCH(bool, shared);
        QFETCH(double, dropout);
        RunSpec spec = specOf(shared);
        spec.model.layers = 3;
        spec.model.dropout = dropout;
        Translation kept = makeModel(spec);
        spec.train.activationCheckpointing = true;
        Translation again = makeModel(spec);
        const Batch batch = makePairBatch(somePairs());
        QVERIFY(test::areEqual(test::lossAndGradients(again, batch),
                               test::lossAndGradients(kept, batch)));
    }

    void checkpointedActivationsNeedLessMemory() {
        RunSpec spec = specOf();
        spec.model.layers = 8;
        Translation kept = makeModel(spec);
        spec.train.activationCheckpointing = true;
        Translation again = makeModel(spec);
        const Batch batch = makePairBatch(std::vector<EncodedPair>(48, pairOf(20, 20)));
        const int64_t most = test::trainingPeak(kept, batch);
        const int64_t less = test::trainingPeak(again, batch);
        QVERIFY2(less * 3 < most, qPrintable(QString("%1 and %2 bytes").arg(less).arg(most)));
    }

    void greedyTranslationIsTheLikeliestTokenEveryTime() {
        const Translation model = makeModel();
        const auto pairs = somePairs();
        const Batch batch = makePairBatch(pairs);
        const auto found = translate(model, batch.tensors[0], batch.tensors[1], {12, 1, 1});
        QCOMPARE(found.size(), pairs.size());
        const at::Tensor none = at::empty({0}, at::kBool);
        for (size_t i = 0; i < pairs.size(); ++i) {
            const at::Tensor source = at::tensor(pairs[i].source, at::kLong).unsqueeze(0);
            const at::Tensor memory = model.encode(source, none, false);
            std::vector<int64_t> input{kPadId};
            std::vector<int32_t> expected;
            while (expected.size() < 12) {
                at::Tensor last =
                    model.logits(memory, none, at::tensor(input).unsqueeze(0), false)[0][-1]
                        .detach();
                last[kPadId] = -1e30;
                input.push_back(last.argmax().item<int64_t>());
                if (input.back() == kEndId)
                    break;
                expected.push_back(int32_t(input.back()));
            }
            QCOMPARE(found[i], expected);
        }
    }

    void greedyRowsThatEndEarlyLeaveTheOthersAlone() {
        const Translation model = makeModel(specOf(), 6);
        std::vector<EncodedPair> pairs;
        for (int i = 0; i < 24; ++i)
            pairs.push_back(pairOf(2 + i % 15, 2, uint64_t(i)));
        const Batch batch = makePairBatch(pairs);
        const auto together = translate(model, batch.tensors[0], batch.tensors[1], {20, 1, 1});
        std::set<size_t> lengths;
        for (size_t i = 0; i < pairs.size(); ++i) {
            const Batch alone = makePairBatch({pairs[i]});
            QCOMPARE(together[i],
                     translate(model, alone.tensors[0], alone.tensors[1], {20, 1, 1})[0]);
            lengths.insert(together[i].size());
        }
        QVERIFY(lengths.size() > 1);
    }

    void beamsWideEnoughFindTheBestOfAll_data() {
        QTest::addColumn<double>("lengthPenalty");
        QTest::newRow("sum") << 0.0;
        QTest::newRow("mean") << 1.0;
        QTest::newRow("long ones") << 2.0;
    }

    void beamsWideEnoughFindTheBestOfAll() {
        QFETCH(double, lengthPenalty);
        constexpr int64_t kVocab = 6;
        const Translation model = makeModel(specOf(), kVocab);
        const SearchSettings settings{3, 64, lengthPenalty};
        for (const uint64_t seed : {1, 2}) {
            const at::Tensor source = at::tensor(pairOf(7, 2, seed).source, at::kLong).unsqueeze(0);
            const Exhaustive exhaustive(model, source, kVocab, settings);
            QCOMPARE(translate(model, source, at::empty({0}, at::kBool), settings)[0],
                     exhaustive.best);
        }
    }

    void beamsOfABatchAreThoseOfEachSentence() {
        const Translation model = makeModel(specOf(), 8);
        const auto pairs = somePairs();
        const Batch batch = makePairBatch(pairs);
        const SearchSettings settings{15, 4, 1};
        const auto together = translate(model, batch.tensors[0], batch.tensors[1], settings);
        for (size_t i = 0; i < pairs.size(); ++i) {
            const Batch alone = makePairBatch({pairs[i]});
            QCOMPARE(together[i],
                     translate(model, alone.tensors[0], alone.tensors[1], settings)[0]);
        }
    }

    void translatingDisturbsNoGenerator() {
        const Translation model = makeModel();
        at::manual_seed(1);
        auto generator = at::detail::getDefaultCPUGenerator();
        const at::Tensor before = generator.get_state();
        const Batch batch = makePairBatch(somePairs());
        translate(model, batch.tensors[0], batch.tensors[1], {5, 3, 1});
        QVERIFY(generator.get_state().equal(before));
    }

    void configIsThatOfMarian() {
        const Translation model = makeModel();
        const auto config =
            QJsonDocument::fromJson(QByteArray::fromStdString(model.configJson())).object();
        QCOMPARE(config["model_type"].toString(), QString("marian"));
        QCOMPARE(config["decoder_vocab_size"].toInt(), int(kTargetVocab));
        QCOMPARE(config["decoder_start_token_id"].toInt(), kPadId);
        QCOMPARE(config["share_encoder_decoder_embeddings"].toBool(true), false);
    }
};

QTEST_GUILESS_MAIN(TestTranslation)
#include "tst_translation.moc"
