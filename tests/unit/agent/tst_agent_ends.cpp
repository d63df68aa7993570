// SPDX-License-Identifier: Apache-2.0
// Who may start and stop a run, and what is left when an agent or its session goes away.
#include "shared/board/board.h"
#include "shared/exit_code.h"
#include "shared/journal/segment.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/unit/agent/agent_fixture.h"
#include "trainer/agent/posix/process.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>

#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 20'000;

/// A process that holds another one as a debugger does, and never waits for it.
class Tracer {
public:
    explicit Tracer(pid_t traced) {
        int ends[2];
        if (::pipe(ends) != 0)
            return;
        m_pid = ::fork();
        if (m_pid == 0) {
            const char isAttached = ::ptrace(PTRACE_SEIZE, traced, 0, 0) == 0;
            static_cast<void>(::write(ends[1], &isAttached, 1) == 1);
            for (;;)
                ::pause();
        }
        ::close(ends[1]);
        char answer = 0;
        m_isAttached = m_pid > 0 && ::read(ends[0], &answer, 1) == 1 && answer;
        ::close(ends[0]);
    }
    ~Tracer() { end(); }
    bool isAttached() const { return m_isAttached; }
    void end() {
        if (m_pid <= 0)
            return;
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
        m_pid = 0;
    }

private:
    pid_t m_pid = 0;
    bool m_isAttached = false;
};

/// The agent of an attempt that has ended, for a moment in which it still holds the run.
class LastWords {
public:
    explicit LastWords(const std::string& part) {
        constexpr int kMomentMs = 1500; // in which the removal begins
        int ends[2];
        if (::pipe(ends) != 0)
            return;
        m_pid = ::fork();
        if (m_pid == 0) {
            const auto lock = RunLock::take(part);
            auto state = loadAgentState(part);
            const auto is = identify(::getpid());
            const char isHeld = lock && state && state->ended;
            if (isHeld) {
                state->supervisor = is;
                static_cast<void>(saveAgentState(part, *state));
            }
            static_cast<void>(::write(ends[1], &isHeld, 1) == 1);
            ::poll(nullptr, 0, kMomentMs);
            ::_exit(0);
        }
        ::close(ends[1]);
        char answer = 0;
        m_isHeld = m_pid > 0 && ::read(ends[0], &answer, 1) == 1 && answer;
        ::close(ends[0]);
    }
    ~LastWords() {
        if (m_pid > 0)
            ::waitpid(m_pid, nullptr, 0);
    }
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;
    bool holdTheRun() const { return m_isHeld; }

private:
    pid_t m_pid = 0;
    bool m_isHeld = false;
};

} // namespace

class TestAgentEnds : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void secondStartIsRefusedWhileSupervised() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const auto answer = f.start(f.plan(1));
        QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kUnavailable));
        QVERIFY(answer.err.contains("an agent supervises this run"));
        QVERIFY(processRuns(f.rankPid(0)));
    }

    void concurrentStartsGiveOneSupervisor() {
        AgentFixture f;
        const QJsonObject order{{"spec", "name = \"fake\"\n"},
                                {"plan", QString::fromStdString(toToml(f.plan(1)))}};
        std::vector<std::unique_ptr<QProcess>> starters;
        for (int i = 0; i < 8; ++i)
            starters.push_back(f.spawn({"start", "r1"}));
        for (const auto& starter : starters) {
            starter->write(QJsonDocument(order).toJson());
            starter->closeWriteChannel();
        }
        int started = 0;
        for (const auto& starter : starters) {
            QVERIFY(starter->waitForFinished(kLongMs));
            started += starter->exitCode() == 0;
        }
        QCOMPARE(started, 1);
        QCOMPARE(f.nodeRecords<RankStarted>().size(), size_t(1));
    }

    void hangUpOfTheStartingSessionIsSurvived() {
        AgentFixture f;
        const QString script =
            QString("exec setsid -w sh -c '\"%1\" start r1 < \"%2\"; kill -HUP 0'")
                .arg(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-agent", f.path("order"));
        writeOrder(f, f.plan(1));
        QProcess session;
        session.setProcessEnvironment(f.environment());
        session.start("sh", {"-c", script});
        QVERIFY(session.waitForFinished(kLongMs));
        const auto state = [&f] { return stepOf(f, 0); };
        QTRY_VERIFY_WITH_TIMEOUT(state() > 0, kLongMs);
        const int64_t before = state();
        QTRY_VERIFY_WITH_TIMEOUT(state() > before + 20, kLongMs);
        QVERIFY(processRuns(f.agentState()["supervisor"].toObject()["pid"].toInteger()));
    }

    void aRankThatDoesNotComeIsNamedWithItsStack() {
        AgentFixture f;
        // After some seconds, in which the agent learns how long a step takes.
        f.script(0, "wait@600");
        f.script(1, "hang@600");
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        const auto eventsOf = [&f](const std::string& code) {
            std::vector<Event> events = f.nodeRecords<Event>();
            std::erase_if(events, [&code](const Event& event) { return event.code != code; });
            return events;
        };
        QTRY_VERIFY_WITH_TIMEOUT(!eventsOf("rank-stack").empty(), 2 * kLongMs);
        const std::vector<Event> hangs = eventsOf("rank-hangs");
        QCOMPARE(hangs.size(), size_t(1));
        QCOMPARE(hangs[0].rank, 1);
        QVERIFY2(hangs[0].message.starts_with("rank 1 did not come to all-reduce 1 (4.0 KiB)"),
                 hangs[0].message.c_str());
        const Event stack = eventsOf("rank-stack").front();
        QCOMPARE(stack.rank, 1);
        QVERIFY2(stack.message.find("hangForEver") != std::string::npos, stack.message.c_str());
        QVERIFY2(stack.message.find("< main") != std::string::npos, stack.message.c_str());
        QVERIFY(processRuns(f.rankPid(1))); // it was only looked at
    }

    void aRankThatDiesUnderATracerIsReaped() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0, kLongMs);
        Tracer tracer(static_cast<pid_t>(f.rankPid(0)));
        RM_NEEDS("root", tracer.isAttached(), QString("processes may not be traced here"));
        ::kill(static_cast<pid_t>(f.rankPid(0)), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(f.rankPid(0)), kLongMs);
        QVERIFY(f.nodeRecords<RankExited>().empty()); // the tracer has it
        tracer.end();
        QTRY_COMPARE_WITH_TIMEOUT(f.nodeRecords<AttemptEnded>().size(), size_t(1), kLongMs);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).signal, SIGKILL);
    }

    void stopEndsEverythingAndIsIdempotent() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 1) > 0, kLongMs);
        const auto stopped = f.agent({"stop", "r1"});
        QCOMPARE(stopped.exitCode, 0);
        QCOMPARE(stopped.json()["state"].toString(), QString("stopped"));
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).exitCode,
                 static_cast<int>(ExitCode::kPreempted));
        QCOMPARE(f.agent({"stop", "r1"}).json()["state"].toString(), QString("not-running"));
        QCOMPARE(f.nodeRecords<AttemptEnded>().size(), size_t(1));
    }

    void stopWithKillIsAtOnce() {
        AgentFixture f;
        f.script(0, "ignore-term@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 2, kLongMs);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(f.agent({"stop", "r1", "--kill"}).exitCode, 0);
        QVERIFY(timer.elapsed() < 4000);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).signal, SIGKILL);
    }

    void theEndIsWrittenOnceTheDiskHasRoom() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        AgentFixture f;
        QVERIFY(QFile::link(QString::fromStdString(disk.path()), f.path("state")));
        f.script(0, "finish@100");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0, kLongMs);
        const qint64 rank = f.rankPid(0);
        const qint64 supervisor = f.agentState()["supervisor"].toObject()["pid"].toInteger();
        disk.fill();
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(rank), kLongMs);
        AttachClient client(f);
        client.say(Command{"p", CommandKind::kPause, {}}); // it is not left without an answer
        const auto isAnswered = [&] {
            (void)client.pump();
            const auto states = client.all<CommandState>();
            return !states.empty() && states.back().progress == CommandProgress::kRefused;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isAnswered(), kLongMs);
        const RunState reported = client.all<RunState>().back();
        QVERIFY(reported.hasNoRoom);
        QVERIFY2(reported.noRoom.ends_with(", and 65.5 kB are needed"), reported.noRoom.c_str());
        QVERIFY2(reported.noRoom.starts_with(disk.path()), reported.noRoom.c_str());
        QVERIFY(!f.agentState()["ended"].toBool() && processRuns(supervisor));
        disk.empty();
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(supervisor), kLongMs);
        QCOMPARE(f.nodeRecords<AttemptEnded>().size(), size_t(1));
        QCOMPARE(f.nodeRecords<AttemptEnded>().front().outcome, Outcome::kFinished);
    }

    void unknownRunIsNotFound() {
        AgentFixture f;
        for (const QStringList& words :
             {QStringList{"stop", "r1"}, {"attach", "r1", "0"}, {"adopt", "r1", "0"}})
            QCOMPARE(f.agent(words).exitCode, static_cast<int>(ExitCode::kNotFound));
    }

    void aRunWhoseFolderWasRemovedEndsByItself() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2), "[launch]\nmax_restarts = 3\n").exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0 && stepOf(f, 1) > 0, kLongMs);
        const qint64 pids[] = {f.rankPid(0), f.rankPid(1),
                               f.agentState()["supervisor"].toObject()["pid"].toInteger()};
        const auto isGone = [&f] { return QDir(f.runFolder()).removeRecursively(); };
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), kLongMs); // its ranks may write there meanwhile
        for (const qint64 pid : pids)
            QTRY_VERIFY_WITH_TIMEOUT(!processRuns(pid), kLongMs);
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void removeIsRefusedWhileRunning() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        for (const QStringList& words :
             {QStringList{"remove", "r1"}, {"remove", "r1", "--preview"}})
            QCOMPARE(f.agent(words).exitCode, static_cast<int>(ExitCode::kUnavailable));
        QCOMPARE(f.agent({"stop", "r1"}).exitCode, 0);
        QCOMPARE(f.agent({"remove", "r1"}).exitCode, 0);
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void removalWaitsForAnAgentsLastWords() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QCOMPARE(f.agent({"stop", "r1"}).exitCode, 0);
        const LastWords words(f.runDir().toStdString());
        QVERIFY(words.holdTheRun());
        const auto removed = f.agent({"remove", "r1"});
        QVERIFY2(removed.exitCode == 0, removed.err);
    }

    void removalIsForetoldAndComesOnce() {
        AgentFixture f;
        f.script(0, "finish@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        f.agent({"stop", "r1"}); // an agent that has not gone yet keeps the folder
        const QString checkpoint = f.runDir() + "/checkpoints/step-000000020";
        QVERIFY(QDir().mkpath(checkpoint));
        QFile manifest(checkpoint + "/MANIFEST.json");
        QVERIFY(manifest.open(QIODevice::WriteOnly));
        manifest.write(QByteArray(5000, ' '));
        manifest.close();
        const QJsonObject preview = f.agent({"remove", "r1", "--preview"}).json();
        QCOMPARE(preview["folder"].toString(), f.runFolder());
        QCOMPARE(preview["checkpoints"].toInt(), 1);
        QVERIFY(preview["bytes"].toInt() > 5000);
        QVERIFY(QFile::exists(manifest.fileName()));
        QCOMPARE(f.agent({"remove", "r1"}).json()["checkpoints"].toInt(), 1);
        QVERIFY(!QFile::exists(f.runFolder()));
        const auto again = f.agent({"remove", "r1"});
        QCOMPARE(again.exitCode, 0);
        QCOMPARE(again.json()["bytes"].toInt(-1), 0);
    }

    void removalNamesTheFolderAsRanksDo() {
        AgentFixture f;
        f.script(0, "finish@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        f.agent({"stop", "r1"});
        const QString runs = QFileInfo(f.runFolder()).path();
        QVERIFY(QDir().rename(runs, runs + "-elsewhere"));
        QVERIFY(QFile::link(runs + "-elsewhere", runs));
        QCOMPARE(f.agent({"remove", "r1"}).json()["folder"].toString(), runs + "-elsewhere/r1");
        QVERIFY(!QFile::exists(f.runFolder()));
        QVERIFY(QDir(runs).entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot).isEmpty());
    }

    void onlyARunIsRemoved() {
        AgentFixture f;
        const QString runs = QFileInfo(f.runFolder()).path();
        QVERIFY(QDir().mkpath(runs + "/backup/thesis") &&
                QDir().mkpath(f.path("moved/node-00000")));
        QVERIFY(QFile::link(f.path("moved"), runs + "/linked"));
        for (const char* name : {"backup", "linked"})
            for (const QStringList& more : {QStringList{"--preview"}, QStringList{}}) {
                const auto refused = f.agent(QStringList{"remove", name} + more);
                QVERIFY2(refused.exitCode != 0 &&
                             refused.err.contains("Ringmaster did not put it there"),
                         refused.err);
            }
        QVERIFY(QFile::exists(runs + "/backup/thesis"));
        QVERIFY(QFile::exists(runs + "/linked/node-00000"));
    }

    void nothingIsRemovedWhereRanksMayLive() {
        AgentFixture f;
        f.script(0, "finish@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        f.agent({"stop", "r1"});
        QFile state(f.runDir() + "/agent.json");
        QVERIFY(state.open(QIODevice::WriteOnly | QIODevice::Truncate));
        state.write("{");
        state.close();
        QVERIFY(f.agent({"remove", "r1"}).exitCode != 0);
        QVERIFY(QFile::exists(f.runDir() + "/journal"));
    }

    void killedAgentLeavesRanksTraining() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0 && stepOf(f, 1) > 0, kLongMs);
        killSupervisor(f);
        const int64_t before = stepOf(f, 1);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 1) > before + 20, kLongMs);

        const auto again = f.start(f.plan(2));
        QCOMPARE(again.exitCode, static_cast<int>(ExitCode::kUnavailable));
        QVERIFY2(again.err.contains("still run ranks 0 (process"), again.err.constData());

        const auto stopped = f.agent({"stop", "r1"});
        QCOMPARE(stopped.json()["state"].toString(), QString("stopped"));
        QCOMPARE(stopped.json()["ranks"].toArray().size(), 2);
        QVERIFY(!processRuns(f.rankPid(0)) && !processRuns(f.rankPid(1)));
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
    }

    // A node that was declared lost, as it could not be reached, may be used again when it is back.
    void aLaterAttemptEndsWhatLivesOfAnEarlierOne() {
        AgentFixture f;
        NodePlan plan = f.plan(2);
        QCOMPARE(f.start(plan).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0 && stepOf(f, 1) > 0, kLongMs);
        const std::vector<qint64> before = {f.rankPid(0), f.rankPid(1)};
        plan.attempt = 2;
        const auto again = f.start(plan);
        QVERIFY2(again.exitCode == 0, again.err.constData());
        QVERIFY(!processRuns(before[0]) && !processRuns(before[1]));
        QTRY_COMPARE_WITH_TIMEOUT(attemptOnBoard(f), 2, kLongMs);
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
    }

    // The machine was the first node of the run, and is now the second.
    void whatLivesIsEndedWhicheverNodeItWasOf() {
        AgentFixture f;
        QCOMPARE(f.agent({"state", "r1"}).exitCode, static_cast<int>(ExitCode::kNotFound));
        NodePlan plan = f.plan(1);
        plan.attempt = 4;
        QCOMPARE(f.start(plan).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0, kLongMs);
        const auto state = f.agent({"state", "r1"}).json();
        QCOMPARE(state["attempt"].toInt(), 4);
        QVERIFY(state["alive"].toBool());
        const qint64 before = f.rankPid(0);
        plan.attempt = 5;
        plan.nodeIndex = plan.firstRank = 1;
        plan.nodeCount = plan.worldSize = 2;
        const auto again = f.start(plan);
        QVERIFY2(again.exitCode == 0, again.err.constData());
        QVERIFY(!processRuns(before));
        QCOMPARE(f.agent({"stop", "r1", "--kill"}).exitCode, 0);
        const auto over = f.agent({"state", "r1"}).json();
        QCOMPARE(over["attempt"].toInt(), 5);
        QVERIFY(!over["alive"].toBool());
    }

    void lostAttemptIsClosedByTheNextStart() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const qint64 rank = f.rankPid(0);
        killSupervisor(f);
        ::kill(static_cast<pid_t>(rank), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(rank), kLongMs);
        NodePlan plan = f.plan(1);
        plan.attempt = 2;
        QCOMPARE(f.start(plan).exitCode, 0);
        const auto ended = f.nodeRecords<AttemptEnded>();
        QCOMPARE(ended.size(), size_t(1));
        QCOMPARE(ended[0].attempt, 1);
        QCOMPARE(ended[0].outcome, Outcome::kFailed);
        QTRY_COMPARE_WITH_TIMEOUT(attemptOnBoard(f), 2, kLongMs);
    }

    void nextAttemptMayStartAtOnce() {
        AgentFixture f;
        f.script(0, "finish@1");
        NodePlan plan = f.plan(1);
        for (int attempt = 1; attempt <= 10; ++attempt) {
            plan.attempt = attempt;
            const auto answer = f.start(plan);
            QVERIFY2(answer.exitCode == 0, answer.err.constData());
            QElapsedTimer timer;
            timer.start();
            while (f.nodeRecords<AttemptEnded>().size() < size_t(attempt))
                QVERIFY(timer.elapsed() < kLongMs);
        }
    }

    // As nodes of most clusters: both write into the same folder of runs.
    void nodesMayShareAHome() {
        AgentFixture f;
        std::vector<NodePlan> plans(2, f.plan(1));
        for (int node = 0; node < 2; ++node) {
            plans[node].nodeIndex = plans[node].firstRank = node;
            plans[node].nodeCount = plans[node].worldSize = 2;
            QCOMPARE(f.start(plans[node]).exitCode, 0);
        }
        const auto journals = [&](int node) {
            const std::string folder =
                f.runFolder().toStdString() + "/" + nodeName(node) + "/journal";
            return !listSegments(folder, nodeName(node)).empty() &&
                   !listSegments(folder, rankName(node)).empty();
        };
        QTRY_VERIFY_WITH_TIMEOUT(journals(0) && journals(1), kLongMs);
        const auto stopped = f.agent({"stop", "r1", "--kill"});
        QCOMPARE(stopped.json()["ranks"].toArray().size(), 2);
        QCOMPARE(f.agent({"remove", "r1"}).exitCode, 0);
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    // A run that release 0.1.0 began has its files in the run's folder itself.
    void aRunWithoutPartsGoesOn() {
        AgentFixture f;
        f.script(0, "finish@3");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        f.agent({"stop", "r1"});
        const QString aside = f.runFolder() + "-aside";
        QVERIFY(QDir().rename(f.runDir(), aside) && QDir().rmdir(f.runFolder()) &&
                QDir().rename(aside, f.runFolder()));
        NodePlan plan = f.plan(1);
        plan.attempt = 2;
        QCOMPARE(f.start(plan).json()["run_dir"].toString(), f.runFolder());
        const auto ends = [&] {
            int found = 0;
            const auto records =
                readSegments(f.runFolder().toStdString() + "/journal", nodeName(0));
            for (const Record& record : records.value_or(std::vector<Record>()))
                found += std::holds_alternative<AttemptEnded>(record);
            return found;
        };
        QTRY_COMPARE_WITH_TIMEOUT(ends(), 2, kLongMs);
    }

private:
    static void writeOrder(const AgentFixture& f, const NodePlan& plan) {
        QFile file(f.path("order"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(QJsonObject{{"spec", "name = \"fake\"\n"},
                                             {"plan", QString::fromStdString(toToml(plan))}})
                       .toJson());
    }
    static Result<Board> boardOf(const AgentFixture& f, int rank) {
        return Board::open(f.runDir().toStdString() + "/board/" + rankName(rank));
    }
    static int64_t stepOf(const AgentFixture& f, int rank) {
        const auto board = boardOf(f, rank);
        return board ? board->status().step : -1;
    }
    static int attemptOnBoard(const AgentFixture& f) {
        const auto board = boardOf(f, 0);
        return board ? board->status().attempt : -1;
    }
    static void killSupervisor(const AgentFixture& f) {
        const qint64 pid = f.agentState()["supervisor"].toObject()["pid"].toInteger();
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(pid), kLongMs);
    }
};

QTEST_GUILESS_MAIN(TestAgentEnds)
#include "tst_agent_ends.moc"
