// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_spec.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "tests/cli/own_folders.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <optional>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 120000;
constexpr int kLaunchMs = 180000; ///< the trainer is sent as well
const QString kRun = "changed-run";

} // namespace

/// Taking changes of settings back, on two real ranks.
class TestCliRevert : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void withoutAChangeNothingIsTakenBack();
    void theCheckpointFromBeforeAChangeOutlivesRetention();
    void theValueIsSetBackWhileItTrains();
    void theRunGoesBackToBeforeTheChange();
    void theCheckpointIsRemovedByHand();
    void cleanupTestCase();

private:
    std::unique_ptr<StoreReader> reader() const;
    QJsonArray changes() const;
    /// What the ranks train with by now, of a key that was set; nullopt: as the spec says.
    std::optional<double> lrSet() const;
    /// The steps of the checkpoints that are there, of which the newest is at least at that step.
    QList<int64_t> checkpointsAfter(int64_t step) const;

    OwnFolders m_own;
};

std::unique_ptr<StoreReader> TestCliRevert::reader() const {
    auto opened = StoreReader::open(Paths::fromEnvironment().database());
    return opened ? std::move(*opened) : nullptr;
}

QJsonArray TestCliRevert::changes() const {
    return m_own.run({"revert", kRun, "--list", "--json"}, kDeadlineMs).json().array();
}

std::optional<double> TestCliRevert::lrSet() const {
    const auto opened = reader();
    const LiveSettings now = settingsNow(opened->settings(opened->resolve(kRun)->id));
    const auto lr = now.find("optimizer.lr");
    return lr == now.end() ? std::nullopt : std::optional(lr->second);
}

QList<int64_t> TestCliRevert::checkpointsAfter(int64_t step) const {
    QList<int64_t> steps;
    const auto look = [&] {
        m_own.run({"show", kRun}, kDeadlineMs); // which reads what is new
        const auto opened = reader();
        steps.clear();
        for (const StoredCheckpoint& each : opened->checkpoints(opened->resolve(kRun)->id))
            if (!each.removed)
                steps << each.saved.step;
        return !steps.isEmpty() && steps.front() >= step;
    };
    return QTest::qWaitFor(look, kDeadlineMs) ? steps : QList<int64_t>();
}

void TestCliRevert::initTestCase() {
    const Answer launch =
        m_own.run(longRunWords(kRun, 1'000'000, "this-computer:2") +
                      QStringList{"--set", "checkpoint.every=5", "--set", "optimizer.lr=0.002"},
                  kLaunchMs);
    QVERIFY2(launch.exitCode == 0, launch.whole());
}

void TestCliRevert::withoutAChangeNothingIsTakenBack() {
    const Answer nothing = m_own.run({"revert", kRun});
    QCOMPARE(nothing.exitCode, 3);
    QVERIFY2(nothing.err.contains("no change of a setting is in force"), nothing.whole());
    QVERIFY(changes().isEmpty());
}

void TestCliRevert::theCheckpointFromBeforeAChangeOutlivesRetention() {
    const Answer set = m_own.run({"set", kRun, "optimizer.lr=0.001", "--json"}, kDeadlineMs);
    QVERIFY2(set.exitCode == 0, set.whole());
    const auto step = set.json().object()["step"].toInteger();
    // Six more were saved, of which the newest three stay.
    const QList<int64_t> there = checkpointsAfter(step + 30);
    QVERIFY(there.size() <= 5 && there.contains(step));
    const QJsonArray listed = changes();
    QCOMPARE(listed.size(), 1);
    const QJsonObject change = listed[0].toObject();
    QCOMPARE(change["key"].toString(), QString("optimizer.lr"));
    QCOMPARE(change["before"].toDouble(), 0.002);
    QCOMPARE(change["after"].toDouble(), 0.001);
    QVERIFY(change["in_force"].toBool());
    QVERIFY(change["checkpoint"].toString().startsWith("step-"));
}

void TestCliRevert::theValueIsSetBackWhileItTrains() {
    const Answer unknown = m_own.run({"revert", kRun, "clip"});
    QVERIFY2(unknown.exitCode == 3 && unknown.err.contains("clip"), unknown.whole());
    QCOMPARE(*lrSet(), 0.001);
    const Answer back = m_own.run({"revert", kRun, "lr"}, kDeadlineMs);
    QVERIFY2(back.exitCode == 0 && back.out.contains("set took effect"), back.whole());
    QTRY_VERIFY_WITH_TIMEOUT(!lrSet(), kDeadlineMs); // as the spec says
    QCOMPARE(reader()->resolve(kRun)->attempt, 1);
    const QJsonArray listed = changes(); // that was a change, too
    QCOMPARE(listed.size(), 2);
    QVERIFY(listed[0].toObject()["in_force"].toBool());
    QVERIFY(!listed[1].toObject()["in_force"].toBool());
    const QString old = listed[1].toObject()["command"].toString();
    const Answer again = m_own.run({"revert", kRun, old});
    QVERIFY2(again.exitCode == 2 && again.err.contains("changed again since"), again.whole());
}

void TestCliRevert::theRunGoesBackToBeforeTheChange() {
    const Answer set = m_own.run({"set", kRun, "optimizer.lr=0.003", "--json"}, kDeadlineMs);
    QVERIFY2(set.exitCode == 0, set.whole());
    const auto step = set.json().object()["step"].toInteger();
    QVERIFY(!checkpointsAfter(step + 15).isEmpty());
    const Answer unagreed = m_own.run({"revert", kRun, "--from-checkpoint"});
    QVERIFY2(unagreed.exitCode == 2 && unagreed.err.contains("--yes"), unagreed.whole());
    QCOMPARE(reader()->resolve(kRun)->state, RunStateKind::kRunning);
    const Answer back =
        m_own.run({"revert", kRun, "--from-checkpoint", "--yes", "--json"}, kDeadlineMs);
    QVERIFY2(back.exitCode == 0, back.whole());
    QCOMPARE(back.json().object()["from_step"].toInteger(), step);
    const auto hasGoneOn = [&] {
        m_own.run({"show", kRun}, kDeadlineMs);
        const auto run = reader()->resolve(kRun);
        return run->attempt == 2 && run->step > step && run->state == RunStateKind::kRunning;
    };
    QTRY_VERIFY_WITH_TIMEOUT(hasGoneOn(), kDeadlineMs);
    const auto opened = reader();
    const auto run = opened->resolve(kRun);
    QCOMPARE(opened->attempts(run->id).back().startStep, step);
    QVERIFY(!lrSet()); // as it was before
    const QJsonArray listed = changes();
    QCOMPARE(listed.size(), 3);
    QVERIFY(!listed[0].toObject()["in_force"].toBool()); // what followed it is set aside
    QVERIFY(listed[1].toObject()["in_force"].toBool());
    // The pause saved where it was, so that nothing is lost.
    const auto all = opened->checkpoints(run->id);
    QVERIFY(std::ranges::any_of(all, [](const StoredCheckpoint& each) {
        return each.retiredBy == 2 && each.saved.reason == "pause" && !each.removed;
    }));
}

void TestCliRevert::theCheckpointIsRemovedByHand() {
    const Answer set = m_own.run({"set", kRun, "optimizer.clip=0.5", "--json"}, kDeadlineMs);
    QVERIFY2(set.exitCode == 0, set.whole());
    QVERIFY(!checkpointsAfter(set.json().object()["step"].toInteger() + 10).isEmpty());
    const QString name = changes()[0].toObject()["checkpoint"].toString();
    QVERIFY(!name.isEmpty());
    const Answer removed = m_own.run({"remove-checkpoint", kRun, name}, kDeadlineMs);
    QVERIFY2(removed.exitCode == 0, removed.whole());
    QVERIFY(changes()[0].toObject()["checkpoint"].isNull());
    const Answer none = m_own.run({"revert", kRun, "clip", "--from-checkpoint", "--yes"});
    QVERIFY2(none.exitCode == 3 && none.err.contains("not there any more"), none.whole());
    const Answer back = m_own.run({"remove-checkpoint", kRun, name, "--undo"}, kDeadlineMs);
    QVERIFY2(back.exitCode == 0, back.whole());
    QCOMPARE(changes()[0].toObject()["checkpoint"].toString(), name);
    // The others on the living line stay as the rules say.
    const auto steps = checkpointsAfter(0);
    const Answer refused =
        m_own.run({"remove-checkpoint", kRun, QString::number(steps.front())}, kDeadlineMs);
    QVERIFY2(refused.exitCode == 2, refused.whole());
}

void TestCliRevert::cleanupTestCase() {
    m_own.run({"kill", kRun}, kDeadlineMs);
}

QTEST_GUILESS_MAIN(TestCliRevert)
#include "tst_cli_revert.moc"
