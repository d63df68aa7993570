// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/gpt.h"
#include "trainer/train/optim/adamw.h"
#include "trainer/train/optim/gradients.h"
#include "trainer/train/optim/schedule.h"

#include <QObject>
#include <QTest>

#include <ATen/ops/allclose.h>
#include <ATen/ops/randn_like.h>
#include <torch/optim/adamw.h>

#include <cmath>

using namespace rm;

namespace {

RunSpec smallSpec() {
    RunSpec spec;
    spec.model.layers = 1;
    spec.model.heads = 2;
    spec.model.width = 16;
    spec.model.context = 8;
    return spec;
}

std::unique_ptr<Gpt> smallModel() {
    auto model = std::make_unique<Gpt>(smallSpec().model, 32);
    at::manual_seed(7);
    model->initialize(at::globalContext().defaultGenerator(at::kCPU));
    return model;
}

/// Gradients of a known global norm, whose order of magnitude `scale` sets.
void setGradients(const std::vector<at::Tensor>& values, double scale) {
    for (at::Tensor value : values)
        value.mutable_grad() = at::randn_like(value.detach()) * scale;
}

double globalNorm(const std::vector<at::Tensor>& values) {
    double sum = 0;
    for (const at::Tensor& value : values)
        sum += value.grad().to(at::kDouble).square().sum().item<double>();
    return std::sqrt(sum);
}

} // namespace

class TestOptim : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void learningRateFollowsTheSchedule_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("step");
        QTest::addColumn<double>("expected");
        QTest::newRow("first") << "cosine" << 1 << 0.1;
        QTest::newRow("half of the warm-up") << "cosine" << 5 << 0.5;
        QTest::newRow("end of the warm-up") << "cosine" << 10 << 1.0;
        QTest::newRow("half of the cosine") << "cosine" << 60 << 0.6;
        QTest::newRow("end") << "cosine" << 110 << 0.2;
        QTest::newRow("beyond the end") << "cosine" << 150 << 0.2;
        QTest::newRow("constant, warm-up") << "constant" << 5 << 0.5;
        QTest::newRow("constant, end") << "constant" << 110 << 1.0;
    }

    void learningRateFollowsTheSchedule() {
        QFETCH(QString, type);
        QFETCH(int, step);
        QFETCH(double, expected);
        const RunSpec::Schedule schedule{type.toStdString(), 10, 0.2};
        QCOMPARE(learningRate(schedule, 1.0, step, 110), expected);
    }

    void leastRateIsNeverAboveTheRate() {
        const RunSpec::Schedule schedule{"cosine", 0, 0.5};
        QCOMPARE(learningRate(schedule, 0.1, 50, 100), 0.1);
    }

    void warmupAsLongAsTheRunIsFine() {
        const RunSpec::Schedule schedule{"cosine", 10, 0.0};
        QCOMPARE(learningRate(schedule, 1.0, 10, 10), 1.0);
    }

    void clippingScalesToTheFormula() {
        const auto model = smallModel();
        const auto values = parameterValues(*model);
        setGradients(values, 3.0);
        const double before = globalNorm(values);
        const at::Tensor first = values.front().grad().clone();
        const double reported = clipGradients(values, 1.5).item<double>();
        QVERIFY(std::abs(reported - before) < 1e-4 * before);
        QVERIFY(std::abs(globalNorm(values) - 1.5) < 1e-4);
        QVERIFY(at::allclose(values.front().grad(), first * (1.5 / (before + 1e-6))));
    }

    void smallGradientsAndNoClippingChangeNothing() {
        const auto model = smallModel();
        const auto values = parameterValues(*model);
        for (const double clip : {0.0, 1e9}) {
            setGradients(values, 1.0);
            const at::Tensor first = values.front().grad().clone();
            clipGradients(values, clip);
            QVERIFY(values.front().grad().equal(first));
        }
    }

    void updatesEqualTorchOptim() {
        const auto ours = smallModel();
        const auto theirs = smallModel();
        RunSpec::Optimizer settings;
        settings.weightDecay = 0.3;
        AdamW adamw(*ours, settings);

        std::vector<at::Tensor> matrices;
        std::vector<at::Tensor> rest;
        for (const Parameter& parameter : theirs->parameters())
            (parameter.value.dim() >= 2 ? matrices : rest).push_back(parameter.value);
        const auto group = [&](const std::vector<at::Tensor>& values, double decay) {
            auto options = std::make_unique<torch::optim::AdamWOptions>(1e-2);
            options->betas({settings.beta1, settings.beta2}).eps(settings.eps).weight_decay(decay);
            return torch::optim::OptimizerParamGroup(values, std::move(options));
        };
        torch::optim::AdamW reference({group(matrices, 0.3), group(rest, 0.0)},
                                      torch::optim::AdamWOptions(1e-2));

        const auto mine = parameterValues(*ours);
        const auto other = parameterValues(*theirs);
        for (int step = 0; step < 20; ++step) {
            setGradients(mine, 1.0);
            for (size_t i = 0; i < mine.size(); ++i)
                at::Tensor(other[i]).mutable_grad() = mine[i].grad().clone();
            adamw.step(1e-2);
            reference.step();
        }
        for (size_t i = 0; i < mine.size(); ++i)
            QVERIFY2(at::allclose(mine[i], other[i], 1e-5, 1e-7),
                     ours->parameters()[i].name.c_str());
        QCOMPARE(adamw.state()[2].tensor.item<float>(), 20.0f);
    }

    void onlyMatricesDecay() {
        const auto model = smallModel();
        for (const Parameter& parameter : model->parameters())
            QCOMPARE(parameter.decays, parameter.value.dim() >= 2);
    }
};

QTEST_GUILESS_MAIN(TestOptim)
#include "tst_optim.moc"
