// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/toy_model.h"
#include "trainer/train/model/gradients.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/schedule.h"
#include "trainer/train/optim/updater.h"

#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kDecay = 0.3;
constexpr double kLr = 1e-2;
constexpr int kSteps = 25;

const World kAlone;

RunSpec::Optimizer settingsOf(const char* type, double momentum = 0.9, bool nesterov = false) {
    RunSpec::Optimizer settings;
    settings.type = type;
    settings.momentum = momentum;
    settings.nesterov = nesterov;
    settings.weightDecay = kDecay;
    return settings;
}

/// torch::optim's options for what we were asked to do.
template <class Options>
std::unique_ptr<Options> optionsOf(const RunSpec::Optimizer& settings, double decay) {
    auto options = std::make_unique<Options>(kLr);
    options->weight_decay(decay);
    if constexpr (std::is_same_v<Options, torch::optim::SGDOptions>)
        options->momentum(settings.momentum).nesterov(settings.nesterov);
    else
        options->betas({settings.beta1, settings.beta2}).eps(settings.eps);
    return options;
}

template <class Reference, class Options>
std::unique_ptr<torch::optim::Optimizer> referenceOf(const Model& model,
                                                     const RunSpec::Optimizer& settings) {
    std::vector<at::Tensor> matrices;
    std::vector<at::Tensor> rest;
    for (const Parameter& parameter : model.parameters())
        (parameter.value.dim() >= 2 ? matrices : rest).push_back(parameter.value);
    using Group = torch::optim::OptimizerParamGroup;
    return std::make_unique<Reference>(
        std::vector<Group>{Group(matrices, optionsOf<Options>(settings, kDecay)),
                           Group(rest, optionsOf<Options>(settings, 0.0))},
        *optionsOf<Options>(settings, kDecay));
}

std::unique_ptr<torch::optim::Optimizer> reference(const Model& model,
                                                   const RunSpec::Optimizer& settings) {
    using namespace torch::optim;
    if (settings.type == "sgd")
        return referenceOf<SGD, SGDOptions>(model, settings);
    if (settings.type == "adam")
        return referenceOf<Adam, AdamOptions>(model, settings);
    return referenceOf<AdamW, AdamWOptions>(model, settings);
}

double globalNorm(const std::vector<at::Tensor>& gradients) {
    double sum = 0;
    for (const at::Tensor& gradient : gradients)
        sum += gradient.to(at::kDouble).square().sum().item<double>();
    return std::sqrt(sum);
}

std::vector<at::Tensor> statesOf(const Optimizer& optimizer) {
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& one : optimizer.collectState())
        tensors.push_back(one.tensor);
    return tensors;
}

void addRules() {
    QTest::addColumn<QString>("type");
    QTest::addColumn<double>("momentum");
    QTest::addColumn<bool>("nesterov");
    QTest::newRow("adamw") << "adamw" << 0.0 << false;
    QTest::newRow("adam") << "adam" << 0.0 << false;
    QTest::newRow("sgd") << "sgd" << 0.0 << false;
    QTest::newRow("sgd, momentum") << "sgd" << 0.9 << false;
    QTest::newRow("sgd, Nesterov") << "sgd" << 0.9 << true;
}

RunSpec::Optimizer fetchedSettings() {
    QFETCH(QString, type);
    QFETCH(double, momentum);
    QFETCH(bool, nesterov);
    return settingsOf(qPrintable(type), momentum, nesterov);
}

} // namespace

class TestOptim : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void channelsLastIsUpdatedAsContiguousIs_data() {
        QTest::addColumn<QString>("type");
        for (const char* type : {"sgd", "adamw"})
            QTest::newRow(type) << QString(type);
    }

    void channelsLastIsUpdatedAsContiguousIs() {
        QFETCH(QString, type);
        const at::Tensor first = at::randn({6, 5, 3, 3}, at::detail::createCPUGenerator(1));
        const at::Tensor gradient = at::randn({6, 5, 3, 3}, at::detail::createCPUGenerator(2));
        std::vector<at::Tensor> results;
        for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
            const at::Tensor value = first.clone(format);
            Updater updater(settingsOf(type.toLatin1()), at::kCPU);
            std::vector<at::Tensor> states;
            for (size_t i = 0; i < updater.stateNames().size(); ++i)
                states.push_back(at::zeros_like(value));
            updater.add(value, states, true);
            updater.step({gradient.clone(format)}, kLr, {});
            updater.step({gradient.clone()}, kLr, {}); // also laid out otherwise than its value
            results.push_back(value);
        }
        QVERIFY(!first.allclose(results[0]));
        QVERIFY(results[1].allclose(results[0], 1e-6, 1e-6));
    }

    void learningRateFollowsTheSchedule_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("step");
        QTest::addColumn<double>("expected");
        for (const char* type : {"constant", "step", "cosine", "inverse-sqrt", "linear", "wsd"}) {
            QTest::addRow("%s, first", type) << type << 1 << 0.1;
            QTest::addRow("%s, half of the warm-up", type) << type << 5 << 0.5;
            QTest::addRow("%s, end of the warm-up", type) << type << 10 << 1.0;
        }
        QTest::newRow("constant, end") << "constant" << 110 << 1.0;
        QTest::newRow("step, last before a drop") << "step" << 40 << 1.0;
        QTest::newRow("step, dropped") << "step" << 41 << 0.25;
        QTest::newRow("step, dropped twice") << "step" << 71 << 0.0625;
        QTest::newRow("cosine, half") << "cosine" << 60 << 0.6;
        QTest::newRow("cosine, end") << "cosine" << 110 << 0.2;
        QTest::newRow("cosine, beyond the end") << "cosine" << 150 << 0.2;
        QTest::newRow("inverse-sqrt, four times the warm-up") << "inverse-sqrt" << 40 << 0.5;
        QTest::newRow("inverse-sqrt, end") << "inverse-sqrt" << 110 << std::sqrt(10.0 / 110.0);
        QTest::newRow("linear, a quarter") << "linear" << 35 << 0.8;
        QTest::newRow("linear, end") << "linear" << 110 << 0.2;
        QTest::newRow("linear, beyond the end") << "linear" << 150 << 0.2;
        QTest::newRow("wsd, stable") << "wsd" << 90 << 1.0;
        QTest::newRow("wsd, half of the decay") << "wsd" << 100 << 0.6;
        QTest::newRow("wsd, end") << "wsd" << 110 << 0.2;
    }

    void learningRateFollowsTheSchedule() {
        QFETCH(QString, type);
        QFETCH(int, step);
        QFETCH(double, expected);
        const RunSpec::Schedule schedule{type.toStdString(), 10, 0.2, 30, 0.25, 20};
        const double rate = learningRate(schedule, 1.0, step, 110);
        QVERIFY2(std::abs(rate - expected) < 1e-12, qPrintable(QString::number(rate, 'g', 15)));
    }

    void leastRateIsNeverAboveTheRate() {
        for (const char* type : {"cosine", "linear", "wsd"}) {
            const RunSpec::Schedule schedule{type, 0, 0.5, 1000, 0.1, 60};
            QCOMPARE(learningRate(schedule, 0.1, 50, 100), 0.1);
        }
    }

    void warmupAsLongAsTheRunIsFine() {
        for (const char* type : {"constant", "step", "cosine", "inverse-sqrt", "linear", "wsd"}) {
            const RunSpec::Schedule schedule{type, 10, 0.0, 1000, 0.1, 0};
            QCOMPARE(learningRate(schedule, 1.0, 10, 10), 1.0);
        }
    }

    void withoutWarmupTheFirstStepHasTheWholeRate() {
        for (const char* type : {"constant", "step", "inverse-sqrt", "wsd"}) {
            const RunSpec::Schedule schedule{type, 0, 0.0, 1000, 0.1, 10};
            QCOMPARE(learningRate(schedule, 1.0, 1, 100), 1.0);
        }
    }

    void clippingDividesToTheFormula() {
        const auto model = toyModel(7);
        setGradients(*model, 3.0);
        const auto optimizer = makeOptimizer(*model, settingsOf("adamw"), kAlone, nullptr);
        const double before = globalNorm(optimizer->gradients());
        const double norm = optimizer->gradientNorm().item<double>();
        QVERIFY(std::abs(norm - before) < 1e-5 * before);
        const double divisor = clippingDivisor(optimizer->gradientNorm(), 1.5).item<double>();
        QVERIFY(std::abs(divisor - (before + 1e-6) / 1.5) < 1e-5 * divisor);
    }

    void smallGradientsAreDividedByOne() {
        QCOMPARE(clippingDivisor(at::full({}, 0.5), 1.0).item<double>(), 1.0);
        QCOMPARE(clippingDivisor(at::full({}, 0.0), 1.0).item<double>(), 1.0);
    }

    void clampingHoldsEveryElement() {
        const auto model = toyModel(7);
        setGradients(*model, 3.0);
        const auto gradients = gradientsOf(parameterValues(*model));
        const auto before = copyOf(gradients);
        clampGradients(gradients, 0.5);
        for (size_t i = 0; i < gradients.size(); ++i)
            QVERIFY(gradients[i].equal(before[i].clamp(-0.5, 0.5)));
    }

    void updatesEqualTorchOptim_data() { addRules(); }

    void updatesEqualTorchOptim() {
        const RunSpec::Optimizer settings = fetchedSettings();
        const auto ours = toyModel(3);
        const auto theirs = toyModel(3);
        const auto optimizer = makeOptimizer(*ours, settings, kAlone, nullptr);
        const auto other = reference(*theirs, settings);
        for (int step = 0; step < kSteps; ++step) {
            setGradients(*ours, 1.0);
            for (size_t i = 0; i < ours->parameters().size(); ++i)
                theirs->parameters()[i].value.mutable_grad() =
                    ours->parameters()[i].value.grad().clone();
            optimizer->step(kLr);
            other->step();
        }
        for (size_t i = 0; i < ours->parameters().size(); ++i)
            QVERIFY2(at::allclose(ours->parameters()[i].value, theirs->parameters()[i].value, 1e-5,
                                  1e-7),
                     ours->parameters()[i].name.c_str());
    }

    void heldBackUpdateChangesNothing_data() { addRules(); }

    void heldBackUpdateChangesNothing() {
        const auto model = toyModel(3);
        const auto optimizer = makeOptimizer(*model, fetchedSettings(), kAlone, nullptr);
        setGradients(*model, 1.0);
        optimizer->step(kLr);
        const auto values = copyOf(parameterValues(*model));
        const auto states = copyOf(statesOf(*optimizer));
        setGradients(*model, std::numeric_limits<double>::infinity());
        optimizer->step(kLr, {at::full({}, 4.0), at::full({}, 1.0)});
        QVERIFY(areEqual(parameterValues(*model), values));
        QVERIFY(areEqual(statesOf(*optimizer), states));
        setGradients(*model, 1.0);
        optimizer->step(kLr, {{}, at::full({}, 0.0)});
        QVERIFY(!areEqual(parameterValues(*model), values));
    }

    void divisorDividesTheGradients_data() { addRules(); }

    void divisorDividesTheGradients() {
        const RunSpec::Optimizer settings = fetchedSettings();
        const auto one = toyModel(3);
        const auto two = toyModel(3);
        setGradients(*one, 1.0);
        for (size_t i = 0; i < one->parameters().size(); ++i)
            two->parameters()[i].value.mutable_grad() = one->parameters()[i].value.grad() / 8;
        makeOptimizer(*one, settings, kAlone, nullptr)->step(kLr, {at::full({}, 8.0), {}});
        makeOptimizer(*two, settings, kAlone, nullptr)->step(kLr);
        QVERIFY(areEqual(parameterValues(*one), parameterValues(*two)));
    }

    void statesHaveTorchOptimsNames_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<double>("momentum");
        QTest::addColumn<QStringList>("names");
        QTest::newRow("adamw") << "adamw" << 0.9 << QStringList{"exp_avg", "exp_avg_sq", "step"};
        QTest::newRow("adam") << "adam" << 0.9 << QStringList{"exp_avg", "exp_avg_sq", "step"};
        QTest::newRow("sgd") << "sgd" << 0.9 << QStringList{"momentum_buffer"};
        QTest::newRow("sgd without momentum") << "sgd" << 0.0 << QStringList{};
    }

    void statesHaveTorchOptimsNames() {
        QFETCH(QString, type);
        QFETCH(double, momentum);
        QFETCH(QStringList, names);
        const auto model = toyModel(3);
        const auto optimizer =
            makeOptimizer(*model, settingsOf(qPrintable(type), momentum), kAlone, nullptr);
        QStringList expected;
        for (const Parameter& parameter : model->parameters())
            for (const QString& name : names)
                expected << QString::fromStdString(parameter.name) + "." + name;
        QStringList found;
        for (const NamedTensor& one : optimizer->collectState())
            found << QString::fromStdString(one.name);
        QCOMPARE(found, expected);
        const auto shapes = optimizer->stateShapes();
        QCOMPARE(shapes.size(), size_t(expected.size()));
        for (size_t i = 0; i < shapes.size(); ++i)
            QCOMPARE(shapes[i].shape, optimizer->collectState()[i].tensor.sizes().vec());
    }

    void loadedStateGoesOnAlike_data() { addRules(); }

    void loadedStateGoesOnAlike() {
        const RunSpec::Optimizer settings = fetchedSettings();
        const auto one = toyModel(3);
        const auto two = toyModel(3);
        const auto first = makeOptimizer(*one, settings, kAlone, nullptr);
        setGradients(*one, 1.0);
        first->step(kLr);
        const auto second = makeOptimizer(*two, settings, kAlone, nullptr);
        second->loadState([&](const std::string& name) {
            for (const NamedTensor& state : first->collectState())
                if (state.name == name)
                    return state.tensor.clone();
            return at::Tensor();
        });
        for (size_t i = 0; i < one->parameters().size(); ++i) {
            two->parameters()[i].value.detach().copy_(one->parameters()[i].value.detach());
            two->parameters()[i].value.mutable_grad() = one->parameters()[i].value.grad().clone();
        }
        first->step(kLr);
        second->step(kLr);
        QVERIFY(areEqual(parameterValues(*one), parameterValues(*two)));
    }

    void onlyMatricesDecay() {
        const auto model = toyModel(3);
        for (const Parameter& parameter : model->parameters())
            QCOMPARE(parameter.decays, parameter.value.dim() >= 2);
    }
};

QTEST_GUILESS_MAIN(TestOptim)
#include "tst_optim.moc"
