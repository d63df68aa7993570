// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonObject>
#include <QTcpServer>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 40000;
const QString kRun = "shared-run";

QStringList launchWords(const QString& name) {
    return {"run",   "gpt-tiny",           "--set",  "name=" + name,
            "--set", "train.steps=5000",   "--set",  "validation.every=0",
            "--set", "model.layers=1",     "--set",  "train.batch_size=1",
            "--set", "checkpoint.every=0", "--node", "this-computer:2"};
}

} // namespace

/// Several Ringmasters at once, and such as were killed, over one database.
class TestCliRuns : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSecondInstanceCommandsWhatTheFirstFollows();
    void aSecondInstanceCannotLaunch();
    void bothHearOfAPause();
    void anInterruptedLaunchIsSettledByTheNextList();
    void ctrlCCancelsALaunchAtOnce();
    void ctrlCEndsWhatALaunchStarted();
    void aListDoesNotStandInTheWayOfALaunch();

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
    const Answer going = m_own.run({"continue", kRun, "--json"});
    QVERIFY2(going.exitCode == 0, going.whole());
    QCOMPARE(going.json().object()["step"], hold.json().object()["step"]);
}

void TestCliRuns::aSecondInstanceCannotLaunch() {
    const Answer launch = m_own.run(launchWords("another"));
    QVERIFY2(launch.exitCode == static_cast<int>(ExitCode::kUnavailable), launch.whole());
    QVERIFY2(launch.err.contains(QByteArray::number(m_first->processId())), launch.whole());
}

void TestCliRuns::bothHearOfAPause() {
    const Answer pause = m_own.run({"pause", kRun, "--json"});
    QVERIFY2(pause.exitCode == 0 && pause.json().object()["applied"].toBool(), pause.whole());
    QVERIFY(m_first->waitForFinished(kDeadlineMs));
    QCOMPARE(m_first->exitCode(), static_cast<int>(ExitCode::kPaused));
    const auto shown = QJsonDocument::fromJson(m_first->readAllStandardOutput()).object();
    QCOMPARE(shown["state"].toString(), QString("paused"));
    const Answer again = m_own.run({"pause", kRun, "--json"});
    QVERIFY2(again.exitCode == static_cast<int>(ExitCode::kUsage), again.whole());
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

void TestCliRuns::ctrlCEndsWhatALaunchStarted() {
    const auto launching = startLongLaunch("given-up");
    QTRY_VERIFY_WITH_TIMEOUT(find("given-up"), kDeadlineMs);
    ::kill(static_cast<pid_t>(launching->processId()), SIGINT);
    QVERIFY(launching->waitForFinished(kDeadlineMs));
    QCOMPARE(launching->exitCode(), 128 + SIGINT);
    QCOMPARE(find("given-up")->state, RunStateKind::kStopped);
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

QTEST_GUILESS_MAIN(TestCliRuns)
#include "tst_cli_runs.moc"
