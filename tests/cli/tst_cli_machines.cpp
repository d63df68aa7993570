// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QProcess>
#include <QTest>

#include <csignal>
#include <vector>

using namespace rm;

namespace {

constexpr int kMachinesMs = 60'000;

constexpr int kAgentsEndMs = 8'000;

/// The agents that the process has begun to look at this computer.
std::vector<pid_t> agentsOf(qint64 parent) {
    QProcess ps;
    ps.start("ps", {"-o", "pid=,args=", "--ppid", QString::number(parent)});
    ps.waitForFinished();
    std::vector<pid_t> agents;
    for (const QByteArray& line : ps.readAllStandardOutput().split('\n'))
        if (line.contains("ringmaster-agent machine"))
            agents.push_back(line.trimmed().split(' ').front().toInt());
    return agents;
}

} // namespace

/// `ringmaster machines` of this computer.
class TestCliMachines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void thisComputerTellsOfItself() {
        const Answer answer = m_own.run({"machines", "--json"}, kMachinesMs);
        QVERIFY2(answer.exitCode == 0, answer.whole());
        const QJsonArray machines = answer.json().array();
        QCOMPARE(machines.size(), 1);
        const QJsonObject machine = machines[0].toObject();
        QCOMPARE(machine["node"].toString(), QString("this-computer"));
        QCOMPARE(machine["state"].toString(), QString("live"));
        const QJsonObject facts = machine["facts"].toObject(),
                          sample = machine["sample"].toObject();
        QVERIFY2(facts["cpus"].toInt() > 0 && facts["memory_bytes"].toDouble() > 0, answer.whole());
        QVERIFY2(sample["cpu"].toDouble(-1) >= 0, answer.whole()); // a rate, at the first look
        QVERIFY2(sample["memory_bytes"].toDouble() > 0, answer.whole());
    }

    void aTableHasALineForIt() {
        const Answer answer = m_own.run({"machines", "this-computer"}, kMachinesMs);
        QVERIFY2(answer.exitCode == 0, answer.whole());
        QVERIFY2(answer.out.startsWith("NODE"), answer.whole());
        for (const char* words : {"WHOSE", "this-computer", "RAM "})
            QVERIFY2(answer.out.contains(words), answer.whole());
        QVERIFY2(!answer.out.contains("COMMAND"), answer.whole());
    }

    void aProcessThatWorksIsListed() {
        QProcess busy;
        busy.start("sh", {"-c", "while :; do :; done"});
        QVERIFY(busy.waitForStarted());
        const auto lists = [&] {
            const Answer answer =
                m_own.run({"machines", "this-computer", "--processes"}, kMachinesMs);
            for (const QByteArray& line : answer.out.split('\n'))
                if (line.contains(' ' + QByteArray::number(busy.processId()) + ' ') &&
                    line.contains("while :; do"))
                    return true;
            return false;
        };
        const bool isListed = QTest::qWaitFor(lists, kMachinesMs);
        busy.kill();
        busy.waitForFinished();
        QVERIFY(isListed);
    }

    void itGoesOnUntilItIsInterruptedAndLeavesNothing() {
        const auto watch = m_own.start({"machines", "--watch", "--interval", "0.2"});
        QByteArray shown;
        const auto showsTwice = [&] {
            watch->waitForReadyRead(100);
            shown += watch->readAllStandardOutput();
            return shown.count("NODE  ") >= 2;
        };
        QVERIFY2(QTest::qWaitFor(showsTwice, kMachinesMs), shown);
        const qint64 pid = watch->processId();
        const std::vector<pid_t> agents = agentsOf(pid);
        QVERIFY(!agents.empty());
        ::kill(static_cast<pid_t>(pid), SIGINT);
        QVERIFY(watch->waitForFinished(kMachinesMs));
        QCOMPARE(watch->exitCode(), 130);
        for (const pid_t agent : agents)
            QTRY_VERIFY_WITH_TIMEOUT(::kill(agent, 0) != 0, kAgentsEndMs);
    }

    void aNodeThatIsAwayIsSaidAndMakesTheExitCode() {
        QVERIFY(
            m_own.run({"nodes", "add", "away", "--ssh", "127.0.0.1:9", "--no-check"}).exitCode ==
            0);
        const Answer named = m_own.run({"machines", "away"}, kMachinesMs);
        QVERIFY2(named.exitCode == static_cast<int>(ExitCode::kUnavailable), named.whole());
        QVERIFY2(named.out.contains("Unreachable") && named.out.contains("away: "), named.whole());
        const Answer all = m_own.run({"machines", "--json"}, kMachinesMs);
        QVERIFY2(all.exitCode == 0, all.whole()); // the other one is there
        QCOMPARE(all.json().array().size(), 2);
        QVERIFY(m_own.run({"nodes", "remove", "away"}).exitCode == 0);
    }

    void whatIsWrongIsSaid_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exitCode");
        const auto row = [](const char* name, const QStringList& words, ExitCode code) {
            QTest::newRow(name) << words << static_cast<int>(code);
        };
        row("no such node", {"nope"}, ExitCode::kNotFound);
        row("no such group", {"@nope"}, ExitCode::kNotFound);
        row("too often", {"--interval", "0.1"}, ExitCode::kUsage);
        row("too seldom", {"--interval", "61"}, ExitCode::kUsage);
        row("no number", {"--interval", "often"}, ExitCode::kUsage);
    }
    void whatIsWrongIsSaid() {
        QFETCH(QStringList, words);
        QFETCH(int, exitCode);
        const Answer answer = m_own.run(QStringList{"machines", "--json"} + words);
        QVERIFY2(answer.exitCode == exitCode, answer.whole());
        QVERIFY2(answer.json().object()["error"].isObject(), answer.whole());
    }

private:
    OwnFolders m_own;
};

QTEST_GUILESS_MAIN(TestCliMachines)
#include "tst_cli_machines.moc"
