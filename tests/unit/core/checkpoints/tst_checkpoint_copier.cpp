// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_copier.h"

#include <QPromise>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace rm;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

StoredCheckpoint stored(int64_t step, const std::string& node = "a",
                        std::vector<CheckpointCopy> copies = {}) {
    StoredCheckpoint checkpoint;
    checkpoint.saved.step = step;
    checkpoint.saved.path = "/c/step-" + std::to_string(step);
    checkpoint.attempt = 1;
    checkpoint.node = node;
    checkpoint.copies = std::move(copies);
    return checkpoint;
}

const std::vector<RunNode> kTwo = {{0, "a", 1, 0}, {1, "b", 1, 1}};
const std::vector<RunNode> kOne = {{0, "a", 2, 0}};

/// A copier, a clock that stands, and copies that end when they are told to.
struct Bench {
    int64_t now = kSecond;
    std::map<QString, std::optional<DueCopy>> due;
    std::vector<std::string> begun;    ///< paths
    std::vector<std::string> reported; ///< of failures
    std::shared_ptr<QPromise<Result<bool>>> running;
    CheckpointCopier copier{{[this](const QString& run) { return due[run]; },
                             [this](const QString&, const DueCopy& copy) {
                                 begun.push_back(copy.path);
                                 running = std::make_shared<QPromise<Result<bool>>>();
                                 running->start();
                                 return running->future();
                             },
                             [this](const QString&, const DueCopy& copy, const Error&) {
                                 reported.push_back(copy.path);
                             },
                             [this] { return now; }}};

    void end(const Result<bool>& how) {
        due.clear();
        running->addResult(how);
        running->finish();
        QTest::qWait(0);
        QCoreApplication::processEvents();
    }
};

} // namespace

class TestCheckpointCopier : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theNewestGoesToASecondNode() {
        QCOMPARE(*dueCopy({stored(20), stored(10)}, kTwo, "auto"),
                 (DueCopy{"step-20", "/c/step-20", "b"}));
        // Of a run that went on on b, its first node gets it.
        QCOMPARE(dueCopy({stored(20, "b")}, kTwo, "auto")->node, std::string("a"));
        QCOMPARE(dueCopy({stored(20)}, kOne, "computer")->node, std::string("this-computer"));
    }

    void nothingIsDueWhereNothingIsToBeCopied() {
        QVERIFY(!dueCopy({}, kTwo, "auto"));
        QVERIFY(!dueCopy({stored(20)}, kOne, "auto"));
        QVERIFY(!dueCopy({stored(20)}, kTwo, "off"));
        QVERIFY(!dueCopy({stored(20, "a", {{"b", "/x", 1}}), stored(10)}, kTwo, "auto"));
        // Pulled by a person, it outlives its node too.
        QVERIFY(!dueCopy({stored(20, "a", {{"this-computer", "/x", 1}})}, kTwo, "auto"));
        QVERIFY(dueCopy({stored(20, "a", {{"b", "/x", 1}})}, kTwo, "computer"));
        QVERIFY(!dueCopy({stored(20, "this-computer")}, kOne, "computer"));
        auto retired = stored(30), removed = stored(40), damaged = stored(50);
        retired.retiredBy = 2;
        removed.removed = true;
        damaged.isDamaged = true;
        QCOMPARE(dueCopy({damaged, removed, retired, stored(20)}, kTwo, "auto")->path,
                 std::string("/c/step-20"));
    }

    void oneIsCopiedAtATimeAndThenTheLinkRests() {
        Bench bench;
        bench.due = {{"x", DueCopy{"1", "/1", "b"}}, {"y", DueCopy{"2", "/2", "b"}}};
        bench.copier.touch("x");
        bench.copier.touch("y");
        bench.copier.look();
        bench.copier.look();
        QCOMPARE(bench.begun, (std::vector<std::string>{"/1"}));
        bench.now += 10 * kSecond;
        bench.end(true);
        bench.due["y"] = DueCopy{"3", "/3", "b"}; // newer by now
        bench.now += 39 * kSecond;
        bench.copier.look();
        QCOMPARE(bench.begun.size(), size_t(1));
        bench.now += kSecond;
        bench.copier.look();
        QCOMPARE(bench.begun, (std::vector<std::string>{"/1", "/3"}));
        bench.end(true);
    }

    void theAgentsOfARunThatTrainsComeFirst() {
        Bench bench;
        const auto due = [&bench](bool isOfAgents) {
            bench.due = {{"x", DueCopy{"1", "/1", "b", isOfAgents}}};
            bench.copier.touch("x");
            bench.copier.look();
        };
        due(true);
        due(true);
        QVERIFY(bench.begun.empty());
        due(false); // the run has ended, or they have made none for long
        QCOMPARE(bench.begun.size(), size_t(1));
        bench.end(true);
    }

    void agentsHaveFiveMinutesAndWhatTheSizeTakes() {
        constexpr int64_t kMinute = 60 * kSecond;
        const auto at = [](int64_t step, int64_t minute, std::vector<CheckpointCopy> copies = {}) {
            StoredCheckpoint checkpoint = stored(step, "a", std::move(copies));
            checkpoint.saved.wallNs = minute * kMinute;
            return checkpoint;
        };
        QVERIFY(isLeftToAgents({at(10, 100)}, 104 * kMinute));
        QVERIFY(!isLeftToAgents({at(10, 100)}, 105 * kMinute));
        // Newer ones do not begin it anew, a copy does.
        QVERIFY(!isLeftToAgents({at(30, 104), at(20, 102), at(10, 100)}, 105 * kMinute));
        const std::vector<StoredCheckpoint> keepsUp = {at(30, 104), at(20, 102),
                                                       at(10, 100, {{"b", "/x", 103 * kMinute}})};
        QVERIFY(isLeftToAgents(keepsUp, 107 * kMinute));
        QVERIFY(!isLeftToAgents(keepsUp, 108 * kMinute));
        auto large = at(10, 100);
        large.saved.bytes = int64_t{6'000'000'000};
        QVERIFY(isLeftToAgents({large}, 114 * kMinute));
        QVERIFY(!isLeftToAgents({large}, 115 * kMinute));
    }

    void whatNodesShareIsAskedAboutOnce() {
        Bench bench;
        bench.due = {{"x", DueCopy{"1", "/1", "b"}}};
        const auto due = bench.due;
        bench.copier.touch("x");
        bench.copier.look();
        bench.end(false);
        bench.due = due; // as no copy was noted
        for (int i = 0; i < 3; ++i) {
            bench.now += 60 * kSecond;
            bench.copier.touch("x");
            bench.copier.look();
        }
        QCOMPARE(bench.begun, (std::vector<std::string>{"/1"}));
        QVERIFY(bench.reported.empty());
        bench.due["x"] = DueCopy{"2", "/2", "b"};
        bench.copier.touch("x");
        bench.copier.look();
        QCOMPARE(bench.begun, (std::vector<std::string>{"/1", "/2"}));
        bench.end(true);
    }

    void aRunWithMuchToCopyLeavesRoomForTheOthers() {
        Bench bench;
        bench.copier.touch("x");
        bench.copier.touch("y");
        for (int i = 0; i < 4; ++i) {
            bench.due = {{"x", DueCopy{"1", "/x", "b"}}, {"y", DueCopy{"2", "/y", "b"}}};
            bench.copier.look();
            bench.now += 10 * kSecond;
            bench.end(true);
            bench.copier.touch("x");
            bench.copier.touch("y");
            bench.now += 600 * kSecond;
        }
        QCOMPARE(bench.begun, (std::vector<std::string>{"/x", "/y", "/x", "/y"}));
    }

    void whatFailsIsToldOnceAndTriedAgainLater() {
        Bench bench;
        const auto again = [&bench] { bench.due = {{"x", DueCopy{"1", "/1", "b"}}}; };
        again();
        bench.copier.touch("x");
        bench.copier.look();
        bench.end(fail(ErrorCode::kExhausted, "full"));
        again();
        bench.now += 59 * kSecond;
        bench.copier.look();
        QCOMPARE(bench.begun.size(), size_t(1));
        bench.now += kSecond;
        bench.copier.look();
        QCOMPARE(bench.begun.size(), size_t(2));
        bench.end(fail(ErrorCode::kExhausted, "full"));
        again();
        bench.now += 119 * kSecond;
        bench.copier.look();
        QCOMPARE(bench.begun.size(), size_t(2));
        bench.now += kSecond;
        bench.copier.look();
        QCOMPARE(bench.begun.size(), size_t(3));
        bench.end(true);
        QCOMPARE(bench.reported, (std::vector<std::string>{"/1"}));
    }
};

QTEST_GUILESS_MAIN(TestCheckpointCopier)
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"

#include "tst_checkpoint_copier.moc"
