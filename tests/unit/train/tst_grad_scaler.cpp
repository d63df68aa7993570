// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/toy_model.h"
#include "trainer/train/loop/watch.h"
#include "trainer/train/model/gradients.h"
#include "trainer/train/optim/grad_scaler.h"
#include "trainer/train/optim/weight_average.h"

#include <QObject>
#include <QTest>

#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kLr = 1e-2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

const World kAlone;
using Mode = GradScaler::Mode;

/// A model, its optimizer and a scaler before it.
struct Bench {
    explicit Bench(bool scalesLoss, Mode mode)
        : scaler(at::kCPU, scalesLoss, mode) {}

    double update(double gradients, double clip = 0, double clipValue = 0) {
        setGradients(*model, gradients);
        return scaler.update(*optimizer, kLr, clip, clipValue).item<double>();
    }

    std::unique_ptr<ToyModel> model = toyModel(3);
    std::unique_ptr<Optimizer> optimizer =
        makeOptimizer(*model, RunSpec::Optimizer{}, kAlone, nullptr);
    GradScaler scaler;
};

} // namespace

class TestGradScaler : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void seedIsWeightTimesScale() {
        QCOMPARE(
            GradScaler(at::kCPU, false, Mode::kSkips).seed(at::full({}, 3.0), 0.25).item<float>(),
            0.25f);
        QCOMPARE(
            GradScaler(at::kCPU, true, Mode::kSkips).seed(at::full({}, 3.0), 0.25).item<float>(),
            0.25f * 65536.0f);
    }

    void lossThatIsNotFiniteSpoilsEveryGradient() {
        const GradScaler scaler(at::kCPU, false, Mode::kSkips);
        for (const double loss : {kInfinity, -kInfinity, kNan})
            QVERIFY(std::isnan(scaler.seed(at::full({}, loss), 1.0).item<float>()));
    }

    void skippingGateLetsTheNextStepThrough() {
        Bench bench(false, Mode::kSkips);
        const auto before = copyOf(parameterValues(*bench.model));
        QVERIFY(!std::isfinite(bench.update(kInfinity)));
        QVERIFY(areEqual(parameterValues(*bench.model), before));
        QCOMPARE(bench.scaler.skipped(), 1);
        QVERIFY(!bench.scaler.seenShut() && !bench.scaler.isShut());
        bench.update(1.0);
        QVERIFY(!areEqual(parameterValues(*bench.model), before));
        QCOMPARE(bench.scaler.skipped(), 1);
    }

    void shutGateStaysShutUntilOpened() {
        Bench bench(false, Mode::kStaysShut);
        bench.update(1.0);
        const auto before = copyOf(parameterValues(*bench.model));
        bench.update(kNan);
        bench.update(1.0);
        QVERIFY(areEqual(parameterValues(*bench.model), before));
        QVERIFY(bench.scaler.seenShut() && bench.scaler.isShut());
        QCOMPARE(bench.scaler.heldSinceOpen(), 2);
        bench.scaler.open();
        QVERIFY(!bench.scaler.seenShut() && !bench.scaler.isShut());
        QCOMPARE(bench.scaler.heldSinceOpen(), 0);
        bench.update(1.0);
        QVERIFY(!areEqual(parameterValues(*bench.model), before));
        QCOMPARE(bench.scaler.skipped(), 2);
    }

    // torch.amp.GradScaler: half after a step that is not finite, twice after 2000 that are.
    void lossScaleFollowsGradScaler() {
        Bench bench(true, Mode::kSkips);
        QCOMPARE(bench.scaler.lossScale(), 65536.0);
        bench.update(kInfinity);
        bench.update(kNan);
        QCOMPARE(bench.scaler.lossScale(), 16384.0);
        for (int step = 0; step < 1999; ++step)
            bench.update(1.0);
        QCOMPARE(bench.scaler.lossScale(), 16384.0);
        QCOMPARE(bench.scaler.state().finiteSteps, 1999);
        bench.update(1.0);
        QCOMPARE(bench.scaler.lossScale(), 32768.0);
        QCOMPARE(bench.scaler.state().finiteSteps, 0);
    }

    void scaledGradientsMakeTheSameUpdate_data() {
        QTest::addColumn<double>("clip");
        QTest::addColumn<double>("clipValue");
        QTest::newRow("no clipping") << 0.0 << 0.0;
        QTest::newRow("by norm") << 0.5 << 0.0;
        QTest::newRow("by value") << 0.0 << 0.25;
        QTest::newRow("by both") << 0.5 << 0.25;
    }

    void scaledGradientsMakeTheSameUpdate() {
        QFETCH(double, clip);
        QFETCH(double, clipValue);
        Bench plain(false, Mode::kSkips);
        Bench scaled(true, Mode::kSkips);
        setGradients(*plain.model, 1.0);
        for (size_t i = 0; i < plain.model->parameters().size(); ++i)
            scaled.model->parameters()[i].value.mutable_grad() =
                plain.model->parameters()[i].value.grad() * 65536.0;
        const at::Tensor one = plain.scaler.update(*plain.optimizer, kLr, clip, clipValue);
        const at::Tensor two = scaled.scaler.update(*scaled.optimizer, kLr, clip, clipValue);
        QVERIFY(at::allclose(one, two, 1e-6));
        for (size_t i = 0; i < plain.model->parameters().size(); ++i)
            QVERIFY(at::allclose(plain.model->parameters()[i].value,
                                 scaled.model->parameters()[i].value, 1e-6, 1e-8));
    }

    void clippingByValueDoesNotHideInfinity() {
        Bench bench(false, Mode::kSkips);
        const auto before = copyOf(parameterValues(*bench.model));
        bench.update(kInfinity, 1.0, 0.5);
        QVERIFY(areEqual(parameterValues(*bench.model), before));
    }

    void stateComesBack() {
        GradScaler scaler(at::kCPU, true, Mode::kSkips);
        const GradScaler::State state{1024.0, 17, 5};
        scaler.restore(state);
        QCOMPARE(scaler.state(), state);
    }

    void averageFollowsTheFormula() {
        const auto model = toyModel(3);
        WeightAverage average(*model, 0.9);
        at::Tensor expected = model->parameters()[0].value.detach().clone();
        for (int step = 0; step < 20; ++step) {
            const at::NoGradGuard noGrad;
            for (const Parameter& parameter : model->parameters())
                parameter.value.detach().add_(0.1 * step);
            average.update();
            expected = expected * 0.9 + model->parameters()[0].value.detach() * 0.1;
        }
        QVERIFY(at::allclose(average.values()[0], expected, 1e-5, 1e-6));
    }

    void averagesAreInTheModelForAWhileOnly() {
        const auto model = toyModel(3);
        WeightAverage average(*model, 0.5);
        const auto averages = copyOf(parameterValues(*model));
        for (const Parameter& parameter : model->parameters())
            parameter.value.detach().add_(1.0);
        const auto weights = copyOf(parameterValues(*model));
        {
            const WeightAverage::InModel averaged(&average);
            QVERIFY(areEqual(parameterValues(*model), averages));
            QVERIFY(areEqual(average.values(), weights));
        }
        QVERIFY(areEqual(parameterValues(*model), weights));
        QVERIFY(areEqual(average.values(), averages));
        const WeightAverage::InModel none(nullptr);
        QVERIFY(areEqual(parameterValues(*model), weights));
    }

    void fewerErrorsAreBetterAndMoreOfAnythingElse() {
        for (const char* name : {"loss", "cer", "wer"}) {
            const Watch watch(name);
            QVERIFY(watch.isBetter(1.0, 2.0) && !watch.isBetter(2.0, 1.0));
            QVERIFY(!watch.isBetter(1.0, 1.0));
        }
        for (const char* name : {"bleu", "chrf", "top1", "top5"}) {
            const Watch watch(name);
            QVERIFY(watch.isBetter(2.0, 1.0) && !watch.isBetter(1.0, 2.0));
            QVERIFY(watch.isBetter(1.0, kNan) && !watch.isBetter(kNan, 1.0));
        }
    }

    void validationsWithoutABetterOneAreCounted() {
        const Watch watch("loss");
        Watched watched;
        for (const double loss : {3.0, 2.0, 2.5, kNan, 2.0})
            watch.note(watched, loss);
        QCOMPARE(watched.best, 2.0);
        QCOMPARE(watched.sinceBest, 3);
        watch.note(watched, 1.0);
        QCOMPARE(watched.sinceBest, 0);
        QCOMPARE(watched.last, 1.0);
    }
};

QTEST_GUILESS_MAIN(TestGradScaler)
#include "tst_grad_scaler.moc"
