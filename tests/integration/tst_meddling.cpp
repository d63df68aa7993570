// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "shared/io/file.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFile>
#include <QJsonObject>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

const QStringList kAllNodes = {"--node", "node-a:1", "--node", "node-b:1", "--node", "node-3:1"};
constexpr int kRanks = 3;

} // namespace

/// What people do to files and processes beside the program while a run trains, on three nodes over
/// SSH.
class tst_meddling : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void twoTerminalsThatLaunchAtOnceBothTrain();
    void aTerminalThatIsSuspendedIsNamedByTheOthers();
    void aNodeThatIsRenamedWhileItTrainsIsSaidAndFoundAgain();
    void aFolderThatWasMovedBehindALinkIsReadOn();
    void programsThatWereRemovedWhileItTrainsComeBack();
    void aKeyThatWasForgottenWhileItTrainsIsAskedFor();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    RunSummary summary(const QString& run) const {
        return findRun(cli().database(), run).value_or(RunSummary{});
    }
    bool waitForStep(const QString& run, int64_t step) const {
        return QTest::qWaitFor([&] { return summary(run).step >= step; }, 60000);
    }
    /// Launches a run in an app that follows it; its id.
    QString launch(const QString& name);
    /// Pauses it, and compares what is stored with what was trained.
    void pauseAndCompare(const QString& run) const;

    std::unique_ptr<Testbed> m_bed;
    std::unique_ptr<QProcess> m_app;
};

void tst_meddling::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("meddling", {.nodes = 3, .seeded = true, .areApart = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_meddling::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(m_app.get()).constData());
    m_app.reset();
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 20000);
}

QString tst_meddling::launch(const QString& name) {
    const QString spec = m_bed->writeSpec(name, {.steps = 1000000, .checkpointEvery = 0});
    m_app = cli().start(QStringList{"run", spec, "--wait"} + kAllNodes);
    const bool isThere = QTest::qWaitFor(
        [&] {
            const auto newest = newestRun(cli().database());
            return newest && newest->name == name;
        },
        60000);
    return isThere ? newestRun(cli().database())->id : QString();
}

void tst_meddling::pauseAndCompare(const QString& run) const {
    const CliResult paused = cli().run({"pause", run, "--json"}, 120000);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kPaused, 60000);
    const int64_t said = paused.json()["step"].toInteger(-1);
    const int64_t last = said > 0 ? said : summary(run).step; // a pause that was kept came first
    QVERIFY2(last > 0, paused.whole());
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), kRanks, 1, last),
             QByteArray());
}

/// Neither has an engine to ask when it begins.
void tst_meddling::twoTerminalsThatLaunchAtOnceBothTrain() {
    std::vector<std::unique_ptr<QProcess>> apps;
    for (const char* name : {"first", "second"})
        apps.push_back(cli().start(
            QStringList{"run", m_bed->writeSpec(name, {.steps = 60, .checkpointEvery = 0}),
                        "--wait", "--json"} +
            kAllNodes));
    QStringList ids;
    for (const auto& app : apps) {
        QVERIFY(app->waitForFinished(180000));
        const CliResult ended{app->exitCode(), app->readAllStandardOutput(),
                              app->readAllStandardError()};
        QVERIFY2(ended.exitCode == 0, ended.whole());
        ids << ended.json()["id"].toString();
    }
    QVERIFY(ids[0] != ids[1]);
    for (const QString& run : ids) {
        QCOMPARE(summary(run).state, RunStateKind::kFinished);
        QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), kRanks, 1, 60),
                 QByteArray());
    }
}

/// As by Ctrl+Z: it has the database and the links, and answers nobody.
void tst_meddling::aTerminalThatIsSuspendedIsNamedByTheOthers() {
    const QString run = launch("suspended");
    QVERIFY(waitForStep(run, 10));
    const auto other = cli().start({"attach", run}); // which the first serves
    QByteArray said;
    const auto hears = [&](const QByteArray& words) {
        said += other->readAllStandardError();
        return said.contains(words);
    };
    QTRY_VERIFY_WITH_TIMEOUT(hears("step"), 90000);
    const auto pid = static_cast<pid_t>(m_app->processId());
    QVERIFY(::kill(pid, SIGSTOP) == 0);
    const CliResult refused = cli().run({"pause", run}, 90000);
    const bool isNamed = QTest::qWaitFor([&] { return hears(QByteArray::number(pid)); }, 90000);
    QVERIFY(::kill(pid, SIGCONT) == 0);
    QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUnavailable) &&
                 refused.err.contains(QByteArray::number(pid)),
             refused.whole());
    QVERIFY2(isNamed, said); // who is served waits for it, too
    pauseAndCompare(run);
    QVERIFY(other->waitForFinished(60000));
    QCOMPARE(other->exitCode(), static_cast<int>(ExitCode::kPaused));
}

void tst_meddling::aNodeThatIsRenamedWhileItTrainsIsSaidAndFoundAgain() {
    const QString run = launch("renamed");
    QVERIFY(waitForStep(run, 10));
    m_app->kill(); // the next one reads the list anew
    QVERIFY(m_app->waitForFinished(20000));
    const QString path = cli().home() + "/config/ringmaster/nodes.toml";
    const auto before = readFile(path.toStdString());
    QVERIFY(before);
    const auto renamed = QString::fromStdString(*before).replace("node-b", "node-x").toStdString();
    QVERIFY(renamed != *before && writeFileAtomically(path.toStdString(), renamed));
    const CliResult shown = cli().run({"show", run}, 60000);
    QVERIFY2(shown.exitCode == 0, shown.whole());
    QVERIFY2(shown.whole().contains("cannot be reached: it was removed from the list of nodes"),
             shown.whole());
    const CliResult killed = cli().run({"kill", run}, 60000);
    QVERIFY(writeFileAtomically(path.toStdString(), *before));
    QVERIFY2(killed.whole().contains("node-b"), killed.whole());
    // What was done on the others ends it there as soon as it can be reached again.
    const CliResult attached = cli().run({"attach", run}, 120000);
    QVERIFY2(attached.exitCode == static_cast<int>(ExitCode::kStopped), attached.whole());
    QTRY_VERIFY_WITH_TIMEOUT(m_bed->processesNamed(1, "ringmaster-trainer") == 0, 30000);
}

/// To a larger disk, say.
void tst_meddling::aFolderThatWasMovedBehindALinkIsReadOn() {
    const QString run = launch("moved");
    QVERIFY(waitForStep(run, 10));
    const QString state = m_bed->server(1).home() + "/state/ringmaster";
    QVERIFY(QDir().rename(state, state + "-large") && QFile::link(state + "-large", state));
    const int64_t then = summary(run).step;
    QVERIFY(waitForStep(run, then + 20));
    m_app->kill(); // so that the next link is a new one
    QVERIFY(m_app->waitForFinished(20000));
    pauseAndCompare(run);
    QVERIFY(QFile::remove(state) && QDir().rename(state + "-large", state));
}

/// As by somebody who needs room.
void tst_meddling::programsThatWereRemovedWhileItTrainsComeBack() {
    const QString run = launch("cleared");
    QVERIFY(waitForStep(run, 10));
    for (const int node : {0, 1}) {
        QDir programs(m_bed->server(node).home() + "/data/ringmaster");
        for (const QFileInfo& each :
             programs.entryInfoList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)) {
            if (each.isDir() && !each.isSymLink())
                QVERIFY(QDir(each.filePath()).removeRecursively());
            else
                QVERIFY(QFile::remove(each.filePath()));
        }
    }
    const int64_t then = summary(run).step;
    QVERIFY(waitForStep(run, then + 20)); // what runs needs no files
    m_app->kill();
    QVERIFY(m_app->waitForFinished(20000));
    pauseAndCompare(run);
    m_app = cli().start(QStringList{"resume", run, "--wait"});
    QTRY_VERIFY_WITH_TIMEOUT(summary(run).attempt == 2, 180000);
    const int64_t again = summary(run).step;
    QVERIFY(waitForStep(run, again + 5));
    pauseAndCompare(run);
}

void tst_meddling::aKeyThatWasForgottenWhileItTrainsIsAskedFor() {
    const QString run = launch("forgotten");
    QVERIFY(waitForStep(run, 10));
    m_app->kill();
    QVERIFY(m_app->waitForFinished(20000));
    const QString known = cli().knownHosts();
    QVERIFY(QFile::rename(known, known + ".away"));
    const CliResult refused = cli().run({"pause", run}, 90000);
    QFile::remove(known);
    QVERIFY(QFile::rename(known + ".away", known));
    QVERIFY2(refused.exitCode != 0 && refused.err.contains("is not known on this computer"),
             refused.whole());
    QVERIFY2(refused.err.contains("connect to ssh ") && refused.err.contains(" key SHA256:"),
             refused.whole());
    pauseAndCompare(run);
}

QTEST_GUILESS_MAIN(tst_meddling)
#include "tst_meddling.moc"
