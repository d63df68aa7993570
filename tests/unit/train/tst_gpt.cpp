// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/training_pass.h"
#include "trainer/train/workloads/gpt/gpt.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <set>

using namespace rm;

namespace {

constexpr int64_t kVocab = 50;

RunSpec::Model shape() {
    RunSpec::Model model;
    model.layers = 2;
    model.heads = 2;
    model.width = 16;
    model.context = 12;
    return model;
}

Gpt makeGpt(const RunSpec::Model& model = shape()) {
    Gpt gpt(model, kVocab);
    gpt.initialize(at::detail::createCPUGenerator(3));
    const at::NoGradGuard noGrad;
    for (const Parameter& parameter : gpt.parameters())
        at::Tensor(parameter.value).mul_(5); // far from uniform, so that differences show
    return gpt;
}

Gpt trained(const RunSpec::Model& model, bool checkpointsActivations) {
    RunSpec::Train train;
    train.activationCheckpointing = checkpointsActivations;
    Gpt gpt(model, kVocab, train);
    gpt.initialize(at::detail::createCPUGenerator(3));
    return gpt;
}

at::Tensor someIds(int64_t rows, int64_t count) {
    return at::randint(kVocab, {rows, count}, at::detail::createCPUGenerator(5), at::kLong);
}

} // namespace

class TestGpt : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void parametersHaveTheNamesAndShapesOfGpt2() {
        const Gpt gpt = makeGpt();
        QCOMPARE(gpt.parameters().size(), size_t{2 + 2 * 12 + 2});
        std::map<std::string, std::vector<int64_t>> shapes;
        for (const Parameter& parameter : gpt.parameters())
            shapes[parameter.name] = parameter.value.sizes().vec();
        using Shape = std::vector<int64_t>;
        QCOMPARE(shapes.at("transformer.wte.weight"), (Shape{kVocab, 16}));
        QCOMPARE(shapes.at("transformer.wpe.weight"), (Shape{12, 16}));
        QCOMPARE(shapes.at("transformer.h.1.attn.c_attn.weight"), (Shape{16, 48}));
        QCOMPARE(shapes.at("transformer.h.0.mlp.c_proj.weight"), (Shape{64, 16}));
        QCOMPARE(shapes.at("transformer.ln_f.bias"), (Shape{16}));
        QCOMPARE(shapes.contains("lm_head.weight"), false);
    }

    void freshModelKnowsNothing() {
        Gpt gpt(shape(), kVocab);
        gpt.initialize(at::detail::createCPUGenerator(3));
        const at::Tensor ids = someIds(4, 12);
        const double loss = gpt.loss({{ids, ids.roll(1, 1)}, 48}, false).item<double>();
        QVERIFY(std::abs(loss - std::log(static_cast<double>(kVocab))) < 0.1);
    }

    void laterTokensDoNotChangeEarlierOnes() {
        Gpt gpt = makeGpt();
        const at::NoGradGuard noGrad;
        const at::Tensor ids = someIds(1, 10);
        const at::Tensor before = gpt.logits(ids, false);
        at::Tensor changed = ids.clone();
        changed[0][7] = (changed[0][7].item<int64_t>() + 1) % kVocab;
        const at::Tensor after = gpt.logits(changed, false);
        QVERIFY(at::allclose(before.narrow(1, 0, 7), after.narrow(1, 0, 7)));
        QVERIFY(!at::allclose(before.narrow(1, 7, 1), after.narrow(1, 7, 1)));
    }

    void generatedTextIsAlikeWithEqualSeeds() {
        Gpt gpt = makeGpt();
        const auto first = gpt.generate({1, 2}, 40, {}, at::detail::createCPUGenerator(9));
        const auto again = gpt.generate({1, 2}, 40, {}, at::detail::createCPUGenerator(9));
        const auto other = gpt.generate({1, 2}, 40, {}, at::detail::createCPUGenerator(10));
        QCOMPARE(first.size(), size_t{40}); // also beyond the context of 12
        QCOMPARE(first, again);
        QVERIFY(first != other);
        for (const int32_t id : first)
            QVERIFY(id >= 0 && id < kVocab);
    }

    void generatingByCacheEqualsTheWholeForward() {
        Gpt gpt = makeGpt();
        const at::NoGradGuard noGrad;
        // Sharp enough for the likeliest token to be drawn every time.
        at::Tensor(gpt.parameters().front().value).mul_(40);
        std::vector<int32_t> text{4, 8};
        const auto made = gpt.generate(text, 9, {}, at::detail::createCPUGenerator(1));
        for (const int32_t id : made) {
            const std::vector<int64_t> wide(text.begin(), text.end());
            const at::Tensor ids = at::tensor(wide, at::kLong).unsqueeze(0);
            QCOMPARE(gpt.logits(ids, false)[0][-1].argmax().item<int64_t>(), int64_t{id});
            text.push_back(id);
        }
    }

    void generatingDisturbsNoOtherGenerator() {
        Gpt gpt = makeGpt();
        at::manual_seed(1);
        auto generator = at::detail::getDefaultCPUGenerator();
        const at::Tensor before = generator.get_state();
        gpt.generate({1}, 5, {}, at::detail::createCPUGenerator(2));
        QVERIFY(generator.get_state().equal(before));
    }

    void dropoutActsInTrainingOnly() {
        RunSpec::Model model = shape();
        model.dropout = 0.5;
        Gpt gpt = makeGpt(model);
        const at::NoGradGuard noGrad;
        const at::Tensor ids = someIds(2, 12);
        QVERIFY(gpt.logits(ids, false).equal(gpt.logits(ids, false)));
        QVERIFY(!gpt.logits(ids, true).equal(gpt.logits(ids, true)));
    }

    void feedForwardIsAsWideAsAsked() {
        RunSpec::Model model = shape();
        model.feedForward = 24;
        Gpt gpt = makeGpt(model);
        for (const Parameter& parameter : gpt.parameters())
            if (parameter.name == "transformer.h.1.mlp.c_fc.weight")
                QCOMPARE(parameter.value.sizes().vec(), (std::vector<int64_t>{16, 24}));
        const auto config =
            QJsonDocument::fromJson(QByteArray::fromStdString(gpt.configJson())).object();
        QCOMPARE(config["n_inner"].toInt(), 24);
        const at::Tensor ids = someIds(2, 12);
        QVERIFY(gpt.loss({{ids, ids}, 24}, true).requires_grad());
    }

    void smoothingActsInTrainingOnly() {
        RunSpec::Train train;
        train.labelSmoothing = 0.2;
        Gpt smooth(shape(), kVocab, train);
        Gpt plain(shape(), kVocab);
        for (Gpt* gpt : {&smooth, &plain})
            gpt->initialize(at::detail::createCPUGenerator(3));
        const at::Tensor ids = someIds(2, 12);
        const Batch batch{{ids, ids}, 24};
        QVERIFY(smooth.loss(batch, false).equal(plain.loss(batch, false)));
        QVERIFY(!smooth.loss(batch, true).equal(plain.loss(batch, true)));
    }

    void checkpointedActivationsGiveTheSameGradients() {
        RunSpec::Model model = shape();
        model.dropout = 0.2;
        Gpt kept = trained(model, false);
        Gpt again = trained(model, true);
        const at::Tensor ids = someIds(3, 12);
        const Batch batch{{ids, ids.roll(1, 1)}, 36};
        QVERIFY(test::areEqual(test::lossAndGradients(again, batch),
                               test::lossAndGradients(kept, batch)));
    }

    void checkpointedActivationsNeedLessMemory() {
        RunSpec::Model model = shape();
        model.layers = 8;
        Gpt kept = trained(model, false);
        Gpt again = trained(model, true);
        const at::Tensor ids = someIds(64, 12);
        const Batch batch{{ids, ids}, 64 * 12};
        const int64_t most = test::trainingPeak(kept, batch);
        const int64_t less = test::trainingPeak(again, batch);
        QVERIFY2(less * 3 < most, qPrintable(QString("%1 and %2 bytes").arg(less).arg(most)));
    }

    void promptLongerThanTheContextIsCut() {
        Gpt gpt = makeGpt();
        const std::vector<int32_t> prompt(100, 3);
        QCOMPARE(gpt.generate(prompt, 3, {}, at::detail::createCPUGenerator(1)).size(), size_t{3});
    }

    void configIsThatOfGpt2() {
        const Gpt gpt = makeGpt();
        const auto config =
            QJsonDocument::fromJson(QByteArray::fromStdString(gpt.configJson())).object();
        QCOMPARE(config["model_type"].toString(), QString("gpt2"));
        QCOMPARE(config["n_positions"].toInt(), 12);
        QCOMPARE(config["activation_function"].toString(), QString("gelu_new"));
    }

    void textsHaveNoEndsButThoseThatAreNamed() {
        Gpt gpt = makeGpt();
        const auto read = [](const std::string& json) {
            return QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
        };
        for (const QJsonObject& json :
             {read(gpt.configJson()), read(gpt.generationJson(5, Sampling{}))}) {
            QCOMPARE(json["bos_token_id"], QJsonValue(QJsonValue::Null));
            QCOMPARE(json["eos_token_id"], QJsonValue(QJsonValue::Null));
        }
        const std::string config = R"({"bos_token_id": 3, "eos_token_id": 50256})";
        const TextEnds ends = textEndsOf(config, kVocab);
        QCOMPARE(ends.begin, std::optional<int64_t>(3));
        QVERIFY(!ends.end); // the vocabulary has no such token
        gpt.setTextEnds({3, 4});
        QCOMPARE(read(gpt.configJson())["bos_token_id"], QJsonValue(3));
        QCOMPARE(read(gpt.generationJson(5, Sampling{}))["eos_token_id"], QJsonValue(4));
        QVERIFY(!textEndsOf("", kVocab).begin && !textEndsOf("[]", kVocab).end);
    }

    void likeliestTokenIsDrawnWhereNoOtherIsLeft() {
        const at::Tensor scores = at::tensor({0.5, 2.0, 1.9, -1.0}).unsqueeze(0);
        for (const Sampling& one : {Sampling{0, 0, 1}, Sampling{5, 1, 1}, Sampling{5, 0, 0}})
            for (uint64_t seed = 0; seed < 20; ++seed)
                QCOMPARE(drawToken(scores, one, at::detail::createCPUGenerator(seed)), 1);
    }

    void tokensThatTieStayTogether() {
        const at::Tensor scores = at::tensor({1.0, 3.0, 1.0, 0.0}).unsqueeze(0);
        const at::Tensor left = tokenProbabilities(scores, {1, 2, 1});
        QCOMPARE(left[0][0].item<float>(), left[0][2].item<float>());
        QVERIFY(left[0][0].item<float>() > 0);
        QCOMPARE(left[0][3].item<float>(), 0.0f);
    }

    void moreTokensThanThereAreMeansAll() {
        const at::Tensor scores = at::tensor({1.0, 3.0, 1.0, 0.0}).unsqueeze(0);
        QVERIFY(
            tokenProbabilities(scores, {0.7, 9, 1}).equal(tokenProbabilities(scores, {0.7, 0, 1})));
    }
};

QTEST_GUILESS_MAIN(TestGpt)
#include "tst_gpt.moc"
