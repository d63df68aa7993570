// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_writer.h"
#include "shared/journal/segment.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

using namespace rm;

namespace {

constexpr int kRanks = 2;
constexpr int kSteps = 800; // in 16 s at least: it is paused before that
constexpr int kLimitMs = 60000;
const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

/// A file that cannot be read while this lives.
class Unreadable {
public:
    explicit Unreadable(QString path)
        : m_path(std::move(path)) {
        m_isDone = QFile::rename(m_path, m_path + ".aside") && QDir().mkdir(m_path);
    }
    ~Unreadable() {
        QDir().rmdir(m_path);
        QFile::rename(m_path + ".aside", m_path);
    }
    Unreadable(const Unreadable&) = delete;
    Unreadable& operator=(const Unreadable&) = delete;
    bool isDone() const { return m_isDone; }

private:
    QString m_path;
    bool m_isDone = false;
};

} // namespace

/// A number of an attempt that a node has seen belongs to that attempt for ever.
class tst_attempts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void aHalfFailedResumeUsesUpItsNumber();
    void aResumeThatWasKilledUsesUpItsNumber();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    RunSummary summary(const QString& run) const {
        return findRun(cli().database(), run).value_or(RunSummary{});
    }
    QString agentFile(int node, const QString& run) const;
    int attemptOn(int node, const QString& run) const;
    QString launchAndPause(const QString& name);
    void finish(const QString& run) const;

    std::unique_ptr<Testbed> m_bed;
};

QString tst_attempts::agentFile(int node, const QString& run) const {
    return m_bed->server(node).home() + "/state/ringmaster/runs/" + run + "/" +
           QString::fromStdString(rm::nodeName(node)) + "/agent.json";
}

int tst_attempts::attemptOn(int node, const QString& run) const {
    QFile file(agentFile(node, run));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return QJsonDocument::fromJson(file.readAll()).object()["attempt"].toInt();
}

void tst_attempts::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("attempts", {.seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_attempts::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

QString tst_attempts::launchAndPause(const QString& name) {
    const QString spec = m_bed->writeSpec(name, {.steps = kSteps, .checkpointEvery = 20});
    const CliResult started = cli().run(QStringList{"run", spec, "--json"} + kBothNodes);
    const QString run = started.json().object()["id"].toString();
    const CliResult paused = cli().run({"pause", run, "--json"});
    const CliResult shown = cli().run({"runs", "--json"});
    if (started.exitCode != 0 || paused.exitCode != 0 || shown.exitCode != 0)
        qWarning("%s%s%s", started.whole().constData(), paused.whole().constData(),
                 shown.whole().constData());
    return run;
}

void tst_attempts::finish(const QString& run) const {
    const CliResult ended = cli().run({"attach", run}, kLimitMs);
    QVERIFY2(ended.exitCode == 0, ended.whole());
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), kRanks, 1, kSteps),
             QByteArray());
}

void tst_attempts::aHalfFailedResumeUsesUpItsNumber() {
    const QString run = launchAndPause("halved");
    QCOMPARE(summary(run).state, RunStateKind::kPaused);
    QCOMPARE(attemptOn(1, run), 1);
    {
        const Unreadable broken(agentFile(1, run));
        QVERIFY(broken.isDone());
        const CliResult failed = cli().run({"resume", run});
        QVERIFY2(failed.exitCode > 0 && failed.err.contains("agent.json"), failed.whole());
    }
    QCOMPARE(attemptOn(0, run), 2); // it ran there, and was ended
    QCOMPARE(attemptOn(1, run), 1);
    QCOMPARE(summary(run).state, RunStateKind::kPaused);

    const CliResult resumed = cli().run({"resume", run});
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QCOMPARE(attemptOn(0, run), 3);
    QCOMPARE(attemptOn(1, run), 3);
    QCOMPARE(summary(run).attempt, 3);
    const auto commands = cli().run({"commands", run, "--json"}).json().array();
    QCOMPARE(commands.size(), 3); // newest first
    QCOMPARE(commands[0]["command"].toString(), "resume");
    QCOMPARE(commands[0]["state"].toString(), "applied");
    QCOMPARE(commands[0]["answer"].toString(), "attempt 3");
    QCOMPARE(commands[0]["from"].toString(), "terminal");
    QCOMPARE(commands[1]["state"].toString(), "refused");
    QCOMPARE(commands[2]["command"].toString(), "pause");
    finish(run);
}

void tst_attempts::aResumeThatWasKilledUsesUpItsNumber() {
    const QString run = launchAndPause("killed");
    const RunSummary before = summary(run);
    {
        // What is written last before ranks start, by a Ringmaster that then is no more.
        const auto writer = StoreWriter::open(cli().database());
        QVERIFY(writer);
        QVERIFY((*writer)->beginAttempt(run, {2, before.step, "", before.nodes}));
    }
    QCOMPARE(summary(run).state, RunStateKind::kPreparing);
    const CliResult settled = cli().run({"attach", run}, kLimitMs);
    QVERIFY2(settled.err.contains("interrupted") || settled.out.contains("interrupted"),
             settled.whole());
    QCOMPARE(summary(run).state, RunStateKind::kFailed);

    const CliResult resumed = cli().run({"resume", run});
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QCOMPARE(attemptOn(0, run), 3);
    QCOMPARE(attemptOn(1, run), 3);
    finish(run);
}

QTEST_GUILESS_MAIN(tst_attempts)
#include "tst_attempts.moc"
