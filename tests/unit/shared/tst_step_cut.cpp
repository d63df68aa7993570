// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/step_cut.h"
#include "tests/unit/shared/shared_test.h"

using namespace rm;

Q_DECLARE_METATYPE(std::vector<int>)

class TestStepCut : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aLossThatCannotBeCutIsRefused_data();
    void aLossThatCannotBeCutIsRefused();
    void ranksOfTheirOwnSizesCannotBeFewer();
    void withoutRestartsNothingIsLost();
    void stepsThatWereBegunAreDoneAgain();
    void aTranslationTakesABatchARank();
};

void TestStepCut::aLossThatCannotBeCutIsRefused_data() {
    QTest::addColumn<std::vector<int>>("ranks");
    QTest::addColumn<int>("minNodes");
    QTest::addColumn<int>("globalBatch");
    QTest::addColumn<QString>("words"); // empty: it is fine
    QTest::newRow("3 to 2") << std::vector{1, 1, 1} << 2 << 0
                            << "2 ranks on 2 nodes take 32 samples at once, which does not divide "
                               "the 48 of a step; set train.global_batch to a multiple of 96 "
                               "or launch.min_nodes = 0";
    QTest::newRow("3 to 2, which a step of 96 allows") << std::vector{1, 1, 1} << 2 << 96 << "";
    QTest::newRow("a global batch that fits two alone")
        << std::vector{1, 1, 1, 1} << 2 << 64 << "3 ranks on 3 nodes take 48 samples";
    QTest::newRow("4 to 2, but not to 3")
        << std::vector{1, 1, 1, 1} << 2 << 0 << "3 ranks on 3 nodes take 48 samples at once";
    QTest::newRow("4 to 2, which a step of 192 allows")
        << std::vector{1, 1, 1, 1} << 2 << 192 << "";
    QTest::newRow("2 to 1") << std::vector{1, 1} << 1 << 0 << "";
    QTest::newRow("all or none") << std::vector{1, 1, 1} << 0 << 0 << "";
    QTest::newRow("as many as there are") << std::vector{1, 1, 1} << 3 << 0 << "";
    QTest::newRow("more than there are") << std::vector{1, 1, 1} << 7 << 0 << "";
    // Without the other node two ranks are left, of which four can be cut; without the first none
    // begins.
    QTest::newRow("two ranks beside one of two") << std::vector{2, 2} << 1 << 0 << "";
    QTest::newRow("the first has most ranks")
        << std::vector{2, 1} << 1 << 0 << "2 ranks on 1 node take 32 samples";
    QTest::newRow("the first has fewest ranks") << std::vector{1, 2} << 1 << 0 << "";
    QTest::newRow("some pairs can, one cannot")
        << std::vector{2, 2, 4} << 2 << 0 << "6 ranks on 2 nodes take 96 samples";
}

void TestStepCut::aLossThatCannotBeCutIsRefused() {
    QFETCH(std::vector<int>, ranks);
    QFETCH(int, minNodes);
    QFETCH(int, globalBatch);
    QFETCH(QString, words);
    RunSpec spec;
    spec.train.batchSize = 16;
    spec.train.globalBatch = globalBatch;
    spec.launch.minNodes = minNodes;
    if (words.isEmpty())
        RM_OK(checkMinNodes(spec, ranks));
    else
        RM_FAILS(checkMinNodes(spec, ranks), ErrorCode::kInvalid, words.toStdString());
}

void TestStepCut::ranksOfTheirOwnSizesCannotBeFewer() {
    RunSpec spec;
    spec.train.rankBatchSizes = {8, 8};
    spec.launch.minNodes = 1;
    RM_FAILS(checkMinNodes(spec, {1, 1}), ErrorCode::kInvalid, "train.rank_batch_sizes");
}

void TestStepCut::withoutRestartsNothingIsLost() {
    RunSpec spec;
    spec.launch.minNodes = 2;
    spec.launch.maxRestarts = 0;
    RM_OK(checkMinNodes(spec, {1, 1, 1}));
}

void TestStepCut::stepsThatWereBegunAreDoneAgain() {
    RunSpec spec;
    spec.train.batchSize = 8;
    spec.train.accumulation = 2;
    const auto accumulation = [&spec](int64_t ranks, const std::optional<StepsBefore>& before) {
        return accumulationOf(spec, ranks, batchSizesOf(spec, ranks), before).value_or(-1);
    };
    QCOMPARE(accumulation(2, std::nullopt), 2);
    QCOMPARE(accumulation(1, StepsBefore{24, 3, true}), 3);
    QCOMPARE(accumulation(3, StepsBefore{24, 3, true}), 1);
    QCOMPARE(accumulation(3, StepsBefore{24, 3, false}), 2); // as the spec of the branch says
    QCOMPARE(accumulation(2, StepsBefore{0, 3, true}), 2);   // not known
    const std::optional<StepsBefore> three = StepsBefore{24, 3, true};
    RM_OK(checkStepCut(spec, 1, three));
    RM_FAILS(checkStepCut(spec, 2, three), ErrorCode::kInvalid,
             "cut steps of 24 samples as those of the checkpoint, made by 3 ranks: 2 ranks take 16 "
             "at once");
    spec.train.globalBatch = 48; // decides before those of the checkpoint
    RM_OK(checkStepCut(spec, 2, three));
    RM_FAILS(checkStepCut(spec, 5, three), ErrorCode::kInvalid, "of train.global_batch");
    spec.train.rankBatchSizes = {4, 12};
    RM_OK(checkStepCut(spec, 2, std::nullopt));
    RM_FAILS(checkStepCut(spec, 3, std::nullopt), ErrorCode::kInvalid, "names 2 ranks");
}

void TestStepCut::aTranslationTakesABatchARank() {
    RunSpec spec;
    spec.model.type = "translation";
    spec.train.batchSize = 16; // has no effect
    QCOMPARE(batchSizesOf(spec, 3), (std::vector<int64_t>{1, 1, 1}));
    QCOMPARE(microBatchesOf(6, 3), std::optional<int64_t>(2));
    QCOMPARE(microBatchesOf(7, 3), std::optional<int64_t>());
    spec.launch.minNodes = 2;
    spec.train.accumulation = 2;
    RM_OK(checkMinNodes(spec, {1, 1, 1})); // six batches a step
}

QTEST_GUILESS_MAIN(TestStepCut)
#include "tst_step_cut.moc"
