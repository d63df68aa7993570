// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "shared/io/clock.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

constexpr int kRanks = 4;
constexpr int kSteps = 400;
constexpr int kCheckpointEvery = 50;
constexpr int kCutMs = 20000;
const QStringList kBothNodes = {"--node", "node-a:2", "--node", "node-b:2"};

} // namespace

/// The main way with real parts: two nodes behind sshd, two ranks each, the terminal's engine on a
/// laptop that is killed and cut off. The functions build on one another, in order.
class tst_end_to_end : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void nodeIsAddedOnlyWithItsOwnFingerprint();
    void checkTellsWhatTheNodesAre();
    void killedAppLosesNoStep();
    void secondDeploySendsNothing();
    void aLaunchAndItsFollowerTakeOneLogin();
    void pauseFreesTheNodes();
    void resumeGoesOnAtTheNextStep();
    void olderCheckpointIsRestoredInTheSameRun();
    void branchIsARunOfItsOwn();
    void trainingDoesNotNoticeACutLink();
    void databaseIsSound();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    QString database() const { return cli().database(); }
    RunSummary summary(const QString& run) const;
    bool waitForStep(const QString& run, int64_t step, int limitMs) const;
    void verifyEveryStepOnce(const QString& run, int64_t first, int64_t last) const;
    int trainers() const;

    std::unique_ptr<Testbed> m_bed;
    QString m_run;
};

RunSummary tst_end_to_end::summary(const QString& run) const {
    return findRun(database(), run).value_or(RunSummary{});
}

bool tst_end_to_end::waitForStep(const QString& run, int64_t step, int limitMs) const {
    return QTest::qWaitFor([&] { return summary(run).step >= step; }, limitMs);
}

void tst_end_to_end::verifyEveryStepOnce(const QString& run, int64_t first, int64_t last) const {
    const CliResult csv = cli().run({"export", run, "--format", "csv"});
    QCOMPARE(csv.exitCode, 0);
    QCOMPARE(flawIn(stepsInCsv(csv.out, "train/loss"), kRanks, first, last), QByteArray());
    QCOMPARE(flawIn(stepsInStore(database(), run, "train/loss"), kRanks, first, last),
             QByteArray());
}

int tst_end_to_end::trainers() const {
    return m_bed->processesNamed(0, "ringmaster-trainer") +
           m_bed->processesNamed(1, "ringmaster-trainer");
}

void tst_end_to_end::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("e2e", {.stepMs = 0});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
}

void tst_end_to_end::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_end_to_end::nodeIsAddedOnlyWithItsOwnFingerprint() {
    const CliResult wrong = cli().run(m_bed->addCommand(0, "SHA256:" + QString(43, 'A')));
    QCOMPARE(wrong.exitCode, static_cast<int>(ExitCode::kDenied));
    QVERIFY2(wrong.err.contains(m_bed->server(0).fingerprint().toUtf8()), wrong.whole());
    QVERIFY(!QFile::exists(cli().knownHosts()));

    for (int i = 0; i < NetworkLab::kNodes; ++i) {
        const CliResult added = cli().run(m_bed->addCommand(i, m_bed->server(i).fingerprint()));
        QVERIFY2(added.exitCode == 0, added.whole());
    }
    const CliResult list = cli().run({"nodes", "list", "--json"});
    QCOMPARE(list.json().array().size(), 3);
}

void tst_end_to_end::checkTellsWhatTheNodesAre() {
    const CliResult check = cli().run({"nodes", "check", "--json"});
    QVERIFY2(check.exitCode == 0, check.whole());
    const QJsonArray nodes = check.json().array();
    QCOMPARE(nodes.size(), 3);
    for (const QJsonValue& node : nodes)
        QVERIFY2(node["ready"].toBool(), check.whole());
}

void tst_end_to_end::killedAppLosesNoStep() {
    const QString spec = m_bed->writeSpec("tiny", {.steps = kSteps});
    const auto app = cli().start(QStringList{"run", spec, "--wait", "--json"} + kBothNodes);
    QVERIFY2(QTest::qWaitFor(
                 [&] {
                     const auto run = newestRun(database());
                     return (run && run->step >= kSteps / 2) || app->state() != QProcess::Running;
                 },
                 90000),
             "half of the steps take too long");
    QVERIFY2(app->state() == QProcess::Running, app->readAllStandardError());
    ::kill(static_cast<pid_t>(app->processId()), SIGKILL);
    QVERIFY(app->waitForFinished(5000));
    m_run = newestRun(database())->id;
    QCOMPARE(trainers(), kRanks);

    const CliResult attached = cli().run({"attach", m_run, "--wait"}, 120000);
    QVERIFY2(attached.exitCode == 0, attached.whole());
    QCOMPARE(summary(m_run).state, RunStateKind::kFinished);
    verifyEveryStepOnce(m_run, 1, kSteps);
}

void tst_end_to_end::secondDeploySendsNothing() {
    const qint64 before = m_bed->lab().managementBytesTo(1);
    const QString spec = m_bed->writeSpec("again", {.steps = 5});
    const CliResult again = cli().run(QStringList{"run", spec, "--wait"} + kBothNodes);
    QVERIFY2(again.exitCode == 0, again.whole());
    QVERIFY(m_bed->lab().managementBytesTo(1) - before < 1 << 20);
}

void tst_end_to_end::aLaunchAndItsFollowerTakeOneLogin() {
    const auto logins = [this](int node) {
        return m_bed->server(node).log().count("Accepted publickey");
    };
    const std::vector<qsizetype> before{logins(0), logins(1)};
    const QString spec = m_bed->writeSpec("one-login", {.steps = 5});
    const CliResult run = cli().run(QStringList{"run", spec, "--wait"} + kBothNodes);
    QVERIFY2(run.exitCode == 0, run.whole());
    for (int node = 0; node < 2; ++node)
        QCOMPARE(logins(node) - before[static_cast<size_t>(node)], 1);
}

void tst_end_to_end::pauseFreesTheNodes() {
    const QString spec = m_bed->writeSpec("paused", {.steps = kSteps});
    const CliResult started = cli().run(QStringList{"run", spec, "--json"} + kBothNodes);
    QVERIFY2(started.exitCode == 0, started.whole());
    m_run = newestRun(database())->id;
    const CliResult paused = cli().run({"pause", m_run});
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QCOMPARE(trainers(), 0);
    QCOMPARE(summary(m_run).state, RunStateKind::kPaused);
    QVERIFY(summary(m_run).step < kSteps);
    verifyEveryStepOnce(m_run, 1, summary(m_run).step);
}

void tst_end_to_end::resumeGoesOnAtTheNextStep() {
    const int64_t pausedAt = summary(m_run).step;
    const CliResult resumed = cli().run({"resume", m_run, "--wait"}, 120000);
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QCOMPARE(summary(m_run).state, RunStateKind::kFinished);
    QCOMPARE(summary(m_run).attempt, 2);
    const auto attempts = StoreReader::open(database()).value()->attempts(m_run);
    QCOMPARE(attempts.back().startStep, pausedAt);
    verifyEveryStepOnce(m_run, 1, kSteps);
}

void tst_end_to_end::olderCheckpointIsRestoredInTheSameRun() {
    const int64_t older = kSteps - 2 * kCheckpointEvery;
    const CliResult list = cli().run({"checkpoints", m_run, "--json"});
    QVERIFY2(list.exitCode == 0, list.whole());
    QVERIFY(list.json().array().size() >= 3);
    const auto before = pointsOf(database(), m_run, "train/loss", 0);

    const CliResult restored =
        cli().run({"restore", m_run, QString::number(older), "--yes", "--wait"}, 120000);
    QVERIFY2(restored.exitCode == 0, restored.whole());
    QCOMPARE(summary(m_run).attempt, 3);
    verifyEveryStepOnce(m_run, 1, kSteps);
    const auto after = pointsOf(database(), m_run, "train/loss", 0);
    for (size_t i = 0; i < before.size(); ++i)
        QCOMPARE(after[i].value, before[i].value); // bit-equal: the same steps once more
    QVERIFY(after.back().wallNs > before.back().wallNs);
}

void tst_end_to_end::branchIsARunOfItsOwn() {
    const int64_t from = kSteps - kCheckpointEvery;
    const CliResult branched =
        cli().run({"restore", m_run, QString::number(from), "--as-new", "--wait"}, 120000);
    QVERIFY2(branched.exitCode == 0, branched.whole());
    const RunSummary branch = newestRun(database()).value();
    QVERIFY(branch.id != m_run);
    QCOMPARE(branch.parentRun, m_run);
    QCOMPARE(branch.parentStep, from);
    verifyEveryStepOnce(branch.id, from + 1, kSteps);
    verifyEveryStepOnce(m_run, 1, kSteps);
}

void tst_end_to_end::trainingDoesNotNoticeACutLink() {
    const QString spec = m_bed->writeSpec("cut", {.steps = 1000000, .checkpointEvery = 0});
    const auto app = cli().start(QStringList{"run", spec, "--wait", "--json"} + kBothNodes);
    QVERIFY(QTest::qWaitFor([&] { return newestRun(database())->name == "cut"; }, 30000));
    const QString run = newestRun(database())->id;
    QVERIFY(waitForStep(run, 100, 30000));

    for (int i = 0; i < NetworkLab::kNodes; ++i)
        QVERIFY(m_bed->lab().setManagementLink(i, false));
    const int64_t cutNs = wallNowNs();
    QVERIFY(!QTest::qWaitFor([&] { return trainers() != kRanks; }, kCutMs));
    const int64_t healNs = wallNowNs();
    for (int i = 0; i < NetworkLab::kNodes; ++i)
        QVERIFY(m_bed->lab().setManagementLink(i, true));

    const auto lastWallNs = [&] {
        const auto points = pointsOf(database(), run, "train/loss", kRanks - 1);
        return points.empty() ? 0 : points.back().wallNs;
    };
    QTRY_VERIFY_WITH_TIMEOUT(lastWallNs() > healNs + 1'000'000'000, 40000);
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(app->waitForFinished(20000));
    QCOMPARE(app->exitCode(), static_cast<int>(ExitCode::kStopped));
    QCOMPARE(summary(run).state, RunStateKind::kStopped);
    verifyEveryStepOnce(run, 1, summary(run).step);
    const auto stepMs = pointsOf(database(), run, "train/step_ms", 0);
    QCOMPARE(stallIn(stepMs, cutNs, healNs), QByteArray());
}

void tst_end_to_end::databaseIsSound() {
    QCOMPARE(integrityOf(database()), std::string("ok"));
}

QTEST_GUILESS_MAIN(tst_end_to_end)
#include "tst_end_to_end.moc"
