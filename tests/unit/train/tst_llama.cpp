// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/training_pass.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/llama/llama.h"
#include "trainer/train/workloads/llama/llama_ops.h"
#include "trainer/train/workloads/registry.h"

#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>
#include <numbers>

using namespace rm;

namespace {

LlamaSettings shape() {
    LlamaSettings settings;
    settings.layers = 2;
    settings.width = 16;
    settings.heads = 4;
    settings.kvHeads = 2;
    settings.headDim = 4;
    settings.feedForward = 24;
    settings.context = 12;
    settings.vocab = 50;
    return settings;
}

/// Far from uniform, so that differences show.
Llama makeLlama(const LlamaSettings& settings = shape(), const RunSpec::Train& train = {}) {
    Llama llama(settings, train);
    llama.initialize(at::detail::createCPUGenerator(3));
    const at::NoGradGuard noGrad;
    for (const Parameter& parameter : llama.parameters())
        if (parameter.decays)
            at::Tensor(parameter.value).mul_(10);
    return llama;
}

at::Tensor someIds(int64_t rows, int64_t count) {
    return at::randint(shape().vocab, {rows, count}, at::detail::createCPUGenerator(5), at::kLong);
}

at::Tensor normal(at::IntArrayRef sizes, uint64_t seed) {
    return at::randn(sizes, at::detail::createCPUGenerator(seed), at::kFloat);
}

/// What `weights` would be if every head of queries had keys and values of its own.
Weights withHeadsExpanded(const Llama& llama) {
    const LlamaSettings settings = shape();
    Weights weights;
    for (const auto& [name, value, decays] : llama.parameters()) {
        at::Tensor tensor = value.detach();
        if (name.ends_with("k_proj.weight") || name.ends_with("v_proj.weight"))
            tensor = tensor.view({settings.kvHeads, settings.headDim, settings.width})
                         .repeat_interleave(settings.heads / settings.kvHeads, 0)
                         .reshape({-1, settings.width});
        weights.push_back({name, tensor});
    }
    return weights;
}

/// An operation of the blocks, of two matrices and a vector.
struct Operation {
    const char* name;
    at::Tensor (*run)(const at::Tensor& a, const at::Tensor& b, const at::Tensor& weight);
};

constexpr Operation kOperations[] = {
    {"norm", [](const at::Tensor& a, const at::Tensor& b,
                const at::Tensor& weight) { return rmsNorm(a, weight, 1e-5) * b; }},
    {"sum and norm",
     [](const at::Tensor& a, const at::Tensor& b, const at::Tensor& weight) {
         const NormedSum normed = addRmsNorm(a, b, weight, 1e-5);
         return normed.normed + normed.sum * 0.5;
     }},
    {"SwiGLU", [](const at::Tensor& a, const at::Tensor& b,
                  const at::Tensor& weight) { return swiGlu(3 * a, b) * weight; }},
    {"rotation",
     [](const at::Tensor& a, const at::Tensor& b, const at::Tensor& weight) {
         RotaryTable table(rotaryFrequencies(a.size(1) / 2, 100, {}));
         return rotated(a * weight, table.at(3, a.size(0) / 5, at::kCPU)) * b;
     }},
};

/// Of 200 rows of so many numbers; three of the gradients are of what went in.
std::vector<at::Tensor> resultAndGradients(const Operation& operation, int64_t columns,
                                           at::ScalarType type) {
    std::vector<at::Tensor> leaves;
    uint64_t seed = 1;
    for (const at::Tensor& values : {normal({200, columns}, seed++), normal({200, columns}, seed++),
                                     normal({columns}, seed++)})
        leaves.push_back(values.to(type).set_requires_grad(true));
    const at::Tensor out = operation.run(leaves[0], leaves[1], leaves[2]);
    (out * normal(out.sizes(), seed).to(type)).sum().backward();
    std::vector<at::Tensor> all{out.detach()};
    for (const at::Tensor& leaf : leaves)
        if (leaf.grad().defined())
            all.push_back(leaf.grad());
    return all;
}

/// Turns per token in float64, by the formulas of the papers.
double frequency(int64_t pair, int64_t headDim, double base, const RopeScaling& scaling) {
    const double plain =
        std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(headDim));
    if (scaling.kind == RopeScaling::Kind::kNone)
        return plain;
    if (scaling.kind == RopeScaling::Kind::kLinear)
        return plain / scaling.factor;
    const double turns =
        static_cast<double>(scaling.originalContext) * plain / (2 * std::numbers::pi);
    const double share = std::clamp(
        (turns - scaling.lowFrequency) / (scaling.highFrequency - scaling.lowFrequency), 0.0, 1.0);
    return plain * (share + (1 - share) / scaling.factor);
}

} // namespace

class TestLlama : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void parametersHaveTheNamesAndShapesOfTransformers() {
        const Llama llama = makeLlama();
        QCOMPARE(llama.parameters().size(), size_t{1 + 2 * 9 + 2});
        using Shape = std::vector<int64_t>;
        std::map<std::string, Shape> shapes;
        for (const Parameter& parameter : llama.parameters())
            shapes[parameter.name] = parameter.value.sizes().vec();
        QCOMPARE(shapes.at("model.embed_tokens.weight"), (Shape{50, 16}));
        QCOMPARE(shapes.at("model.layers.0.self_attn.q_proj.weight"), (Shape{16, 16}));
        QCOMPARE(shapes.at("model.layers.1.self_attn.k_proj.weight"), (Shape{8, 16}));
        QCOMPARE(shapes.at("model.layers.1.mlp.up_proj.weight"), (Shape{24, 16}));
        QCOMPARE(shapes.at("model.layers.1.mlp.down_proj.weight"), (Shape{16, 24}));
        QCOMPARE(shapes.at("model.norm.weight"), (Shape{16}));
        QCOMPARE(shapes.at("lm_head.weight"), (Shape{50, 16}));
    }

    void matricesDecayAndNormsDoNot() {
        const Llama llama = makeLlama();
        for (const Parameter& parameter : llama.parameters())
            QCOMPARE(parameter.decays, !parameter.name.ends_with("norm.weight"));
    }

    void tiedEmbeddingsAreOneMatrix() {
        LlamaSettings settings = shape();
        settings.tiesEmbeddings = true;
        QCOMPARE(Llama(settings).parameters().size(), shape().layers * size_t{9} + 2);
    }

    void freshModelKnowsNothing() {
        Llama llama(shape());
        llama.initialize(at::detail::createCPUGenerator(3));
        const at::Tensor ids = someIds(4, 12);
        const double loss = llama.loss({{ids, ids.roll(1, 1)}, 48}, false).item<double>();
        QVERIFY(std::abs(loss - std::log(50.0)) < 0.1);
    }

    void laterTokensDoNotChangeEarlierOnes() {
        Llama llama = makeLlama();
        const at::NoGradGuard noGrad;
        const at::Tensor ids = someIds(1, 10);
        const at::Tensor before = llama.logits(ids, false);
        at::Tensor changed = ids.clone();
        changed[0][7] = (changed[0][7].item<int64_t>() + 1) % shape().vocab;
        const at::Tensor after = llama.logits(changed, false);
        QVERIFY(at::allclose(before.narrow(1, 0, 7), after.narrow(1, 0, 7)));
        QVERIFY(!at::allclose(before.narrow(1, 7, 1), after.narrow(1, 7, 1)));
    }

    void rotaryAnglesAreThoseOfTheFormula_data() {
        QTest::addColumn<RopeScaling>("scaling");
        QTest::newRow("none") << RopeScaling{};
        QTest::newRow("linear") << RopeScaling{RopeScaling::Kind::kLinear, 2.5};
        QTest::newRow("llama3") << RopeScaling{RopeScaling::Kind::kLlama3, 8, 1, 4, 512};
    }

    void rotaryAnglesAreThoseOfTheFormula() {
        QFETCH(RopeScaling, scaling);
        constexpr int64_t kHeadDim = 64, kFirst = 90, kCount = 10;
        RotaryTable table(rotaryFrequencies(kHeadDim, 10000, scaling));
        const RotaryAngles angles = table.at(kFirst, kCount, at::kCPU);
        QCOMPARE(angles.sine.sizes().vec(), (std::vector<int64_t>{kCount, kHeadDim / 2}));
        for (int64_t i = 0; i < kCount; ++i)
            for (int64_t pair = 0; pair < kHeadDim / 2; ++pair) {
                const double angle =
                    static_cast<double>(kFirst + i) * frequency(pair, kHeadDim, 10000, scaling);
                QVERIFY(std::abs(angles.cosine[i][pair].item<double>() - std::cos(angle)) < 5e-5);
                QVERIFY(std::abs(angles.sine[i][pair].item<double>() - std::sin(angle)) < 5e-5);
            }
    }

    void rotationTurnsPairsThatAreHalfAHeadApart() {
        constexpr int64_t kHeadDim = 6;
        RotaryTable table(rotaryFrequencies(kHeadDim, 100, {}));
        const at::Tensor x = normal({2, 5, 3, kHeadDim}, 1);
        const at::Tensor turned =
            rotated(x.clone().view({10, -1}), table.at(0, 5, at::kCPU)).view(x.sizes());
        for (int64_t t = 0; t < 5; ++t)
            for (int64_t pair = 0; pair < kHeadDim / 2; ++pair) {
                const double angle = static_cast<double>(t) * frequency(pair, kHeadDim, 100, {});
                const double a = x[1][t][2][pair].item<double>();
                const double b = x[1][t][2][pair + kHeadDim / 2].item<double>();
                const double expected = b * std::cos(angle) + a * std::sin(angle);
                const double found = turned[1][t][2][pair + kHeadDim / 2].item<double>();
                QVERIFY(std::abs(found - expected) < 1e-5);
            }
    }

    void angleTableServesLongerTextsAndInferenceFirst() {
        RotaryTable table(rotaryFrequencies(4, 100, {}));
        {
            const at::InferenceMode inference;
            table.at(0, 3, at::kCPU);
        }
        const at::Tensor x = normal({3, 4}, 1).set_requires_grad(true);
        (rotated(x * 2, table.at(0, 3, at::kCPU)) * 3).sum().backward();
        QVERIFY(x.grad().defined());
        const at::Tensor early = table.at(2, 1, at::kCPU).cosine.clone();
        QCOMPARE(table.at(2, 9, at::kCPU).cosine.size(0), int64_t{9});
        QVERIFY(table.at(2, 1, at::kCPU).cosine.equal(early));
    }

    void normIsByTheRootMeanSquare() {
        const at::Tensor x = normal({7, 10}, 1), weight = normal({10}, 2);
        const at::Tensor wide = x.to(at::kDouble);
        const at::Tensor expected =
            wide / (wide.pow(2).mean(1, true) + 0.1).sqrt() * weight.to(at::kDouble);
        QVERIFY(at::allclose(rmsNorm(x, weight, 0.1).to(at::kDouble), expected, 1e-5, 1e-6));
        const NormedSum normed = addRmsNorm(x, x, weight, 0.1);
        QVERIFY(at::allclose(normed.sum, 2 * x));
        QVERIFY(at::allclose(normed.normed, rmsNorm(2 * x, weight, 0.1)));
    }

    void operationsHaveTheGradientsOfTheirFormulas_data() {
        QTest::addColumn<int>("operation");
        for (size_t i = 0; i < std::size(kOperations); ++i)
            QTest::newRow(kOperations[i].name) << static_cast<int>(i);
    }

    /// In float32 by kernels, where the processor has what they need; in float64 by ATen.
    void operationsHaveTheGradientsOfTheirFormulas() {
        QFETCH(int, operation);
        const Operation& tried = kOperations[operation];
        for (const int64_t columns : {8, 68, 128}) {
            const auto ours = resultAndGradients(tried, columns, at::kFloat);
            const auto exact = resultAndGradients(tried, columns, at::kDouble);
            QCOMPARE(ours.size(), exact.size());
            for (size_t i = 0; i < ours.size(); ++i)
                QVERIFY((ours[i] - exact[i]).norm().item<double>() <
                        3e-6 * exact[i].norm().item<double>());
        }
    }

    void operationsGiveTheSameForAnyNumberOfThreads() {
        const int threads = at::get_num_threads();
        for (const Operation& tried : kOperations) {
            at::set_num_threads(1);
            const auto alone = resultAndGradients(tried, 512, at::kFloat);
            at::set_num_threads(3);
            const auto together = resultAndGradients(tried, 512, at::kFloat);
            at::set_num_threads(threads);
            QVERIFY2(test::areEqual(alone, together), tried.name);
        }
    }

    void activationsOfAnySizeStayFinite() {
        const at::Tensor gate = at::tensor({-1e30F, -200.0F, -88.0F, 0.0F, 88.0F, 200.0F, 1e30F});
        const at::Tensor made = swiGlu(gate.view({1, -1}), at::ones({1, 7}));
        const at::Tensor expected = at::tensor({0.0F, 0.0F, 0.0F, 0.0F, 88.0F, 200.0F, 1e30F});
        QVERIFY(at::allclose(made.view({-1}), expected));
    }

    void groupedHeadsEqualExpandedOnes() {
        Llama grouped = makeLlama();
        LlamaSettings settings = shape();
        settings.kvHeads = settings.heads;
        Llama expanded(settings);
        QVERIFY(fillModel(expanded, withHeadsExpanded(grouped), "a test"));
        const at::NoGradGuard noGrad;
        const at::Tensor ids = someIds(3, 12);
        QVERIFY(at::allclose(grouped.logits(ids, false), expanded.logits(ids, false), 1e-4, 1e-5));
    }

    void generatedTextIsAlikeWithEqualSeeds() {
        Llama llama = makeLlama();
        const auto first = llama.generate({1, 2}, 40, {}, at::detail::createCPUGenerator(9));
        const auto again = llama.generate({1, 2}, 40, {}, at::detail::createCPUGenerator(9));
        const auto other = llama.generate({1, 2}, 40, {}, at::detail::createCPUGenerator(10));
        QCOMPARE(first.size(), size_t{40}); // also beyond the context of 12
        QCOMPARE(first, again);
        QVERIFY(first != other);
    }

    void generatingByCacheEqualsTheWholeForward() {
        Llama llama = makeLlama();
        const at::NoGradGuard noGrad;
        std::vector<int32_t> text{4, 8};
        const auto made =
            llama.generate(text, 10, {.temperature = 0}, at::detail::createCPUGenerator(1));
        for (const int32_t id : made) {
            const std::vector<int64_t> wide(text.begin(), text.end());
            const at::Tensor ids = at::tensor(wide, at::kLong).unsqueeze(0);
            QCOMPARE(llama.logits(ids, false)[0][-1].argmax().item<int64_t>(), int64_t{id});
            text.push_back(id);
        }
    }

    void promptLongerThanTheContextIsCut() {
        Llama llama = makeLlama();
        const std::vector<int32_t> prompt(100, 3);
        const auto made = llama.generate(prompt, 3, {}, at::detail::createCPUGenerator(1));
        QCOMPARE(made.size(), size_t{3});
    }

    void attentionDropoutActsInTrainingOnly() {
        LlamaSettings settings = shape();
        settings.attentionDropout = 0.5;
        Llama llama = makeLlama(settings);
        const at::NoGradGuard noGrad;
        const at::Tensor ids = someIds(2, 12);
        QVERIFY(llama.logits(ids, false).equal(llama.logits(ids, false)));
        QVERIFY(!llama.logits(ids, true).equal(llama.logits(ids, true)));
    }

    void checkpointedActivationsGiveTheSameGradients() {
        LlamaSettings settings = shape();
        settings.attentionDropout = 0.2;
        RunSpec::Train train;
        Llama kept = makeLlama(settings, train);
        train.activationCheckpointing = true;
        Llama again = makeLlama(settings, train);
        const at::Tensor ids = someIds(3, 12);
        const Batch batch{{ids, ids.roll(1, 1)}, 36};
        QVERIFY(test::areEqual(test::lossAndGradients(again, batch),
                               test::lossAndGradients(kept, batch)));
    }

    void checkpointedActivationsNeedLessMemory() {
        LlamaSettings settings = shape();
        settings.layers = 8;
        RunSpec::Train train;
        Llama kept = makeLlama(settings, train);
        train.activationCheckpointing = true;
        Llama again = makeLlama(settings, train);
        const at::Tensor ids = someIds(64, 12);
        const Batch batch{{ids, ids}, 64 * 12};
        const int64_t most = test::trainingPeak(kept, batch);
        const int64_t less = test::trainingPeak(again, batch);
        QVERIFY2(less * 3 < most, qPrintable(QString("%1 and %2 bytes").arg(less).arg(most)));
    }

    void smoothingActsInTrainingOnly() {
        RunSpec::Train train;
        train.labelSmoothing = 0.2;
        Llama smooth = makeLlama(shape(), train);
        Llama plain = makeLlama();
        const at::Tensor ids = someIds(2, 12);
        const Batch batch{{ids, ids}, 24};
        QVERIFY(smooth.loss(batch, false).equal(plain.loss(batch, false)));
        QVERIFY(!smooth.loss(batch, true).equal(plain.loss(batch, true)));
    }

    void tiedOutputMayBeAbsentOrEqualOrAlone() {
        RunSpec tied, separate;
        tied.model.type = separate.model.type = "llama";
        tied.model.tieEmbeddings = true;
        const auto taken = [](const RunSpec& spec, Weights weights) {
            return workloadOf(spec).withOurNames(spec, std::move(weights), "a folder");
        };
        const at::Tensor x = normal({3, 2}, 1);
        const char* embedding = "model.embed_tokens.weight";
        const char* output = "lm_head.weight";
        for (const Weights& weights :
             {Weights{{embedding, x}}, Weights{{output, x}},
              Weights{{output, x.clone()}, {embedding, x}},
              Weights{{embedding, x}, {"model.layers.0.self_attn.rotary_emb.inv_freq", x}}}) {
            const auto ours = taken(tied, weights);
            QVERIFY(ours);
            QCOMPARE(ours->size(), size_t{1});
            QCOMPARE(ours->front().name, std::string(embedding));
        }
        const auto differs = taken(tied, {{embedding, x}, {output, 2 * x}});
        QVERIFY(!differs);
        QVERIFY(differs.error().message.find("a folder") != std::string::npos &&
                differs.error().message.find("lm_head.weight") != std::string::npos);
        QCOMPARE(taken(separate, {{embedding, x}, {output, 2 * x}})->size(), size_t{2});
    }

    void weightsThatDoNotFitAreNamed() {
        const Llama llama = makeLlama();
        Weights weights = withHeadsExpanded(llama);
        std::erase_if(weights,
                      [](const Weight& weight) { return weight.name == "lm_head.weight"; });
        weights.push_back({"model.extra", at::zeros({1})});
        const auto filled = fillModel(llama, weights, "a folder");
        QVERIFY(!filled);
        for (const char* part : {"missing: lm_head.weight", "not the model's: model.extra",
                                 "model.layers.0.self_attn.k_proj.weight (it is (16, 16), the "
                                 "model's (8, 16))"})
            QVERIFY2(filled.error().message.find(part) != std::string::npos,
                     filled.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestLlama)
#include "tst_llama.moc"
