// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QScopeGuard>
#include <QTcpServer>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 40000;
const QString kRun = "shared-run";

QStringList launchWords(const QString& name) {
    return longRunWords(name, 5000, "this-computer:2");
}

} // namespace

/// Several Ringmasters at once, and such as were killed, over one database.
class TestCliRuns : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSecondInstanceCommandsWhatTheFirstFollows();
    void aSecondTerminalLaunchesThroughTheFirst();
    void bothHearOfAPause();
    void twoPausesAtOnceBothPause();
    void errorsOfARestoreSayRestore();
    void killedIsSaidAndNamed();
    void aResumeThatEndsAtOnceIsAnError();
    void aResumeSaysHowItWentThoughItsHolderEnds();
    void theLogIsPrintedAndWrittenToAFile();
    void anInterruptedLaunchIsSettledByTheNextList();
    void ctrlCCancelsALaunchAtOnce();
    void ctrlCCancelsAMeasurementOfTheNetwork();
    void ctrlCCancelsACheckOfNodes();
    void ctrlCCancelsAForecastAndNotAPartOfIt();
    void ctrlCEndsWhatALaunchStarted();
    void aLaunchIsStoppedFromAnotherTerminal();
    void aListDoesNotStandInTheWayOfALaunch();
    void ofTwoEndingsOnlyTheOneThatCameFirstIsDone_data();
    void ofTwoEndingsOnlyTheOneThatCameFirstIsDone();
    void anInterruptedCommandSaysWhatBecomesOfIt();
    void aListThatIsAwayTakesNothingAndLosesNothing();
    void endingsGoThroughThoughTheDiskHereIsFull_data();
    void endingsGoThroughThoughTheDiskHereIsFull();
    void runsAreCompared();
    void aRunIsLaunchedAgainOnlyWithItsData();
    void keysOfRunsAreATable();
    void whatIsStoredIsAskedInSql();

private:
    std::optional<RunSummary> find(const QString& name) const;
    std::unique_ptr<QProcess> startLongLaunch(const QString& name) const;

    OwnFolders m_own;
    std::unique_ptr<QProcess> m_first;
};

std::optional<RunSummary> TestCliRuns::find(const QString& name) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    if (!reader)
        return std::nullopt;
    const auto found = (*reader)->resolve(name);
    return found ? std::optional(*found) : std::nullopt;
}

void TestCliRuns::aSecondInstanceCommandsWhatTheFirstFollows() {
    m_first = m_own.start(launchWords(kRun) + QStringList{"--wait", "--json"});
    const auto trains = [this] {
        const auto run = find(kRun);
        return run && run->step > 0;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(trains(), m_first->readAllStandardError(), kDeadlineMs);
    const Answer hold = m_own.run({"hold", kRun, "--json"});
    QVERIFY2(hold.exitCode == 0 && hold.json().object()["step"].toInt() > 0, hold.whole());
    const Answer list = m_own.run({"runs"});
    QVERIFY2(list.out.contains("  held  "), list.whole());
    QVERIFY(m_own.run({"show", kRun, "--json"}).json().object()["held"].toBool());
    const Answer going = m_own.run({"continue", kRun, "--json"});
    QVERIFY2(going.exitCode == 0, going.whole());
    QCOMPARE(going.json().object()["step"], hold.json().object()["step"]);
}

void TestCliRuns::aSecondTerminalLaunchesThroughTheFirst() {
    const Answer launch = m_own.run(launchWords("another") + QStringList{"--json"});
    QVERIFY2(launch.exitCode == 0, launch.whole());
    QCOMPARE(find("another")->id, launch.json().object()["id"].toString());
    const Answer stop = m_own.run({"stop", "another", "--json"});
    QVERIFY2(stop.exitCode == 0, stop.whole());
    QCOMPARE(find(kRun)->state, RunStateKind::kRunning);
}

void TestCliRuns::bothHearOfAPause() {
    const Answer pause = m_own.run({"pause", kRun, "--json"});
    QVERIFY2(pause.exitCode == 0 && pause.json().object()["applied"].toBool(), pause.whole());
    QVERIFY(m_first->waitForFinished(kDeadlineMs));
    QCOMPARE(m_first->exitCode(), static_cast<int>(ExitCode::kPaused));
    const auto shown = QJsonDocument::fromJson(m_first->readAllStandardOutput()).object();
    QCOMPARE(shown["state"].toString(), QString("paused"));
    const Answer again = m_own.run({"pause", kRun, "--json"});
    QVERIFY2(again.exitCode == 0, again.whole());
    QCOMPARE(again.json().object()["message"].toString(), QString("it is paused"));
    const Answer words = m_own.run({"pause", kRun});
    QVERIFY2(words.exitCode == 0 && words.out.endsWith(": it is paused\n"), words.whole());
    const Answer hold = m_own.run({"hold", kRun});
    QVERIFY2(hold.exitCode == static_cast<int>(ExitCode::kUsage), hold.whole());
}

void TestCliRuns::twoPausesAtOnceBothPause() {
    const Answer resumed = m_own.run({"resume", kRun, "--json"});
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    const auto first = m_own.start({"pause", kRun, "--json"});
    const auto second = m_own.start({"pause", kRun, "--json"});
    for (QProcess* pause : {first.get(), second.get()}) {
        QVERIFY(pause->waitForFinished(kDeadlineMs));
        QVERIFY2(pause->exitCode() == 0, pause->readAllStandardError());
    }
    QCOMPARE(find(kRun)->state, RunStateKind::kPaused);
}

void TestCliRuns::errorsOfARestoreSayRestore() {
    const Answer restore = m_own.run({"restore", kRun, "3"});
    QVERIFY2(restore.exitCode == static_cast<int>(ExitCode::kNotFound), restore.whole());
    QVERIFY2(restore.err.contains("restore " + find(kRun)->id.toUtf8() + ": "), restore.whole());
    QVERIFY2(!restore.err.contains("resume"), restore.whole());
}

void TestCliRuns::killedIsSaidAndNamed() {
    const Answer resumed = m_own.run({"resume", kRun, "--json"});
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    const Answer kill = m_own.run({"kill", kRun});
    QVERIFY2(kill.exitCode == 0 && kill.out.endsWith(": killed\n"), kill.whole());
    const QJsonObject shown = m_own.run({"show", kRun, "--json"}).json().object();
    QCOMPARE(shown["state"].toString(), QString("stopped"));
    QVERIFY(shown["killed"].toBool());
    const Answer list = m_own.run({"runs"});
    QVERIFY2(list.out.contains("  killed  "), list.whole());
    QCOMPARE(shown["message"].toString(), QString("killed on request"));
    const QJsonArray ranks = shown["rank_states"].toArray();
    QCOMPARE(ranks.size(), 2);
    for (const QJsonValue& rank : ranks) {
        const QJsonObject exit = rank.toObject()["exit"].toObject();
        QCOMPARE(exit["code"].toInt(), 128 + SIGKILL);
        QCOMPARE(exit["name"].toString(), QString("killed by SIGKILL"));
    }
    const Answer again = m_own.run({"kill", kRun, "--json"});
    QVERIFY2(again.exitCode == 0, again.whole());
    QCOMPARE(again.json().object()["message"].toString(), QString("it is killed"));
}

void TestCliRuns::aResumeThatEndsAtOnceIsAnError() {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    QVERIFY(reader);
    for (const StoredCheckpoint& checkpoint : (*reader)->checkpoints(find(kRun)->id))
        QFile::resize(QString::fromStdString(checkpoint.saved.path + "/model.safetensors"), 100);
    const Answer resume = m_own.run({"resume", kRun, "--json"});
    QVERIFY2(resume.exitCode == static_cast<int>(ExitCode::kRunFailed), resume.whole());
    const QString message = resume.json().object()["error"].toObject()["message"].toString();
    QVERIFY2(message.contains(" failed: rank 0 on this-computer: "), resume.whole());
    QCOMPARE(find(kRun)->state, RunStateKind::kFailed);
}

/// The holder ends when the ranks are started, before it has read a word of theirs.
void TestCliRuns::aResumeSaysHowItWentThoughItsHolderEnds() {
    const auto holder = m_own.start(launchWords("holds") + QStringList{"--wait"});
    const auto trains = [this] {
        const auto run = find("holds");
        return run && run->step > 0;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(trains(), holder->readAllStandardError(), kDeadlineMs);
    const int before = find(kRun)->attempt;
    const auto resume = m_own.start({"resume", kRun, "--json"}); // its checkpoints are damaged
    QTRY_VERIFY_WITH_TIMEOUT(find(kRun)->attempt > before, kDeadlineMs);
    ::kill(static_cast<pid_t>(holder->processId()), SIGINT);
    QVERIFY(holder->waitForFinished(kDeadlineMs));
    QVERIFY(resume->waitForFinished(kDeadlineMs));
    const QByteArray words = resume->readAllStandardError();
    QVERIFY2(resume->exitCode() == static_cast<int>(ExitCode::kRunFailed), words);
    QVERIFY2(words.contains(" failed: rank 0 on this-computer: "), words);
    const Answer killed = m_own.run({"kill", "holds"});
    QVERIFY2(killed.exitCode == 0, killed.whole());
}

void TestCliRuns::theLogIsPrintedAndWrittenToAFile() {
    const Answer all = m_own.run({"logs", kRun});
    QVERIFY2(all.exitCode == 0 && all.out.contains("  this-computer:0  "), all.whole());
    const Answer one = m_own.run({"logs", kRun, "--filter", "checkpoint"});
    QVERIFY2(one.exitCode == 0 && one.out.count('\n') < all.out.count('\n'), one.whole());
    const Answer found = m_own.run({"logs", kRun, "--search", "checkpoint"});
    QVERIFY2(found.exitCode == 0 && found.out == one.out, found.whole());
    const QJsonArray lines = m_own.run({"logs", kRun, "--json"}).json().array();
    QCOMPARE(lines.size(), all.out.count('\n'));
    // The agent noted when they were written.
    for (const QJsonValue line : lines) {
        QVERIFY2(line["stamped"].toBool(), qPrintable(line["text"].toString()));
        QCOMPARE(line["node"].toString(), QString("this-computer"));
    }
    const auto errors = [this] { // that were written just now, as an attempt failed before
        return m_own.run({"logs", kRun, "--severity", "error", "--since", "1s"});
    };
    QTRY_VERIFY2_WITH_TIMEOUT(errors().out.isEmpty(), errors().whole(), kDeadlineMs);
    QCOMPARE(errors().exitCode, 0);
    const Answer unsound = m_own.run({"logs", kRun, "--since", "yesterday"});
    QVERIFY2(unsound.exitCode == static_cast<int>(ExitCode::kUsage), unsound.whole());
    QVERIFY2(unsound.err.contains("is no step and no time"), unsound.whole());
    const Answer known = m_own.run({"logs", kRun, "--explain"});
    QVERIFY2(known.exitCode == 0 && known.out.contains("No line of it"), known.whole());
    const QString path = m_own.path("run.log");
    const Answer written = m_own.run({"logs", kRun, "--output", path, "--json"});
    QVERIFY2(written.exitCode == 0, written.whole());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), all.out);
    QCOMPARE(written.json().object()["lines"].toInt(), all.out.count('\n'));
}

/// With so much to send that it is still at it when it is given up.
std::unique_ptr<QProcess> TestCliRuns::startLongLaunch(const QString& name) const {
    QFile data(m_own.path("data.txt"));
    if (data.open(QIODevice::WriteOnly))
        data.resize(3LL << 30);
    return m_own.start(launchWords(name) + QStringList{"--set", "data.stage=true", "--set",
                                                       "data.train=['" + data.fileName() + "']"});
}

void TestCliRuns::anInterruptedLaunchIsSettledByTheNextList() {
    const auto launching = startLongLaunch("cut");
    QTRY_VERIFY_WITH_TIMEOUT(find("cut"), kDeadlineMs);
    QCOMPARE(find("cut")->state, RunStateKind::kPreparing);
    launching->kill();
    QVERIFY(launching->waitForFinished());
    const Answer list = m_own.run({"runs", "--json"});
    QVERIFY2(list.exitCode == 0, list.whole());
    QCOMPARE(find("cut")->state, RunStateKind::kFailed);
    QVERIFY(find("cut")->message.contains("interrupted"));
}

void TestCliRuns::ctrlCCancelsALaunchAtOnce() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    const Answer added = m_own.run({"nodes", "add", "silent", "--no-check", "--ssh",
                                    "127.0.0.1:" + QString::number(silent.serverPort())});
    QVERIFY2(added.exitCode == 0, added.whole());
    const auto launching = m_own.start({"run", "gpt-tiny", "--node", "silent:1", "--json"});
    QTRY_VERIFY_WITH_TIMEOUT(silent.hasPendingConnections(), kDeadlineMs);
    QElapsedTimer timer;
    timer.start();
    ::kill(static_cast<pid_t>(launching->processId()), SIGINT);
    QVERIFY(launching->waitForFinished(kDeadlineMs));
    QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(launching->exitCode(), 128 + SIGINT);
    const QByteArray words = launching->readAllStandardError();
    QVERIFY2(words.contains("cancelled; nothing of it runs"), words);
}

void TestCliRuns::ctrlCCancelsAMeasurementOfTheNetwork() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    const Answer added = m_own.run({"nodes", "add", "mute", "--no-check", "--ssh",
                                    "127.0.0.1:" + QString::number(silent.serverPort())});
    QVERIFY2(added.exitCode == 0, added.whole());
    const auto measuring = m_own.start({"nodes", "network", "mute", "this-computer"});
    QTRY_VERIFY_WITH_TIMEOUT(silent.hasPendingConnections(), kDeadlineMs);
    ::kill(static_cast<pid_t>(measuring->processId()), SIGINT);
    QVERIFY(measuring->waitForFinished(kDeadlineMs));
    QCOMPARE(measuring->exitCode(), 128 + SIGINT);
    const QByteArray words = measuring->readAllStandardError();
    QVERIFY2(words.contains("Log in to the nodes") &&
                 words.contains("measure the network: cancelled"),
             words);
}

void TestCliRuns::ctrlCCancelsACheckOfNodes() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    const Answer added = m_own.run({"nodes", "add", "hushed", "--no-check", "--ssh",
                                    "127.0.0.1:" + QString::number(silent.serverPort())});
    QVERIFY2(added.exitCode == 0, added.whole());
    const auto checking = m_own.start({"nodes", "check", "hushed"});
    QTRY_VERIFY_WITH_TIMEOUT(silent.hasPendingConnections(), kDeadlineMs);
    ::kill(static_cast<pid_t>(checking->processId()), SIGINT);
    QVERIFY(checking->waitForFinished(kDeadlineMs));
    QCOMPARE(checking->exitCode(), 128 + SIGINT);
    QCOMPARE(checking->readAllStandardError().trimmed(),
             QByteArray("ringmaster: check of the nodes: cancelled"));
    QCOMPARE(checking->readAllStandardOutput(), QByteArray()); // no node is called bad
}

void TestCliRuns::ctrlCCancelsAForecastAndNotAPartOfIt() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    const Answer added = m_own.run({"nodes", "add", "dumb", "--no-check", "--ssh",
                                    "127.0.0.1:" + QString::number(silent.serverPort())});
    QVERIFY2(added.exitCode == 0, added.whole());
    const auto asking =
        m_own.start({"forecast", "gpt-tiny", "--node", "dumb", "--node", "this-computer"});
    QTRY_VERIFY_WITH_TIMEOUT(silent.hasPendingConnections(), kDeadlineMs);
    ::kill(static_cast<pid_t>(asking->processId()), SIGINT);
    QVERIFY(asking->waitForFinished(kDeadlineMs));
    QCOMPARE(asking->exitCode(), 128 + SIGINT);
    const QByteArray words = asking->readAllStandardError();
    QVERIFY2(words.contains("ringmaster: forecast: cancelled"), words);
}

void TestCliRuns::ctrlCEndsWhatALaunchStarted() {
    const auto launching = startLongLaunch("given-up");
    QTRY_VERIFY_WITH_TIMEOUT(find("given-up"), kDeadlineMs);
    ::kill(static_cast<pid_t>(launching->processId()), SIGINT);
    QVERIFY(launching->waitForFinished(kDeadlineMs));
    QCOMPARE(launching->exitCode(), 128 + SIGINT);
    QCOMPARE(find("given-up")->state, RunStateKind::kStopped);
}

void TestCliRuns::aLaunchIsStoppedFromAnotherTerminal() {
    const auto launching = startLongLaunch("stopped-early");
    QTRY_VERIFY_WITH_TIMEOUT(find("stopped-early"), kDeadlineMs);
    const Answer stop = m_own.run({"stop", "stopped-early"});
    QVERIFY2(stop.exitCode == 0 && stop.whole().contains("cancelled"), stop.whole());
    QCOMPARE(find("stopped-early")->state, RunStateKind::kStopped);
    QVERIFY(launching->waitForFinished(kDeadlineMs));
}

void TestCliRuns::aListDoesNotStandInTheWayOfALaunch() {
    {
        auto holder = StoreWriter::open(Paths::fromEnvironment().database());
        QVERIFY(holder);
        const auto launching = m_own.start(launchWords("waits") + QStringList{"--json"});
        QVERIFY(!launching->waitForFinished(500));
        holder->reset();
        QVERIFY(launching->waitForFinished(kDeadlineMs));
        QVERIFY2(launching->exitCode() == 0, launching->readAllStandardError());
    }
    const Answer stop = m_own.run({"stop", "waits", "--json"});
    QVERIFY2(stop.exitCode == 0, stop.whole());
    QCOMPARE(find("waits")->state, RunStateKind::kStopped);
}

void TestCliRuns::ofTwoEndingsOnlyTheOneThatCameFirstIsDone_data() {
    QTest::addColumn<QString>("one");
    QTest::addColumn<QString>("other");
    QTest::newRow("stop, then pause") << "stop"
                                      << "pause";
    QTest::newRow("pause, then stop") << "pause"
                                      << "stop";
    QTest::newRow("pause, then kill") << "pause"
                                      << "kill";
}

/// Whichever it is: what is said of each is what the run is then.
void TestCliRuns::ofTwoEndingsOnlyTheOneThatCameFirstIsDone() {
    QFETCH(QString, one);
    QFETCH(QString, other);
    const QString name = "ends-by-" + one + "-" + other;
    const auto watch = m_own.start(launchWords(name) + QStringList{"--wait"});
    const auto trains = [&] {
        const auto run = find(name);
        return run && run->step > 0;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(trains(), watch->readAllStandardError(), kDeadlineMs);
    const auto first = m_own.start({one, name});
    const auto second = m_own.start({other, name});
    for (QProcess* each : {first.get(), second.get()})
        QVERIFY(each->waitForFinished(kDeadlineMs));
    QVERIFY(watch->waitForFinished(kDeadlineMs));
    const RunSummary run = *find(name);
    QVERIFY(hasEnded(run.state));
    const QByteArray is =
        QByteArray(": it is ") + runStateName(run) + " at step " + QByteArray::number(run.step);
    int done = 0;
    for (const auto& [words, process] : {std::pair{one, first.get()}, {other, second.get()}}) {
        const RunStateKind meant =
            words == "pause" ? RunStateKind::kPaused : RunStateKind::kStopped;
        const QByteArray said = process->readAllStandardError();
        const bool isDone = process->exitCode() == 0;
        done += isDone ? 1 : 0;
        QVERIFY2(isDone == (run.state == meant), qPrintable(words + ": " + said));
        // Who came when all was over hears that.
        QVERIFY2(isDone || said.contains(is) || said.contains("so no rank can do it"), said);
    }
    QVERIFY(done > 0);
}

void TestCliRuns::anInterruptedCommandSaysWhatBecomesOfIt() {
    const auto watch = m_own.start(launchWords("interrupts") + QStringList{"--wait"});
    const auto trains = [&] {
        const auto run = find("interrupts");
        return run && run->step > 0;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(trains(), watch->readAllStandardError(), kDeadlineMs);
    std::vector<pid_t> ranks; // which obey nobody while they are stopped
    for (const StoredRank& rank :
         (*StoreReader::open(Paths::fromEnvironment().database()))->ranks(find("interrupts")->id))
        ranks.push_back(static_cast<pid_t>(rank.pid));
    QCOMPARE(ranks.size(), size_t(2));
    ::kill(ranks[1], SIGSTOP);
    const auto pause = m_own.start({"pause", "interrupts"});
    QByteArray said;
    QTRY_VERIFY_WITH_TIMEOUT((said += pause->readAllStandardError()).contains("pause"),
                             kDeadlineMs);
    ::kill(static_cast<pid_t>(pause->processId()), SIGINT);
    QVERIFY(pause->waitForFinished(kDeadlineMs));
    said += pause->readAllStandardError();
    QCOMPARE(pause->exitCode(), 128 + SIGINT);
    QVERIFY2(said.contains("takes effect once the ranks come to it") &&
                 said.contains("ringmaster withdraw"),
             said);
    ::kill(ranks[1], SIGCONT);
    const auto isOver = [&] { return hasEnded(find("interrupts")->state); };
    QTRY_VERIFY_WITH_TIMEOUT(isOver(), kDeadlineMs);
    QVERIFY(watch->waitForFinished(kDeadlineMs));
}

void TestCliRuns::aListThatIsAwayTakesNothingAndLosesNothing() {
    const QString here = Paths::fromEnvironment().data, away = here + "-away";
    const auto watch = m_own.start(launchWords("unlisted") + QStringList{"--wait"});
    const auto step = [&] {
        const auto run = find("unlisted");
        return run ? run->step : 0;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(step() > 0, watch->readAllStandardError(), kDeadlineMs);
    QVERIFY(QDir().rename(here, away));
    QByteArray said;
    QTRY_VERIFY2_WITH_TIMEOUT((said += watch->readAllStandardError()).contains("shown as it was"),
                              said, kDeadlineMs);
    // Nobody begins another list beside it.
    for (const QStringList& words :
         {QStringList{"runs"}, longRunWords("beside", 50, "this-computer:1")}) {
        const Answer beside = m_own.run(words);
        QVERIFY2(beside.exitCode == static_cast<int>(ExitCode::kUnavailable) &&
                     beside.err.contains("another Ringmaster works with it") &&
                     beside.out.isEmpty(),
                 beside.whole());
    }
    QVERIFY(!QFile::exists(Paths::fromEnvironment().database()));
    QDir(here).removeRecursively(); // the empty folders that were made
    QVERIFY(QDir().rename(away, here));
    const int64_t before = step();
    QTRY_VERIFY_WITH_TIMEOUT(step() > before + 20, kDeadlineMs);
    const Answer stop = m_own.run({"stop", "unlisted"});
    QVERIFY2(stop.exitCode == 0, stop.whole());
    QVERIFY(watch->waitForFinished(kDeadlineMs));
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const RunSummary run = *find("unlisted");
    for (const int rank : {0, 1})
        QCOMPARE((*reader)->points(run.id, {"train/loss", rank}).size(), size_t(run.step));
}

void TestCliRuns::endingsGoThroughThoughTheDiskHereIsFull_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<bool>("isFollowed"); ///< by another Ringmaster, which has the database
    for (const char* command : {"kill", "pause"}) {
        QTest::addRow("%s", command) << QString(command) << false;
        QTest::addRow("%s, followed", command) << QString(command) << true;
    }
}

/// What cannot be noted is done all the same, and said.
void TestCliRuns::endingsGoThroughThoughTheDiskHereIsFull() {
    QFETCH(QString, command);
    QFETCH(bool, isFollowed);
    const QByteArray before = qgetenv("XDG_DATA_HOME");
    const QString data = m_own.path("full-data");
    const SmallDisk disk(data, "256m");
    RM_NEEDS("root", disk.isMounted(), disk.error());
    qputenv("XDG_DATA_HOME", data.toLocal8Bit());
    const auto back = qScopeGuard([&] { qputenv("XDG_DATA_HOME", before); });
    const QString name = QString("full-") + (isFollowed ? "followed" : "alone");
    const Answer begun = m_own.run(longRunWords(name, 1'000'000, "this-computer:1"));
    QVERIFY2(begun.exitCode == 0, begun.whole());
    std::unique_ptr<QProcess> watch;
    if (isFollowed) {
        watch = m_own.start({"attach", name});
        QTRY_VERIFY_WITH_TIMEOUT(StoreWriter::isHeld(Paths::fromEnvironment().database()),
                                 kDeadlineMs);
    }
    const QString id = find(name)->id;
    const auto agent = [&] {
        QFile file(Paths::fromEnvironment().state + "/runs/" + id + "/node-00000/agent.json");
        return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                              : QJsonObject();
    };
    disk.fill();
    const Answer sent = m_own.run({command, name}, 2 * kDeadlineMs);
    const bool isSaid = sent.err.contains("recorded here") || sent.out.contains("recorded here") ||
                        sent.err.contains("cannot be read here");
    // The write-ahead log may have room from before.
    const auto isRecorded = [&] {
        const auto reader = StoreReader::open(Paths::fromEnvironment().database());
        return reader && !(*reader)->requestedCommands(id).empty();
    };
    QVERIFY2(isSaid || isRecorded(), sent.whole());
    QTRY_VERIFY2_WITH_TIMEOUT(agent()["ended"].toBool(), sent.whole(), kDeadlineMs);
    QCOMPARE(agent()["outcome"].toInt(),
             static_cast<int>(command == "kill" ? Outcome::kStopped : Outcome::kPaused));
    // Once there is room, all is read from the node.
    disk.empty();
    watch.reset();
    static_cast<void>(m_own.run({"attach", name}, kDeadlineMs));
    const RunStateKind wanted = command == "kill" ? RunStateKind::kStopped : RunStateKind::kPaused;
    QTRY_COMPARE_WITH_TIMEOUT(find(name)->state, wanted, kDeadlineMs);
}

void TestCliRuns::runsAreCompared() {
    const Answer compared = m_own.run({"compare", kRun, "another", "--json"});
    QVERIFY2(compared.exitCode == 0, compared.whole());
    const QJsonObject answer = compared.json().object();
    QCOMPARE(answer["runs"].toArray().size(), 2);
    QVERIFY(!answer["metrics"].toArray().isEmpty());
    const auto differs = [&](const QString& key) {
        for (const QJsonValue each : answer["settings"].toArray())
            if (each["key"] == key)
                return each["differs"].toBool();
        return false;
    };
    QVERIFY(differs("name") && !differs("optimizer.lr"));
    const Answer words = m_own.run({"compare", kRun, "another", "--all"});
    QVERIFY2(words.exitCode == 0 && words.out.contains("optimizer.lr") &&
                 words.out.contains("train/loss"),
             words.whole());
    const Answer alone = m_own.run({"compare", kRun});
    QVERIFY2(alone.exitCode == static_cast<int>(ExitCode::kUsage) &&
                 alone.err.contains("it is no branch, so name another run"),
             alone.whole());
    const Answer samples = m_own.run({"export", kRun, "another", "--metric", "train/loss"});
    QVERIFY2(samples.exitCode == 0 && samples.out.startsWith("run,metric,rank,step,wall_time,"),
             samples.whole());
    for (const QJsonValue run : answer["runs"].toArray())
        QVERIFY(samples.out.contains(run["id"].toString().toUtf8() + ",train/loss,0,"));
}

/// What scatter plot, parallel coordinates and lineage of the window show.
void TestCliRuns::keysOfRunsAreATable() {
    const Answer table =
        m_own.run({"compare", "--filter", "train.steps > 0", "--keys", "lr,no-such", "--json"});
    QVERIFY2(table.exitCode == static_cast<int>(ExitCode::kNotFound), table.whole());
    const Answer of = m_own.run({"compare", kRun, "another", "--keys", "lr,train/loss", "--json"});
    QVERIFY2(of.exitCode == 0, of.whole());
    const QJsonArray runs = of.json()["runs"].toArray();
    QCOMPARE(runs.size(), 2);
    QVERIFY(!runs[0]["values"]["lr"].toString().isEmpty());
    QVERIFY(runs[0]["values"]["train/loss"].toString().toDouble() > 0);
    const Answer all = m_own.run({"compare", "--filter", "name:another", "--keys", "optimizer.lr"});
    QVERIFY2(all.exitCode == 0 && all.out.contains("optimizer.lr") && all.out.contains("another"),
             all.whole());
    const Answer lineage = m_own.run({"compare", kRun, "--lineage", "--json"});
    QVERIFY2(lineage.exitCode == 0, lineage.whole());
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    QVERIFY(reader.has_value());
    const auto trained = lineage.json()[0]["attempts"].toArray();
    std::vector<int> numbers;
    for (const QJsonValue& attempt : trained)
        numbers.push_back(attempt["attempt"].toInt());
    std::vector<int> stored; // one that was asked for may never have come to train
    for (const StoredAttempt& attempt : (*reader)->attempts(find(kRun)->id))
        if (attempt.hasStarted)
            stored.push_back(attempt.attempt);
    QVERIFY(!stored.empty());
    QCOMPARE(numbers, stored);
    for (const QStringList& wrong : {QStringList{"compare"},
                                     {"compare", "--filter", "lr > 0"},
                                     {"compare", kRun, "--filter", "lr > 0", "--keys", "lr"}})
        QCOMPARE(m_own.run(wrong).exitCode, static_cast<int>(ExitCode::kUsage));
}

void TestCliRuns::aRunIsLaunchedAgainOnlyWithItsData() {
    QFile text(m_own.path("corpus.txt"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(QByteArray("A line of a corpus that is long enough.\n").repeated(200));
    text.close();
    const QStringList words = longRunWords("first-time", 2, "this-computer:1")
                              << "--set"
                              << "schedule.warmup_steps=0"
                              << "--set"
                              << "data.train=[\"" + text.fileName() + "\"]"
                              << "--wait";
    const Answer first = m_own.run(words);
    QVERIFY2(first.exitCode == 0, first.whole());
    const QStringList again = {"run", "--like", "first-time", "--exact", "--set", "name=again"};
    const Answer same = m_own.run(QStringList(again) << "--wait");
    QVERIFY2(same.exitCode == 0, same.whole());
    const auto attempt = [this](const char* run) {
        return m_own.run({"show", run, "--json"}).json().object()["attempts"][0].toObject();
    };
    QVERIFY(!attempt("again")["data"].toString().isEmpty());
    QVERIFY(attempt("again")["trainer"].toString().contains(" cpu "));
    QCOMPARE(attempt("again")["trainer"], attempt("first-time")["trainer"]);
    QVERIFY(text.open(QIODevice::Append));
    text.write("One line more.\n");
    text.close();
    const auto count = m_own.run({"runs", "--json"}).json().array().size();
    const Answer other = m_own.run(again);
    QVERIFY2(other.exitCode == static_cast<int>(ExitCode::kUsage), other.whole());
    QVERIFY2(other.err.contains("Data: 1 file") && !other.err.contains("Trainer:"), other.whole());
    QCOMPARE(m_own.run({"runs", "--json"}).json().array().size(), count);
}

void TestCliRuns::whatIsStoredIsAskedInSql() {
    const QString id = find(kRun)->id;
    const QString statement = QString("SELECT id, step, value(id, 'lr') AS lr, name || ',' AS odd "
                                      "FROM runs WHERE id = '%1'")
                                  .arg(id);
    const Answer json = m_own.run({"sql", statement, "--json"});
    QVERIFY2(json.exitCode == 0, json.whole());
    QCOMPARE(json.json().array().size(), 1);
    const QJsonObject row = json.json()[0].toObject();
    QCOMPARE(row["id"].toString(), id);
    QVERIFY2(row["step"].toInt() > 0 && row["lr"].toDouble() > 0, json.whole());
    const Answer csv = m_own.run({"sql", "--csv", statement});
    QVERIFY2(csv.exitCode == 0 && csv.out.startsWith("id,step,lr,odd\n" + id.toUtf8() + ',') &&
                 csv.out.endsWith(",\"" + kRun.toUtf8() + ",\"\n"),
             csv.whole());
    const Answer table = m_own.run(
        {"sql", QString("SELECT count(*) AS losses FROM samples WHERE run = '%1' AND metric = "
                        "'train/loss' AND rank = 1")
                    .arg(id)});
    QVERIFY2(table.exitCode == 0 && table.out.startsWith("losses") &&
                 table.out.split('\n')[1].toInt() > 0,
             table.whole());
    const Answer tables = m_own.run({"sql"});
    QVERIFY2(tables.exitCode == 0 && tables.out.contains("samples"), tables.whole());
    const Answer refused = m_own.run({"sql", "DELETE FROM run", "--json"});
    QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUsage), refused.whole());
    QVERIFY(find(kRun));
}

QTEST_GUILESS_MAIN(TestCliRuns)
#include "tst_cli_runs.moc"
