// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/host_kernels.h"
#include "trainer/cuda/fused/functions.h"
#include "trainer/cuda/fused/gelu.h"
#include "trainer/cuda/fused/layer_norm.h"
#include "trainer/train/self_test/fused_checks.h"

#include <QTest>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace rm {
namespace {

const FusedOps& hostOps() {
    return fused::fusedOps<HostKernels>();
}

void verify(const FusedCase& at, const std::vector<Deviation>& found) {
    QVERIFY(!found.empty());
    for (const Deviation& one : found)
        QVERIFY2(one.isFine(), qPrintable(QString("%1, %2: off by %3, allowed %4")
                                              .arg(nameOf(at).c_str(), one.what.c_str())
                                              .arg(one.error)
                                              .arg(one.limit)));
}

void types() {
    QTest::addColumn<at::ScalarType>("type");
    QTest::newRow("float64") << at::kDouble;
    QTest::newRow("float32") << at::kFloat;
    QTest::newRow("bfloat16") << at::kBFloat16;
    QTest::newRow("float16") << at::kHalf;
}

} // namespace

/// The kernels' own lines on the host, against ATen in float64.
class TestFusedKernels : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void layerNormOfASumEqualsAten_data() { types(); }
    void layerNormOfASumEqualsAten() {
        QFETCH(at::ScalarType, type);
        for (const FusedCase& at : awkwardCases(at::kCPU, type, fused::kLongestRow))
            for (const NormedFor use : {NormedFor::kProducts, NormedFor::kResidual})
                verify(at, checkAddLayerNorm(hostOps(), at, use, /*normedOnly=*/false));
    }

    void unusedSumHasNoGradient() {
        for (const at::ScalarType type : {at::kDouble, at::kBFloat16}) {
            const FusedCase at{at::kCPU, type, 5, 36};
            verify(at, checkAddLayerNorm(hostOps(), at, NormedFor::kResidual, true));
        }
    }

    void geluWithBiasEqualsAten_data() { types(); }
    void geluWithBiasEqualsAten() {
        QFETCH(at::ScalarType, type);
        for (const FusedCase& at : awkwardCases(at::kCPU, type, 8192))
            verify(at, checkBiasGelu(hostOps(), at));
    }

    void geluIsRightFarOut() {
        using Gelu = fused::Gelu<double>;
        QCOMPARE(Gelu::value(40), 40.0);
        QCOMPARE(Gelu::value(-40), 0.0);
        QCOMPARE(Gelu::slope(40), 1.0);
        QCOMPARE(Gelu::slope(-40), 0.0);
        for (double v = -6; v < 6; v += 0.01) {
            const double h = 1e-6;
            const double slope = (Gelu::value(v + h) - Gelu::value(v - h)) / (2 * h);
            QVERIFY(std::abs(slope - Gelu::slope(v)) < 1e-9);
        }
    }

    void chunkedLossEqualsAten_data() {
        QTest::addColumn<at::ScalarType>("type");
        QTest::newRow("float64") << at::kDouble;
        QTest::newRow("float32") << at::kFloat;
        QTest::newRow("bfloat16") << at::kBFloat16;
    }
    void chunkedLossEqualsAten() {
        QFETCH(at::ScalarType, type);
        for (const auto& [rows, classes] : {std::pair{1, 2}, {3, 64}, {50, 65}, {40, 257}})
            for (const double smoothing : {0.0, 0.1}) {
                const FusedCase at{at::kCPU, type, rows, 24};
                for (const bool withBias : {false, true})
                    verify(at, checkClassifierLoss(hostOps(), at, classes, smoothing, withBias));
            }
    }

    void targetThatIsNoClassMakesTheLossNaN() {
        const at::Tensor hidden = at::ones({4, 8}, at::kDouble);
        const at::Tensor weight = at::ones({10, 8}, at::kDouble);
        const auto lossAt = [&](int64_t target) {
            const at::Tensor targets = at::full({4}, target, at::kLong);
            return hostOps().classifierLoss(hidden, {weight, {}}, targets, {}).item<double>();
        };
        QVERIFY(std::abs(lossAt(9) - std::log(10.0)) < 1e-12);
        QVERIFY(std::isnan(lossAt(10)));
        QVERIFY(std::isnan(lossAt(-1)));
        QVERIFY(std::isnan(lossAt(-100))); // no target counts: a mean over nothing
    }

    void hugeLogitsDoNotOverflow() {
        const at::Tensor hidden = at::full({2, 1}, 1000.0, at::kFloat);
        at::Tensor weight = at::zeros({5, 1}, at::kFloat);
        weight[3][0] = 1.0;
        const at::Tensor targets = at::full({2}, 3, at::kLong);
        QCOMPARE(hostOps().classifierLoss(hidden, {weight, {}}, targets, {}).item<float>(), 0.0F);
    }

    void lossAloneLeavesNoGraph() {
        at::Tensor hidden = at::ones({3, 4}, at::kDouble).requires_grad_(true);
        at::Tensor weight = at::ones({5, 4}, at::kDouble).requires_grad_(true);
        const at::Tensor targets = at::zeros({3}, at::kLong);
        const OutputLayer layer{weight, {}};
        QVERIFY(hostOps().classifierLoss(hidden, layer, targets, {}).requires_grad());
        const at::NoGradGuard noGrad;
        QVERIFY(!hostOps().classifierLoss(hidden, layer, targets, {}).requires_grad());
    }

    void lossInFloat16IsLeftToAten() {
        const at::Tensor half = at::ones({3, 4}, at::kHalf);
        const OutputLayer layer{at::ones({5, 4}), {}};
        const at::Tensor targets = at::zeros({3}, at::kLong);
        QVERIFY(!hostOps().classifierLoss(half, layer, targets, {}).defined());
    }

    void inferenceModeIsFine() {
        const at::InferenceMode inference;
        const at::Tensor x = at::ones({3, 4});
        const at::Tensor row = at::ones({4});
        const NormedSum both = hostOps().addLayerNorm(x, x, row, row, 1e-5, NormedFor::kProducts);
        QVERIFY(at::equal(both.sum, x + x));
        QVERIFY(at::equal(both.normed, x)); // all alike: nothing but the bias is left
        QVERIFY(hostOps().biasGelu(x, row).is_inference());
    }

    void whatNoKernelCoversIsLeftToAten() {
        const at::Tensor long1 = at::ones({2, fused::kLongestRow + 4});
        const at::Tensor row = at::ones({fused::kLongestRow + 4});
        QVERIFY(!hostOps()
                     .addLayerNorm(long1, long1, row, row, 1e-5, NormedFor::kResidual)
                     .sum.defined());
        QVERIFY(!hostOps().biasGelu(at::ones({2, 3}, at::kLong), at::ones({3})).defined());
        const at::Tensor none = at::zeros({0, 4});
        QVERIFY(!hostOps()
                     .classifierLoss(none, {at::ones({5, 4}), {}}, at::zeros({0}, at::kLong), {})
                     .defined());
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestFusedKernels)
#include "tst_fused_kernels.moc"
