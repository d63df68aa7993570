// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_summary.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"
#include "tests/torture/oracle_steps.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTest>

#include <algorithm>
#include <csignal>

using namespace rm;
using namespace rm::torture;

namespace {

constexpr int kNodes = NetworkLab::kMaxNodes;
constexpr int64_t kSteps = 30;
constexpr int64_t kStrikeAt = 12;
constexpr int64_t kMostBytes = 32 << 20; // an agent has 10 MiB, the trainer 250
constexpr int64_t kMostKiB = 500 * 1024;
constexpr int kPatienceMs = 300000; // two processors begin 64 ranks one after the other

/// The most memory that a process ever had.
int64_t peakKiB(qint64 pid) {
    QFile file(QString("/proc/%1/status").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return -1;
    const QByteArray text = file.readAll();
    return text.mid(text.indexOf("VmHWM:") + 6).simplified().split(' ').value(0).toLongLong();
}

/// False as well for what could not be measured.
bool isWithin(int64_t value, int64_t most) {
    return value > 0 && value < most;
}

} // namespace

/// A fleet larger than a person's: all that is promised of two nodes, of 64 at once.
class tst_torture_fleet : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void f21SixtyFourNodesStartAtOnceAndLoseNothing();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    RunSummary newest() const { return newestRun(cli().database()).value_or(RunSummary{}); }
    int ranksThatRecorded(const QString& run, int64_t step) const;

    QTemporaryDir m_oracle;
    std::unique_ptr<Testbed> m_bed;
    std::unique_ptr<QProcess> m_app;
};

void tst_torture_fleet::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("fleet", {.environment = {"RINGMASTER_ORACLE=" + m_oracle.path()},
                                         .nodes = kNodes,
                                         .sharesHome = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_torture_fleet::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qWarning("%s", m_bed->reportAndClean(m_app.get()).constData());
    m_app.reset();
}

int tst_torture_fleet::ranksThatRecorded(const QString& run, int64_t step) const {
    int ranks = 0;
    for (const auto& [rank, recorded] : readOracle(m_oracle.path(), run))
        ranks += !recorded.empty() && recorded.back().step >= step;
    return ranks;
}

void tst_torture_fleet::f21SixtyFourNodesStartAtOnceAndLoseNothing() {
    QStringList command{"run", m_bed->writeSpec("fleet", {.steps = kSteps, .checkpointEvery = 10}),
                        "--wait"};
    for (int node = 0; node < kNodes; ++node)
        command << "--node" << Testbed::nodeName(node) + ":1";
    QElapsedTimer since;
    since.start();
    m_app = cli().start(command);
    QTRY_VERIFY_WITH_TIMEOUT(ranksThatRecorded(newest().id, 2) == kNodes, kPatienceMs);
    const QString run = newest().id;
    const qint64 startedMs = since.restart();
    const int64_t ofLaunch = peakKiB(m_app->processId());
    // They share a home, so that the trainer went over the network once.
    for (int node = 1; node < kNodes; ++node)
        QVERIFY2(isWithin(m_bed->lab().managementBytesTo(node), kMostBytes),
                 qPrintable(Testbed::nodeName(node)));

    // Another app finds all of them at once.
    m_app->kill();
    QVERIFY(m_app->waitForFinished(20000));
    m_app = cli().start({"attach", run});
    const int64_t seen = newest().step;
    QTRY_VERIFY_WITH_TIMEOUT(newest().step > seen, kPatienceMs);
    const qint64 attachedMs = since.restart();

    // One rank is killed: all begin again from the last checkpoint.
    QTRY_VERIFY_WITH_TIMEOUT(ranksThatRecorded(run, kStrikeAt) == kNodes, kPatienceMs);
    const std::vector<pid_t> struck = m_bed->processes(kNodes / 2, "ringmaster-trainer");
    QCOMPARE(struck.size(), size_t{1});
    QCOMPARE(::kill(struck.front(), SIGKILL), 0);
    since.restart();
    const auto continues = [&] {
        const auto recorded = readOracle(m_oracle.path(), run);
        return std::ranges::all_of(recorded,
                                   [](const auto& of) { return of.second.back().attempt == 2; });
    };
    QTRY_VERIFY_WITH_TIMEOUT(continues(), kPatienceMs);
    const qint64 restartedMs = since.restart();
    QTRY_VERIFY_WITH_TIMEOUT(ranksThatRecorded(run, kSteps) == kNodes, kPatienceMs);
    const int64_t ofAttach = peakKiB(m_app->processId());
    QVERIFY2(m_app->waitForFinished(kPatienceMs), m_app->readAllStandardError());
    QCOMPARE(newest().state, RunStateKind::kFinished);
    QCOMPARE(newest().attempt, 2);
    const auto recorded = readOracle(m_oracle.path(), run);
    QCOMPARE(flawIn(recorded), QByteArray());
    QCOMPARE(flawInStore(cli().database(), run, recorded, kNodes), QByteArray());
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 60000);
    QVERIFY2(isWithin(ofLaunch, kMostKiB), qPrintable(QString::number(ofLaunch)));
    QVERIFY2(isWithin(ofAttach, kMostKiB), qPrintable(QString::number(ofAttach)));
    qInfo("the later of two steps of %d ranks after %lld ms, a new app had the next one after "
          "%lld ms, all restarted within %lld ms; %lld MiB to launch, %lld to attach",
          kNodes, startedMs, attachedMs, restartedMs, qlonglong(ofLaunch / 1024),
          qlonglong(ofAttach / 1024));
}

QTEST_GUILESS_MAIN(tst_torture_fleet)
#include "tst_torture_fleet.moc"
