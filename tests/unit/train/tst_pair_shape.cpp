// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/pair_folder.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_shape.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"
#include "trainer/train/workloads/translation/translation.h"

#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <cmath>
#include <set>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int64_t kShapeTokens = 256;
constexpr int64_t kLongestLine = 40;
constexpr double kRounding = 1e-5; ///< of float32, on any processor

Translation makeModel() {
    RunSpec spec;
    spec.model.type = "translation";
    spec.model.layers = 2;
    spec.model.heads = 2;
    spec.model.width = 16;
    spec.model.feedForward = 24;
    spec.model.context = kLongestLine;
    spec.model.dropout = 0;
    spec.train.labelSmoothing = 0.1;
    Translation model(spec, {1000, 1000});
    model.initialize(at::detail::createCPUGenerator(3));
    return model;
}

EncodedPair pairOf(int source, int target, std::mt19937& engine) {
    const auto ids = [&](int length) {
        const Ids narrow = someIds(length, engine);
        return std::vector<int64_t>(narrow.begin(), narrow.end());
    };
    return {ids(source), ids(target)};
}

Batch batchOf(const std::vector<std::pair<int, int>>& lengths) {
    std::mt19937 engine(7);
    std::vector<EncodedPair> pairs;
    for (const auto& [source, target] : lengths)
        pairs.push_back(pairOf(source, target, engine));
    return makePairBatch(pairs);
}

struct Outcome {
    double loss = 0;
    std::vector<at::Tensor> gradients;
};

Outcome outcomeOf(const Translation& model, const at::Tensor& loss) {
    loss.backward();
    Outcome outcome{loss.item<double>(), {}};
    for (const Parameter& parameter : model.parameters()) {
        outcome.gradients.push_back(parameter.value.grad());
        parameter.value.mutable_grad().reset();
    }
    return outcome;
}

/// As on a GPU without kernels for it: ATen's loss over all positions.
at::Tensor lossByAten(const Translation& model, const Batch& batch) {
    const at::Tensor memory = model.encode(batch.tensors[0], batch.tensors[1], true);
    const at::Tensor logits = model.logits(memory, batch.tensors[1], batch.tensors[2], true);
    return at::cross_entropy_loss(logits.flatten(0, 1), batch.tensors[3], {}, at::Reduction::Mean,
                                  kIgnoredTarget, 0.1);
}

/// The largest difference, of losses and of gradients.
double differenceOf(const Outcome& a, const Outcome& b) {
    double most = std::abs(a.loss - b.loss);
    for (size_t i = 0; i < a.gradients.size(); ++i)
        most = std::fmax(most, (a.gradients[i] - b.gradients[i]).abs().max().item<double>());
    return most;
}

} // namespace

class TestPairShape : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void widthsGrowByAnEighth() {
        QCOMPARE(bucketWidth(1), int64_t{8});
        QCOMPARE(bucketWidth(16), int64_t{16});
        QCOMPARE(bucketWidth(17), int64_t{18});
        QCOMPARE(bucketWidth(100), int64_t{102});
    }

    void shapesAreQuartersOfTheBucket_data() {
        QTest::addColumn<PairShape>("least");
        QTest::addColumn<PairShape>("shape");
        QTest::newRow("full") << PairShape{16, 16, 16} << PairShape{16, 16, 16};
        QTest::newRow("short targets") << PairShape{16, 16, 3} << PairShape{16, 16, 4};
        QTest::newRow("short sources") << PairShape{16, 5, 16} << PairShape{16, 8, 16};
        QTest::newRow("last of its bucket") << PairShape{6, 16, 15} << PairShape{8, 16, 16};
        QTest::newRow("as wide as a pair may be") << PairShape{6, 40, 39} << PairShape{6, 40, 40};
        QTest::newRow("more rows than fit") << PairShape{99, 16, 16} << PairShape{99, 16, 16};
    }

    void shapesAreQuartersOfTheBucket() {
        QFETCH(PairShape, least);
        QTEST(recordedShape(least, kShapeTokens, kLongestLine), "shape");
    }

    void paddingChangesNeitherLossNorGradients_data() {
        QTest::addColumn<Batch>("batch");
        QTest::addColumn<PairShape>("shape");
        const Batch ragged = batchOf({{5, 9}, {12, 3}, {8, 6}});
        const Batch even = batchOf({{6, 7}, {6, 7}});
        QTest::newRow("rows and both sides") << ragged << PairShape{8, 16, 12};
        QTest::newRow("nothing but rows") << ragged << PairShape{4, 12, 9};
        QTest::newRow("its own shape") << ragged << PairShape{3, 12, 9};
        QTest::newRow("no padding before") << even << PairShape{5, 8, 8};
        QTest::newRow("no padding at all") << even << PairShape{2, 6, 7};
    }

    void paddingChangesNeitherLossNorGradients() {
        QFETCH(Batch, batch);
        QFETCH(PairShape, shape);
        Translation model = makeModel();
        const Batch padded = paddedTo(shape, batch);
        QCOMPARE(shapeOf(padded), shape);
        QCOMPARE(padded.targets, batch.targets);
        const Outcome wanted = outcomeOf(model, model.loss(batch, true));
        QVERIFY(std::isfinite(wanted.loss));
        const double off = differenceOf(outcomeOf(model, model.loss(padded, true)), wanted);
        QVERIFY2(off < kRounding, QByteArray::number(off));
        const double atenOff = differenceOf(outcomeOf(model, lossByAten(model, padded)), wanted);
        QVERIFY2(atenOff < kRounding, QByteArray::number(atenOff));
    }

    void batchesOfAnEpochComeInFewShapes() {
        PairFolder folder;
        const auto ids = PairFile::open(writeIds(folder, "x", somePairs(4000, int(kLongestLine))));
        QVERIFY(ids);
        PairBatches batches(*ids, kShapeTokens, 1);
        std::set<std::vector<int64_t>> before, after;
        for (int64_t i = 0; i < batches.epochSize(); ++i) {
            const PairShape least = shapeOf(*batches.read(i, 1));
            const PairShape shape = recordedShape(least, kShapeTokens, kLongestLine);
            QVERIFY(least.rows <= shape.rows);
            QVERIFY(least.source <= shape.source && least.target <= shape.target);
            QVERIFY(shape.rows * std::max(shape.source, shape.target) <= kShapeTokens);
            before.insert({least.rows, least.source, least.target});
            after.insert({shape.rows, shape.source, shape.target});
        }
        const auto buckets = lengthBuckets(*ids, kShapeTokens).size();
        QVERIFY2(after.size() <= 4 * buckets, QByteArray::number(int(after.size())));
        QVERIFY(after.size() * 2 < before.size());
    }
};

QTEST_GUILESS_MAIN(TestPairShape)
#include "tst_pair_shape.moc"
