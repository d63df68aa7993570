// SPDX-License-Identifier: Apache-2.0
// `ringmaster-agent attach` of runs with trainers that are small programs of the test.
#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/journal/segment.h"
#include "tests/unit/agent/agent_fixture.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QLocalSocket>

#include <algorithm>
#include <csignal>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 20'000;
const std::string kRank0 = "journal/rank-00000";
const std::string kRank1 = "journal/rank-00001";

QByteArray readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

template <class Condition>
bool pumpUntil(AttachClient& client, Condition condition) {
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
        if (!client.pump() || timer.elapsed() > kLongMs)
            return false;
    }
    return true;
}

std::optional<CommandState> lastWord(const AttachClient& client, const std::string& id) {
    for (const CommandState& state : client.all<CommandState>())
        if (state.id == id && state.progress != CommandProgress::kAccepted)
            return state;
    return std::nullopt;
}

bool hasEnded(const AttachClient& client) {
    const auto states = client.all<RunState>();
    return !states.empty() && states.back().ended;
}

} // namespace

class TestAgentAttach : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyByteComesOnceWhileFilesGrow() {
        AgentFixture f;
        f.script(0, "finish@300");
        f.script(1, "flood-log@10");
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        std::map<std::string, std::string> all;
        std::map<std::string, uint64_t> cursors;
        // Many short attachments, each from where the one before ended.
        for (int round = 0; round < 20; ++round) {
            std::vector<FileCursor> from;
            for (const auto& [file, offset] : cursors)
                from.push_back({file, offset});
            AttachClient client(f, from);
            for (int i = 0; i < 5; ++i)
                QVERIFY(client.pump());
            for (const std::string& file : filesOf(f)) {
                all[file] += client.file(file);
                cursors[file] = client.cursor(file);
            }
        }
        QVERIFY(all[f.fileOf(kRank0)].size() > 1000);
        f.agent({"stop", "r1"});
        for (const auto& [file, text] : all) {
            const QByteArray whole = readAll(f.runDir() + "/" + QString::fromStdString(file));
            QVERIFY2(whole.startsWith(QByteArray::fromStdString(text)), file.c_str());
        }
    }

    /// Nobody reads along while they are written.
    void linesHaveTheTimeAtWhichTheyWereWritten() {
        AgentFixture f;
        const QString next = f.path("next");
        f.useTrainer("#!/bin/sh\ndate +%s%N\nwhile [ ! -e '" + next.toUtf8() +
                     "' ]; do sleep 0.02; done\nprintf half; date +%s%N\nexit 0\n");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const auto noted = [&] {
            const QByteArray times = readAll(f.runDir() + "/log/rank-00000.times");
            return (times.size() - 16) / 16;
        };
        QTRY_COMPARE_WITH_TIMEOUT(noted(), qsizetype(1), kLongMs);
        const int64_t betweenNs = wallNowNs();
        QFile go(next);
        QVERIFY(go.open(QIODevice::WriteOnly));
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        const std::string kLog = "log/rank-00000.log";
        const QByteArrayList lines = QByteArray::fromStdString(client.file(kLog)).split('\n');
        QVERIFY2(lines.size() >= 2 && lines[1].startsWith("half"), client.file(kLog).c_str());
        const std::vector<LogStamp>& stamps = client.stamps(kLog);
        const auto timeOf = [&](size_t end) {
            const auto at = std::ranges::find_if(
                stamps, [&](const LogStamp& stamp) { return stamp.end >= end; });
            return at == stamps.end() ? 0 : at->wallNs;
        };
        const auto first = static_cast<size_t>(lines[0].size()) + 1;
        const size_t second = first + static_cast<size_t>(lines[1].size()) + 1;
        const int64_t firstNs = timeOf(first), secondNs = timeOf(second);
        QString said = lines[0];
        for (const LogStamp& stamp : stamps)
            said += QString(", %1 bytes at %2").arg(stamp.end).arg(stamp.wallNs);
        // The log is as the rank wrote it, and the time of each line is not before it was written.
        QVERIFY2(lines[0].toLongLong() <= firstNs + 20'000'000 && firstNs <= betweenNs,
                 qPrintable(QString("%1; asked at %2").arg(said).arg(betweenNs)));
        QVERIFY(betweenNs <= secondNs && lines[1].mid(4).toLongLong() <= secondNs + 20'000'000);
        QVERIFY(secondNs <= wallNowNs());
    }

    void lastByteAndEndCome() {
        AgentFixture f;
        f.script(0, "finish@50");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        for (const std::string& file : filesOf(f))
            QCOMPARE(QByteArray::fromStdString(client.file(file)),
                     readAll(f.runDir() + "/" + QString::fromStdString(file)));
        const RunState end = client.all<RunState>().back();
        QCOMPARE(end.outcome, static_cast<uint8_t>(Outcome::kFinished));
        QCOMPARE(end.ranks.at(0).step, int64_t(50));
        QCOMPARE(end.ranks.at(0).pid, int64_t(0));
    }

    void endedRunIsServedFromItsFiles() {
        AgentFixture f;
        f.script(0, "finish@5");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        QVERIFY(!client.file(f.fileOf(kRank0)).empty());
        client.say(Command{"c", CommandKind::kPause, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "c").has_value(); }));
        QCOMPARE(lastWord(client, "c")->message,
                 std::string("its ranks had ended by then: finished"));
    }

    void killedSupervisorIsReplacedAndItsRanksTrainOn() {
        AgentFixture f;
        f.script(1, "deaf@1");
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return client.file(f.fileOf(kRank1)).size() > 500; }));
        const std::vector<qint64> ranks = {f.rankPid(0), f.rankPid(1)};
        endSupervisor(f, SIGKILL);
        const size_t before = client.file(f.fileOf(kRank1)).size();
        QVERIFY(pumpUntil(client, [&] { return hasEvent(f, "agent-replaced"); }));
        QVERIFY(pumpUntil(client, [&] { return client.all<RunState>().back().supervised; }));
        QVERIFY(pumpUntil(client,
                          [&] { return client.file(f.fileOf(kRank1)).size() > before + 2000; }));
        QCOMPARE(client.all<RunState>().back().ranks.at(1).pid, ranks[1]);
        // It obeys, and tells the end of those whose parent it is not.
        client.say(Command{"p", CommandKind::kPause, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "p").has_value(); }));
        QCOMPARE(lastWord(client, "p")->progress, CommandProgress::kApplied);
        QVERIFY(pumpUntil(client, [&] { return !processRuns(ranks[0]); }));
        client.say(Command{"k", CommandKind::kKill, {}});
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        QCOMPARE(f.nodeRecords<RankExited>().at(0).exitCode, static_cast<int>(ExitCode::kPaused));
        QCOMPARE(f.nodeRecords<RankExited>().at(1).message,
                 std::string("killed by SIGKILL by the agent, as commanded"));
        QVERIFY(!processRuns(ranks[0]) && !processRuns(ranks[1]));
    }

    void aHoldOutlivesTheAgentThatHeard() {
        AgentFixture f;
        f.script(0, "signal=9@400#1");
        QCOMPARE(f.start(f.plan(1), "[launch]\nmax_restarts = 3\n").exitCode, 0);
        AttachClient client(f);
        client.say(Command{"h", CommandKind::kHold, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "h").has_value(); }));
        QCOMPARE(lastWord(client, "h")->progress, CommandProgress::kApplied);
        endSupervisor(f, SIGKILL);
        QVERIFY(pumpUntil(client, [&] { return hasEvent(f, "agent-replaced"); }));
        // The ranks of the next attempt are held by the agent that did not hear of it.
        const std::string applied = (f.runDir() + "/" + kAppliedJournal).toStdString();
        QVERIFY(pumpUntil(client, [&] {
            const auto records = readJournal(applied).value_or(std::vector<Record>());
            const auto* last =
                records.empty() ? nullptr : std::get_if<CommandApplied>(&records.back());
            return last && last->id == "again-2";
        }));
    }

    void finishWithoutASupervisorIsAFinish() {
        AgentFixture f;
        f.script(0, "finish@100");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        endSupervisor(f, SIGKILL);
        const qint64 rank = f.rankPid(0);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(rank), kLongMs);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        QCOMPARE(client.all<RunState>().back().outcome, static_cast<uint8_t>(Outcome::kFinished));
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kFinished);
    }

    void silentDeathWithoutASupervisorIsAFailure() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        endSupervisor(f, SIGKILL);
        ::kill(static_cast<pid_t>(f.rankPid(0)), SIGKILL);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        const AttemptEnded end = f.nodeRecords<AttemptEnded>().at(0);
        QCOMPARE(end.outcome, Outcome::kFailed);
        QVERIFY2(end.message.find("without a last word") != std::string::npos, end.message.c_str());
    }

    void stoppedSupervisorIsReplacedForACommand() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return !client.file(f.fileOf(kRank0)).empty(); }));
        endSupervisor(f, SIGSTOP);
        client.say(Command{"k", CommandKind::kKill, {}});
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        QCOMPARE(lastWord(client, "k")->progress, CommandProgress::kApplied);
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
    }

    void journalCutWhileLiveLosesNoLaterStep() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        AttachClient client(f);
        const std::string file = f.fileOf(kRank0);
        QVERIFY(pumpUntil(client, [&] { return client.file(file).size() > 5000; }));
        const QString path = f.runDir() + "/" + QString::fromStdString(file);
        QVERIFY(QFile::resize(path, QFileInfo(path).size() - 3000));
        client.say(Command{"c", CommandKind::kCheckpoint, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "c").has_value(); }));
        const size_t before = client.file(file).size();
        QVERIFY(pumpUntil(client, [&] { return client.file(file).size() > before + 3000; }));
        JournalScanner scanner(file, 0);
        scanner.feed(std::as_bytes(std::span(client.file(file))));
        int64_t steps = 0, last = 0;
        for (auto record = scanner.next(); record && *record; record = scanner.next())
            if (const auto* samples = std::get_if<Samples>(&**record)) {
                ++steps;
                last = samples->step;
            }
        // What was cut off before it was sent is lost, but nothing behind it.
        QVERIFY(last > 0 && last - steps < 100);
    }

    void appliedCommandIsSaidWithItsStep() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        AttachClient client(f);
        client.say(Command{"p1", CommandKind::kPause, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "p1").has_value(); }));
        QCOMPARE(lastWord(client, "p1")->progress, CommandProgress::kApplied);
        QVERIFY(lastWord(client, "p1")->step > 0);
        const std::vector<CommandState> reported = client.all<CommandState>();
        // There is none where the step was faster than its telling.
        for (size_t i = 0; i + 1 < reported.size(); ++i)
            QCOMPARE(reported[i].progress, CommandProgress::kAccepted);
        QCOMPARE(reported.back().progress, CommandProgress::kApplied);
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ranks"][0].toObject()["exited"].toBool(), kLongMs);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).exitCode, static_cast<int>(ExitCode::kPaused));
    }

    void sameIdTwiceIsOneCommand() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        AttachClient client(f);
        AttachClient other(f);
        for (int i = 0; i < 5; ++i) {
            client.say(Command{"same", CommandKind::kCheckpoint, {}});
            other.say(Command{"same", CommandKind::kCheckpoint, {}});
        }
        client.say(Command{"after", CommandKind::kCheckpoint, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "after").has_value(); }));
        QVERIFY(pumpUntil(other, [&] { return lastWord(other, "same").has_value(); }));
        const auto records = readSegments(f.runDir().toStdString() + "/journal", rankName(0));
        QCOMPARE(std::count_if(records->begin(), records->end(),
                               [](const Record& record) {
                                   const auto* applied = std::get_if<CommandApplied>(&record);
                                   return applied && applied->id == "same";
                               }),
                 1);
    }

    void killEndsAllRanksOfTheNode() {
        AgentFixture f;
        f.script(0, "ignore-term@1");
        NodePlan plan = f.plan(2);
        plan.firstRank = 2; // not rank 0's node: kill is for every node
        plan.worldSize = 4;
        plan.nodeCount = 2;
        QCOMPARE(f.start(plan).exitCode, 0);
        AttachClient client(f);
        client.say(Command{"s", CommandKind::kStop, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "s").has_value(); }));
        QVERIFY(lastWord(client, "s")->message.find("rank 0 is not on this node") !=
                std::string::npos);
        client.say(Command{"k", CommandKind::kKill, {}});
        QVERIFY(pumpUntil(client, [&] { return hasEnded(client); }));
        QCOMPARE(lastWord(client, "k")->progress, CommandProgress::kApplied);
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).signal, SIGKILL);
    }

    void twoAppsSeeTheSame() {
        AgentFixture f;
        f.script(0, "finish@40");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        AttachClient one(f), two(f);
        QVERIFY(pumpUntil(one, [&] { return hasEnded(one); }));
        QVERIFY(pumpUntil(two, [&] { return hasEnded(two); }));
        QCOMPARE(one.file(f.fileOf(kRank0)), two.file(f.fileOf(kRank0)));
    }

    void hostileBytesOnTheSocketHurtNobodyElse() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QLocalSocket socket;
        socket.connectToServer(f.runDir() + "/agent.sock");
        QVERIFY(socket.waitForConnected(kLongMs));
        socket.write(QByteArray(100, '\xff'));
        QVERIFY(socket.waitForDisconnected(kLongMs));
        AttachClient client(f);
        client.say(Command{"c", CommandKind::kCheckpoint, {}});
        QVERIFY(pumpUntil(client, [&] { return lastWord(client, "c").has_value(); }));
    }

    void hostileInputEndsAttachWithItsCode() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const auto answer = f.agent({"attach", "r1", "0"}, QByteArray(1000, 'Z'));
        QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kCorrupt));
        QCOMPARE(answer.err.count('\n'), 1);
    }

    void closedInputEndsAttach() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(f.agent({"attach", "r1", "0"}).exitCode, 0);
        QVERIFY(timer.elapsed() < 2000);
    }

    void slowReaderIsHeardAndHoldsNoMemory() {
        AgentFixture f;
        f.script(0, "flood-log@2");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(readAll(f.runDir() + "/log/rank-00000.log").size() > 1'000'000,
                                 kLongMs);
        const auto attach = f.spawn({"attach", "r1", "0"});
        attach->setReadChannel(QProcess::StandardError); // nobody reads stdout from here on
        const auto say = [&](const Message& message) {
            const auto frame = frameMessage(message);
            attach->write(reinterpret_cast<const char*>(frame.data()),
                          static_cast<qint64>(frame.size()));
            QVERIFY(attach->waitForBytesWritten(kLongMs));
        };
        say(Hello{kWireVersion, "0.1.0", "r1", 0});
        say(Attach{});
        say(Command{"p", CommandKind::kPause, {}});
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kPaused);
        const QByteArray status = readAll(QString("/proc/%1/status").arg(attach->processId()));
        const qsizetype at = status.indexOf("VmRSS:");
        QVERIFY2(status.mid(at + 6, 12).trimmed().split(' ')[0].toInt() < 64 * 1024,
                 status.constData());
        attach->closeWriteChannel();
        QVERIFY(attach->waitForFinished(kLongMs));
    }

    void stepsComeFresh() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        AttachClient client(f);
        QVERIFY(pumpUntil(client, [&] { return client.file(f.fileOf(kRank0)).size() > 200; }));
        JournalScanner scanner(kRank0, 0);
        size_t fed = 0;
        std::vector<double> ages;
        while (ages.size() < 300) {
            QVERIFY(client.pump(100));
            const std::string& text = client.file(f.fileOf(kRank0));
            scanner.feed(std::as_bytes(std::span(text).subspan(fed)));
            const bool isFirst = fed == 0;
            fed = text.size();
            const int64_t nowNs = wallNowNs();
            while (true) {
                const auto record = scanner.next();
                QVERIFY(record.has_value());
                if (!*record)
                    break;
                const auto* samples = std::get_if<Samples>(&**record);
                if (samples && !isFirst)
                    ages.push_back(static_cast<double>(nowNs - samples->wallNs) / 1e6);
            }
        }
        std::sort(ages.begin(), ages.end());
        qInfo("age of a step on arrival: median %.2f ms, p99 %.2f ms", ages[ages.size() / 2],
              ages[ages.size() * 99 / 100]);
        QVERIFY(ages[ages.size() / 2] < 100);
    }

private:
    static void endSupervisor(const AgentFixture& f, int signal) {
        const qint64 pid = f.agentState()["supervisor"].toObject()["pid"].toInteger();
        ::kill(static_cast<pid_t>(pid), signal);
        if (signal == SIGKILL)
            QTRY_VERIFY_WITH_TIMEOUT(!processRuns(pid), kLongMs);
    }
    static bool hasEvent(const AgentFixture& f, const std::string& code) {
        const auto events = f.nodeRecords<Event>();
        return std::ranges::any_of(events, [&](const Event& e) { return e.code == code; });
    }
    static std::vector<std::string> filesOf(const AgentFixture& f) {
        return {f.fileOf(kRank0), f.fileOf("journal/node-00000"), "log/rank-00000.log"};
    }
};

QTEST_GUILESS_MAIN(TestAgentAttach)
#include "tst_agent_attach.moc"
