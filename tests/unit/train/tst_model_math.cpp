// SPDX-License-Identifier: Apache-2.0
#include "tests/support/requirement.h"
#include "tests/unit/train/allocation_peak.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/model/classifier_loss.h"
#include "trainer/train/model/cpu/bias_gelu.h"
#include "trainer/train/model/fused_ops.h"
#include "trainer/train/model/gemm.h"
#include "trainer/train/model/recompute.h"

#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

using namespace rm;

namespace {

const QString kAtenAlone = "without AVX2 ATen would be compared with itself";

at::Tensor leaf(at::IntArrayRef shape, uint64_t seed) {
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::kFloat)
        .set_requires_grad(true);
}

double difference(const at::Tensor& ours, const at::Tensor& theirs) {
    const at::NoGradGuard noGrad;
    return ((ours - theirs).norm() / theirs.norm()).item<double>();
}

/// The gradients of `leaves`, taken away from them.
std::vector<at::Tensor> takeGradients(const std::vector<at::Tensor>& leaves) {
    std::vector<at::Tensor> gradients;
    for (at::Tensor tensor : leaves) {
        gradients.push_back(tensor.grad());
        tensor.mutable_grad().reset();
    }
    return gradients;
}

at::Tensor plainLoss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets,
                     double smoothing, int64_t ignoreIndex = -100) {
    return at::cross_entropy_loss(at::matmul(x, weight.t()).to(at::kFloat), targets, {},
                                  at::Reduction::Mean, ignoreIndex, smoothing);
}

} // namespace

class TestModelMath : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void gemmIsAddmm_data() {
        QTest::addColumn<bool>("transposeA");
        QTest::addColumn<bool>("transposeB");
        QTest::newRow("plain") << false << false;
        QTest::newRow("a transposed") << true << false;
        QTest::newRow("b transposed") << false << true;
        QTest::newRow("both transposed") << true << true;
    }

    void gemmIsAddmm() {
        QFETCH(bool, transposeA);
        QFETCH(bool, transposeB);
        const at::NoGradGuard noGrad;
        const at::Tensor a = transposeA ? leaf({30, 40}, 1).t() : leaf({40, 30}, 1);
        const at::Tensor b = transposeB ? leaf({50, 30}, 2).t() : leaf({30, 50}, 2);
        const at::Tensor before = leaf({40, 50}, 3).detach();
        const at::Tensor out = before.clone();
        gemm(a, b, out, 0.5, 2);
        QVERIFY(difference(out, at::addmm(before, a, b, 0.5, 2)) < 1e-6);
        gemm(a, b, out);
        QVERIFY(difference(out, at::mm(a, b)) < 1e-6);
    }

    void affineIsAddmmForwardAndBackward() {
        const std::vector<at::Tensor> leaves{leaf({64, 32}, 1), leaf({32, 48}, 2), leaf({48}, 3)};
        const at::Tensor ours = affine(leaves[0], leaves[1], leaves[2]);
        ours.pow(2).sum().backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs = at::addmm(leaves[2], leaves[0], leaves[1]);
        theirs.pow(2).sum().backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 1e-6);
    }

    void linearWithoutBiasIsAtensForwardAndBackward() {
        const std::vector<at::Tensor> leaves{leaf({64, 32}, 1), leaf({48, 32}, 2)};
        const at::Tensor ours = rm::linear(leaves[0], leaves[1]);
        ours.pow(2).sum().backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs = at::linear(leaves[0], leaves[1]);
        theirs.pow(2).sum().backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 1e-6);
    }

    void linearIsAtensForwardAndBackward() {
        const std::vector<at::Tensor> leaves{leaf({64, 32}, 1), leaf({48, 32}, 2), leaf({48}, 3)};
        const at::Tensor ours = rm::linear(leaves[0], leaves[1], leaves[2]);
        ours.pow(2).sum().backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs = at::linear(leaves[0], leaves[1], leaves[2]);
        theirs.pow(2).sum().backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 1e-6);
    }

    void affineOfOneRowLeavesTheBiasAlone() {
        const at::NoGradGuard noGrad;
        const at::Tensor bias = leaf({48}, 3);
        const at::Tensor before = bias.clone();
        const at::Tensor x = leaf({1, 32}, 1);
        const at::Tensor weight = leaf({32, 48}, 2);
        QVERIFY(difference(affine(x, weight, bias), at::addmm(bias, x, weight)) < 1e-6);
        QVERIFY(bias.equal(before));
    }

    void productIsMmForwardAndBackward() {
        const std::vector<at::Tensor> leaves{leaf({64, 32}, 1), leaf({32, 48}, 2)};
        const at::Tensor ours = product(leaves[0], leaves[1]);
        ours.pow(2).sum().backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs = at::mm(leaves[0], leaves[1]);
        theirs.pow(2).sum().backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 1e-6);
    }

    void productGeluIsAtensForwardAndBackward_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("columns");
        QTest::newRow("one number") << 1 << 1;
        QTest::newRow("columns with a rest") << 5 << 43;
        QTest::newRow("blocks of rows with a rest") << 200 << 48;
        QTest::newRow("enough for several threads") << 1000 << 128;
    }

    void productGeluIsAtensForwardAndBackward() {
        QFETCH(int, rows);
        QFETCH(int, columns);
        const std::vector<at::Tensor> leaves{leaf({rows, 32}, 1), leaf({32, columns}, 2),
                                             leaf({columns}, 3)};
        const at::Tensor ours = productGelu(leaves[0], leaves[1], leaves[2]);
        ours.pow(2).sum().backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs = at::gelu(at::addmm(leaves[2], leaves[0], leaves[1]), "tanh");
        theirs.pow(2).sum().backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 2e-6);
    }

    void geluIsTheSameOnAnyNumberOfThreads() {
        const std::vector<at::Tensor> leaves{leaf({1000, 128}, 1), leaf({128}, 2)};
        RM_NEEDS("avx2", coversBiasGelu(leaves[0]), kAtenAlone);
        const int before = at::get_num_threads();
        std::vector<at::Tensor> first;
        for (const int threads : {1, 2, 3, 5}) {
            at::set_num_threads(threads);
            const at::Tensor y = biasGelu(leaves[0], leaves[1]);
            y.pow(2).sum().backward();
            std::vector<at::Tensor> made = takeGradients(leaves);
            made.push_back(y.detach());
            first = first.empty() ? made : first;
            for (size_t i = 0; i < made.size(); ++i)
                QVERIFY(made[i].equal(first[i]));
        }
        at::set_num_threads(before);
    }

    void geluUsesTheThreadsOfTheRank() {
        const at::Tensor x = leaf({4096, 256}, 1), bias = leaf({256}, 2);
        RM_NEEDS("avx2", coversBiasGelu(x), kAtenAlone);
        const int before = at::get_num_threads();
        at::set_num_threads(3);
        const auto tasks = [] {
            return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                 std::filesystem::directory_iterator());
        };
        // On a thread of its own: OpenMP has not made a team for that one yet.
        std::ptrdiff_t made = 0;
        std::thread([&] {
            const auto alone = tasks();
            biasGelu(x, bias);
            made = tasks() - alone;
        }).join();
        at::set_num_threads(before);
        QCOMPARE(made, std::ptrdiff_t{2});
    }

    void geluKeepsItsDigitsFarFromZero() {
        const at::NoGradGuard noGrad;
        const at::Tensor x = at::linspace(-12, 12, 43 * 300).view({300, 43});
        RM_NEEDS("avx2", coversBiasGelu(x), kAtenAlone);
        const at::Tensor wide = at::gelu(x.to(at::kDouble), "tanh");
        const at::Tensor off =
            (biasGelu(x, at::zeros({43})) - wide).abs() / wide.abs().clamp_min(1);
        QVERIFY2(off.max().item<double>() < 3e-7, std::to_string(off.max().item<double>()).c_str());
    }

    /// In the eight columns of a vector, in those of half a one, and alone.
    void geluHidesNoNumberThatIsNone() {
        const double none = std::nan(""), much = std::numeric_limits<double>::infinity();
        const at::Tensor bias = at::zeros({43}), ones = at::ones({9, 43});
        RM_NEEDS("avx2", coversBiasGelu(ones), kAtenAlone);
        for (const double bad : {none, much, -much}) {
            const at::Tensor all = at::full({9, 43}, bad, at::kFloat);
            QVERIFY(!biasGelu(all, bias).isfinite().any().item<bool>());
            QVERIFY(!biasGelu(ones, all[0].contiguous()).isfinite().any().item<bool>());
        }
        const at::Tensor x = ones.clone().requires_grad_();
        biasGelu(x, bias).backward(at::full({9, 43}, none, at::kFloat));
        QVERIFY(x.grad().isnan().all().item<bool>());
    }

    void lossInChunksIsCrossEntropy_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<double>("smoothing");
        QTest::newRow("one chunk") << 100 << 0.0;
        QTest::newRow("chosen chunks") << 0 << 0.0;
        QTest::newRow("chunks with a rest") << 8 << 0.0;
        QTest::newRow("single rows") << 1 << 0.0;
        QTest::newRow("smoothed") << 100 << 0.1;
        QTest::newRow("smoothed in chunks") << 8 << 0.3;
    }

    void lossInChunksIsCrossEntropy() {
        QFETCH(int, rows);
        QFETCH(double, smoothing);
        const std::vector<at::Tensor> leaves{leaf({37, 16}, 1), leaf({53, 16}, 2)};
        const at::Tensor targets =
            at::randint(53, {37}, at::detail::createCPUGenerator(3), at::kLong);
        const at::Tensor ours = classifierLoss(leaves[0], {leaves[1], {}}, targets,
                                               {.labelSmoothing = smoothing}, rows);
        (ours * 3).backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs = plainLoss(leaves[0], leaves[1], targets, smoothing);
        (theirs * 3).backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 1e-6);
    }

    void targetsThatCountNothingAreLeftOut() {
        const std::vector<at::Tensor> leaves{leaf({37, 16}, 1), leaf({53, 16}, 2)};
        const at::Tensor targets =
            at::randint(4, {37}, at::detail::createCPUGenerator(3), at::kLong);
        classifierLoss(leaves[0], {leaves[1], {}}, targets, {2, 0.1}, 8).backward();
        const auto ourGradients = takeGradients(leaves);
        plainLoss(leaves[0], leaves[1], targets, 0.1, 2).backward();
        const auto theirGradients = takeGradients(leaves);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 1e-6);
    }

    void biasOfTheClassifierIsAdded() {
        const at::Tensor x = leaf({37, 16}, 1);
        const at::Tensor weight = leaf({53, 16}, 2);
        const at::Tensor bias = leaf({53}, 4).detach();
        const at::Tensor targets =
            at::randint(53, {37}, at::detail::createCPUGenerator(3), at::kLong);
        const at::Tensor ours = classifierLoss(x, {weight, bias}, targets, {}, 8);
        const at::Tensor theirs = at::cross_entropy_loss(at::matmul(x, weight.t()) + bias, targets);
        QVERIFY(difference(ours, theirs) < 1e-6);
    }

    void lossUnderAutocastIsCrossEntropyUnderAutocast() {
        const std::vector<at::Tensor> leaves{leaf({64, 32}, 1), leaf({96, 32}, 2)};
        const at::Tensor targets =
            at::randint(96, {64}, at::detail::createCPUGenerator(3), at::kLong);
        const auto under = [&](auto&& loss) {
            const Autocast autocast("bfloat16", useCpu(1));
            return loss();
        };
        const at::Tensor ours = under([&] {
            return classifierLoss(leaves[0], {leaves[1], {}}, targets, {}, 20);
        });
        ours.backward();
        const auto ourGradients = takeGradients(leaves);
        const at::Tensor theirs =
            under([&] { return plainLoss(leaves[0], leaves[1], targets, 0); });
        theirs.backward();
        const auto theirGradients = takeGradients(leaves);
        QVERIFY(difference(ours, theirs) < 1e-6); // of the same rounded logits
        for (size_t i = 0; i < leaves.size(); ++i) {
            QCOMPARE(ourGradients[i].scalar_type(), at::kFloat);
            QVERIFY(difference(ourGradients[i], theirGradients[i]) < 5e-3);
        }
    }

    void lossWithoutGradientsKeepsNothing() {
        const at::NoGradGuard noGrad;
        const at::Tensor x = leaf({1024, 8}, 1);
        const at::Tensor weight = leaf({500, 8}, 2);
        const at::Tensor targets =
            at::randint(500, {1024}, at::detail::createCPUGenerator(3), at::kLong);
        const test::AllocationPeak peak;
        const at::Tensor loss =
            classifierLoss(x, {weight, {}}, targets, {.labelSmoothing = 0.1}, 64);
        QVERIFY(!loss.requires_grad());
        QVERIFY(peak.bytes() < 4 * 64 * 500 * 4); // of 2 MB for the logits of all
    }

    void logitsOfAllTokensNeverExistAtOnce() {
        const at::Tensor x = leaf({1024, 8}, 1);
        const at::Tensor weight = leaf({500, 8}, 2);
        const at::Tensor targets =
            at::randint(500, {1024}, at::detail::createCPUGenerator(3), at::kLong);
        const auto peakOf = [&](auto&& loss) {
            const test::AllocationPeak peak;
            loss().backward();
            takeGradients({x, weight});
            return peak.bytes();
        };
        const auto chunked = peakOf([&] {
            return classifierLoss(x, {weight, {}}, targets, {}, 64);
        });
        const auto whole = peakOf([&] { return plainLoss(x, weight, targets, 0); });
        QVERIFY2(chunked * 5 < whole,
                 qPrintable(QString("%1 and %2 bytes").arg(chunked).arg(whole)));
    }

    void recomputedBlockHasTheSameGradients_data() {
        QTest::addColumn<QString>("precision");
        QTest::newRow("float32") << "float32";
        QTest::newRow("bfloat16") << "bfloat16";
    }

    void recomputedBlockHasTheSameGradients() {
        QFETCH(QString, precision);
        const std::vector<at::Tensor> leaves{leaf({20, 16}, 1), leaf({16, 16}, 2)};
        const auto block = [&](const at::Tensor& x) {
            return at::dropout(at::relu(at::mm(x, leaves[1])), 0.5, true);
        };
        const auto run = [&](bool again) {
            at::manual_seed(4);
            at::Tensor out;
            {
                const Autocast autocast(precision.toStdString(), useCpu(1));
                out = again ? recomputed(block, leaves[0], {leaves[1]}, true) : block(leaves[0]);
            }
            at::dropout(out.to(at::kFloat), 0.5, true).pow(2).sum().backward();
            return takeGradients(leaves);
        };
        const auto expected = run(false);
        const auto found = run(true);
        for (size_t i = 0; i < leaves.size(); ++i)
            QVERIFY(found[i].equal(expected[i]));
    }

    void recomputingLeavesTheGeneratorWhereItWas() {
        const at::Tensor x = leaf({20, 16}, 1);
        const auto block = [](const at::Tensor& in) { return at::dropout(in, 0.5, true); };
        at::manual_seed(4);
        const at::Tensor out = recomputed(block, x, {}, true);
        const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
        out.sum().backward();
        QVERIFY(at::detail::getDefaultCPUGenerator().get_state().equal(before));
    }
};

QTEST_GUILESS_MAIN(TestModelMath)
#include "tst_model_math.moc"
