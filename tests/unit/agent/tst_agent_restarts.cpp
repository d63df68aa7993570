// SPDX-License-Identifier: Apache-2.0
// Runs that go on by themselves, by the real agents of one and of several nodes, which talk over
// TLS on this machine's loopback. The trainers are small programs of the test.
#include "shared/io/file.h"
#include "shared/journal/event_codes.h"
#include "shared/journal/segment.h"
#include "tests/support/free_port.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/unit/agent/agent_fixture.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTcpServer>
#include <QTcpSocket>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 40'000;
const std::string kRestarting = "[launch]\nmax_restarts = 3\n";

/// The agents of a run on several nodes, which share this machine and its home.
class Nodes {
public:
    explicit Nodes(int count, const std::string& spec = kRestarting)
        : m_spec(spec)
        , m_agentPort(freePort())
        , m_count(count) {}

    AgentFixture& fixture() { return m_fixture; }

    NodePlan plan(int node) const {
        NodePlan plan = m_fixture.plan(1);
        plan.nodeIndex = plan.firstRank = node;
        plan.nodeCount = plan.worldSize = m_count;
        plan.agentPort = m_agentPort;
        plan.agentKey = std::string(64, 'a');
        return plan;
    }

    void start() {
        for (int node = 0; node < m_count; ++node)
            QCOMPARE(m_fixture.start(plan(node), m_spec).exitCode, 0);
    }

    QString part(int node) const {
        return m_fixture.runFolder() + QString("/node-%1").arg(node, 5, 10, QChar('0'));
    }

    QJsonObject state(int node) const {
        QFile file(part(node) + "/agent.json");
        return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                              : QJsonObject();
    }

    int attempt(int node) const { return state(node)["attempt"].toInt(); }
    bool hasEnded(int node) const { return state(node)["ended"].toBool(); }
    qint64 pidOf(int node, const QString& of) const {
        return of == "agent"
                   ? state(node)["supervisor"].toObject()["pid"].toInteger()
                   : state(node)["ranks"][0].toObject()["process"].toObject()["pid"].toInteger();
    }

    /// Returns when it is gone, with all its locks.
    void kill(int node, const QString& which) const {
        const qint64 pid = pidOf(node, which);
        QVERIFY(pid > 0);
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(pid), kLongMs);
    }

    template <class T>
    std::vector<T> records(int node) const {
        std::vector<T> found;
        for (const Record& record :
             readSegments((part(node) + "/journal").toStdString(), nodeName(node))
                 .value_or(std::vector<Record>()))
            if (const T* one = std::get_if<T>(&record))
                found.push_back(*one);
        return found;
    }

    bool hasEvent(int node, const std::string& code) const {
        const auto events = records<Event>(node);
        return std::ranges::any_of(events, [&](const Event& e) { return e.code == code; });
    }

private:
    AgentFixture m_fixture;
    std::string m_spec;
    int m_agentPort;
    int m_count;
};

} // namespace

class TestAgentRestarts : public QObject {
    Q_OBJECT
    /// Its run folder is on the disk, which is full when its rank is killed: the rank's pid.
    static qint64 killOnFullDisk(AgentFixture& f, const OwnDisk& disk) {
        QFile::link(QString::fromStdString(disk.path()), f.path("state"));
        f.start(f.plan(1), kRestarting);
        const auto board = [&] { return QFile::exists(f.runDir() + "/board/rank-00000"); };
        const qint64 rank = QTest::qWaitFor(board, kLongMs) ? f.rankPid(0) : 0;
        disk.fill();
        if (rank > 0)
            ::kill(static_cast<pid_t>(rank), SIGKILL);
        QElapsedTimer full;
        full.start();
        // The next attempt would begin at once.
        (void)QTest::qWaitFor([&] { return !processRuns(rank) && full.hasExpired(1000); }, kLongMs);
        return rank;
    }

    /// Its agents stay after the end, as the look for what is to be copied hangs, as in a file
    /// system that does not answer.
    static void pauseWhereNothingIsFound(Nodes& nodes) {
        nodes.start();
        QTRY_VERIFY_WITH_TIMEOUT(nodes.records<Samples>(1).size() >= 2, kLongMs);
        const QString checkpoint = nodes.part(0) + "/checkpoints/step-000000010";
        QVERIFY(QDir().mkpath(checkpoint));
        QCOMPARE(::mkfifo(qPrintable(checkpoint + "/MANIFEST.json"), 0600), 0);
        AttachClient client(nodes.fixture());
        client.say(Command{"p", CommandKind::kPause, {}});
        for (int node = 0; node < 2; ++node)
            QTRY_VERIFY_WITH_TIMEOUT(client.pump() && nodes.hasEnded(node), kLongMs);
        QCOMPARE(nodes.records<AttemptEnded>(0).back().outcome, Outcome::kPaused);
    }

private Q_SLOTS:
    void aRestartWaitsForRoomOnTheDisk() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        AgentFixture f;
        const qint64 rank = killOnFullDisk(f, disk);
        disk.empty();
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["attempt"].toInt() == 2 && f.rankPid(0) != rank &&
                                     processRuns(f.rankPid(0)),
                                 kLongMs);
        f.agent({"stop", "r1"});
        const auto ends = f.nodeRecords<AttemptEnded>();
        QCOMPARE(ends.size(), size_t(2));
        QVERIFY(ends[0].resumes && !ends[1].resumes);
        QCOMPARE(f.nodeRecords<AttemptPlanned>().size(), size_t(1));
        QCOMPARE(f.nodeRecords<RankExited>().size(), size_t(2));
    }

    void aStopWhileItWaitsForRoomEndsTheRun() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        AgentFixture f;
        killOnFullDisk(f, disk);
        AttachClient client(f);
        client.say(Command{"s", CommandKind::kStop, {}});
        const auto isDone = [&] {
            (void)client.pump();
            const auto states = client.all<CommandState>();
            return !states.empty() && states.back().progress == CommandProgress::kApplied;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isDone(), kLongMs);
        disk.empty();
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        QCOMPARE(f.nodeRecords<AttemptEnded>().back().outcome, Outcome::kStopped);
        QCOMPARE(f.nodeRecords<RankStarted>().size(), size_t(1));
    }

    void aKilledRankIsFollowedByTheNextAttempt() {
        AgentFixture f;
        f.script(0, "signal=9@50#1 finish@100#2");
        QCOMPARE(f.start(f.plan(2), kRestarting).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(f.agentState()["attempt"].toInt(), 2, kLongMs);
        f.agent({"stop", "r1"});
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        const auto ends = f.nodeRecords<AttemptEnded>();
        QCOMPARE(ends.size(), size_t(2));
        QVERIFY(ends[0].resumes);
        QCOMPARE(ends[0].outcome, Outcome::kFailed);
        QVERIFY(!ends[1].resumes);
        QCOMPARE(f.nodeRecords<AttemptPlanned>().size(), size_t(1));
        QCOMPARE(f.nodeRecords<RankStarted>().size(), size_t(4));
    }

    void aRankThatFailsAgainAndAgainIsGivenUp() {
        AgentFixture f;
        f.script(0, "exit=1@5");
        QCOMPARE(f.start(f.plan(1), "[launch]\nmax_restarts = 2\n").exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        QCOMPARE(f.agentState()["attempt"].toInt(), 3);
        const AttemptEnded last = f.nodeRecords<AttemptEnded>().back();
        QVERIFY(!last.resumes);
        QVERIFY2(last.message.find("2 times") != std::string::npos, last.message.c_str());
    }

    void whatIsAskedForBetweenTwoAttemptsHappens() {
        for (const CommandKind kind : {CommandKind::kStop, CommandKind::kKill}) {
            AgentFixture f;
            f.script(0, "exit=1@5");
            QCOMPARE(f.start(f.plan(1), "[launch]\nmax_restarts = 100\n").exitCode, 0);
            // From then on, the pauses between attempts are longer than a second.
            QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["attempt"].toInt() >= 4, kLongMs);
            AttachClient client(f);
            client.say(Command{"c", kind, {}});
            QTRY_VERIFY_WITH_TIMEOUT(client.pump() && f.agentState()["ended"].toBool(), kLongMs);
            const AttemptEnded last = f.nodeRecords<AttemptEnded>().back();
            QCOMPARE(last.outcome, Outcome::kStopped);
            QCOMPARE(last.message == kKilledMessage, kind == CommandKind::kKill);
        }
    }

    void whatWasObeyedIsNotRestartedThoughARankDiesOfIt() {
        AgentFixture f;
        f.script(0, "exit=22@100"); // stopped by command
        f.script(1, "signal=11@120");
        QCOMPARE(f.start(f.plan(2), kRestarting).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        QCOMPARE(f.agentState()["attempt"].toInt(), 1);
    }

    void ranksOfAllNodesEndAndBeginTogether() {
        Nodes nodes(3);
        nodes.fixture().script(1, "signal=9@100#1");
        nodes.start();
        for (int node = 0; node < 3; ++node)
            QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(node), 2, kLongMs);
        nodes.fixture().agent({"stop", "r1"});
        for (int node = 0; node < 3; ++node) {
            QTRY_VERIFY_WITH_TIMEOUT(nodes.hasEnded(node), kLongMs);
            const auto ends = nodes.records<AttemptEnded>(node);
            QVERIFY(ends.size() >= 2);
            QVERIFY(ends.front().resumes && !ends.back().resumes);
        }
    }

    void aRankThatHangsIsKilledAndTheRunGoesOn() {
        Nodes nodes(2);
        nodes.start();
        // Some steps, by which the agent knows how long one takes.
        QTRY_VERIFY_WITH_TIMEOUT(nodes.records<Samples>(1).size() >= 4, kLongMs);
        ::kill(static_cast<pid_t>(nodes.pidOf(1, "rank")), SIGSTOP);
        for (int node = 0; node < 2; ++node)
            QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(node), 2, kLongMs);
        // The agent outlives what read the rank's stack: it goes on to sample.
        const size_t samples = nodes.records<Samples>(1).size();
        QTRY_VERIFY_WITH_TIMEOUT(nodes.records<Samples>(1).size() >= samples + 3, kLongMs);
        const auto ends = nodes.records<AttemptEnded>(1);
        QVERIFY2(ends.front().message.find("stopped") != std::string::npos,
                 ends.front().message.c_str());
        // It was read before the rank was killed.
        std::vector<Event> stacks = nodes.records<Event>(1);
        std::erase_if(stacks, [](const Event& event) { return event.code != "rank-stack"; });
        QCOMPARE(stacks.size(), size_t(1));
        const std::string& stack = stacks.front().message;
        QVERIFY2(stack.starts_with("rank 1 is here: main: "), stack.c_str());
        QVERIFY2(stack.find("< main") != std::string::npos, stack.c_str());
        QCOMPARE(stack.find("cannot be read"), std::string::npos);
    }

    void anAgentThatDiesIsReplacedAndStillLed() {
        Nodes nodes(2);
        nodes.start();
        nodes.kill(1, "agent");
        const qint64 rank = nodes.pidOf(1, "rank");
        QCOMPARE(nodes.fixture().agent({"adopt", "r1", "1"}).exitCode, 0);
        QVERIFY(processRuns(rank));
        ::kill(static_cast<pid_t>(rank), SIGKILL);
        for (int node = 0; node < 2; ++node)
            QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(node), 2, kLongMs);
    }

    void aNodeWhoseProcessesAllDieIsTakenBack() {
        for (const int dead : {0, 1}) {
            Nodes nodes(2);
            nodes.start();
            nodes.kill(dead, "agent");
            nodes.kill(dead, "rank");
            // A rank of the other notices in real life that its peer is gone.
            nodes.kill(1 - dead, "rank");
            // The other one waits for it; only then the app comes.
            QTRY_VERIFY_WITH_TIMEOUT(!nodes.records<AttemptEnded>(1 - dead).empty(), kLongMs);
            QCOMPARE(nodes.fixture().agent({"adopt", "r1", QString::number(dead)}).exitCode, 0);
            for (int node = 0; node < 2; ++node)
                QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(node), 2, kLongMs);
        }
    }

    /// The first node's machine is restarted while a pause waits for its rank, or once the rank has
    /// obeyed it. The agent before had heard it.
    void aPauseThatMeetsARestartOfTheFirstMachineIsThePauseOfAllNodes_data() {
        QTest::addColumn<bool>("isObeyed");
        QTest::addColumn<int>("restarts");
        for (const int restarts : {0, 3}) {
            QTest::addRow("obeyed, %d restarts", restarts) << true << restarts;
            QTest::addRow("not obeyed, %d restarts", restarts) << false << restarts;
        }
    }
    void aPauseThatMeetsARestartOfTheFirstMachineIsThePauseOfAllNodes() {
        QFETCH(bool, isObeyed);
        QFETCH(int, restarts);
        Nodes nodes(2, "[launch]\nmax_restarts = " + std::to_string(restarts) + "\n");
        nodes.fixture().script(0, "linger@1");
        nodes.fixture().script(1, "deaf@1");
        nodes.start();
        QTRY_VERIFY_WITH_TIMEOUT(nodes.records<Samples>(0).size() >= 2, kLongMs);
        if (!isObeyed)
            ::kill(static_cast<pid_t>(nodes.pidOf(0, "rank")), SIGSTOP);
        {
            AttachClient client(nodes.fixture());
            client.say(Command{"p", CommandKind::kPause, {}});
            const auto wanted = isObeyed ? CommandProgress::kApplied : CommandProgress::kAccepted;
            const auto isHeard = [&] {
                (void)client.pump();
                const auto states = client.all<CommandState>();
                return !states.empty() && states.back().progress == wanted;
            };
            QTRY_VERIFY_WITH_TIMEOUT(isHeard(), kLongMs);
        }
        nodes.kill(0, "agent");
        nodes.kill(0, "rank");
        nodes.kill(1, "rank");
        QTRY_VERIFY_WITH_TIMEOUT(!nodes.records<AttemptEnded>(1).empty(), kLongMs);
        QCOMPARE(nodes.fixture().agent({"adopt", "r1", "0"}).exitCode, 0);
        for (int node = 0; node < 2; ++node)
            QTRY_VERIFY_WITH_TIMEOUT(nodes.hasEnded(node), kLongMs);
        QCOMPARE(nodes.attempt(0), 1);
        const AttemptEnded end = nodes.records<AttemptEnded>(0).back();
        const bool isPause = isObeyed || restarts > 0; // else it had failed first
        QCOMPARE(end.outcome, isPause ? Outcome::kPaused : Outcome::kFailed);
        QCOMPARE(end.firstFailedRank, 0); // nothing hides that it is gone
        QVERIFY(end.exitCode != 0);
        QCOMPARE(nodes.hasEvent(0, "ended-after-failure"), restarts > 0);
        if (restarts > 0)
            QCOMPARE(nodes.records<AttemptEnded>(1).back().outcome, Outcome::kPaused);
    }

    /// A machine that was started anew, say, a week before somebody looks.
    void whatIsLongDeadIsClosedAndNotBegunAnew() {
        Nodes nodes(1);
        nodes.start();
        nodes.kill(0, "agent");
        nodes.kill(0, "rank");
        const auto weekAgo =
            std::filesystem::file_time_type::clock::now() - std::chrono::hours(168);
        const std::filesystem::path part = nodes.part(0).toStdString();
        std::filesystem::last_write_time(part / "agent.json", weekAgo);
        for (const auto& board : std::filesystem::directory_iterator(part / "board"))
            std::filesystem::last_write_time(board, weekAgo);
        QCOMPARE(nodes.fixture().agent({"adopt", "r1", "0"}).exitCode, 0);
        QVERIFY(nodes.hasEnded(0));
        QCOMPARE(nodes.attempt(0), 1);
        QVERIFY(!nodes.records<AttemptEnded>(0).back().resumes);
    }

    /// The agent died after it had written the plan of an attempt, and before its ranks were noted.
    void anAttemptWhoseRanksAreNotNotedIsFollowedByTheNext() {
        Nodes nodes(1);
        nodes.start();
        nodes.kill(0, "agent");
        nodes.kill(0, "rank");
        QJsonObject state = nodes.state(0);
        state["ranks"] = QJsonArray();
        QFile file(nodes.part(0) + "/agent.json");
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(state).toJson());
        file.close();
        QCOMPARE(nodes.fixture().agent({"adopt", "r1", "0"}).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(0), 2, kLongMs);
    }

    void fewerNodesGoOnWithContiguousRanks() {
        Nodes nodes(3, "[launch]\nmax_restarts = 3\nmin_nodes = 2\n");
        nodes.start();
        for (const char* process : {"agent", "rank"})
            nodes.kill(1, process);
        nodes.kill(2, "rank");
        QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(0), 2, kLongMs);
        QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(2), 2, kLongMs);
        QCOMPARE(nodes.state(2)["ranks"][0].toObject()["rank"].toInt(), 1);
        QVERIFY(nodes.hasEvent(0, "goes-on-with-fewer"));
        // The third comes back, and is taken in.
        QCOMPARE(nodes.fixture().agent({"adopt", "r1", "1"}).exitCode, 0);
        for (int node = 0; node < 3; ++node)
            QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(node), 3, kLongMs);
        QCOMPARE(nodes.state(2)["ranks"][0].toObject()["rank"].toInt(), 2);
    }

    /// Nothing of the run could begin there any more.
    void aNodeWhoseFolderWasRemovedIsNotWaitedFor_data() {
        QTest::addColumn<int>("minNodes");
        QTest::newRow("it is needed") << 0;
        QTest::newRow("fewer will do") << 1;
    }
    void aNodeWhoseFolderWasRemovedIsNotWaitedFor() {
        QFETCH(int, minNodes);
        Nodes nodes(2, kRestarting + "min_nodes = " + std::to_string(minNodes) + "\n");
        nodes.start();
        QTRY_VERIFY_WITH_TIMEOUT(nodes.records<Samples>(1).size() >= 2, kLongMs);
        const qint64 agent = nodes.pidOf(1, "agent");
        const auto isRemoved = [&] { return QDir(nodes.part(1)).removeRecursively(); };
        QTRY_VERIFY_WITH_TIMEOUT(isRemoved(), kLongMs); // its rank may write there meanwhile
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(agent), kLongMs);
        const std::string why = "the folder of the run on node 1, " + nodes.part(1).toStdString() +
                                ", was removed while it ran";
        if (minNodes > 0) {
            QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(0), 2, kLongMs);
            QVERIFY(nodes.hasEvent(0, "goes-on-with-fewer"));
            return;
        }
        QTRY_VERIFY_WITH_TIMEOUT(nodes.hasEnded(0), kLongMs);
        QCOMPARE(nodes.attempt(0), 1);
        const AttemptEnded end = nodes.records<AttemptEnded>(0).back();
        QCOMPARE(end.outcome, Outcome::kFailed);
        QCOMPARE(end.message, why);
    }

    void aPortThatWasTakenIsListenedOnLater() {
        Nodes nodes(2);
        QTcpServer taker;
        QVERIFY(
            taker.listen(QHostAddress::LocalHost, static_cast<quint16>(nodes.plan(0).agentPort)));
        nodes.start();
        QTRY_VERIFY_WITH_TIMEOUT(nodes.hasEvent(0, "agents-apart"), kLongMs);
        taker.close();
        nodes.kill(1, "rank");
        for (int node = 0; node < 2; ++node)
            QTRY_COMPARE_WITH_TIMEOUT(nodes.attempt(node), 2, kLongMs);
    }

    /// Else it would begin from step 0, and retire what the lost folder has.
    void nothingBeginsWithoutTheFolderOfCheckpoints_data() {
        QTest::addColumn<bool>("isEmptyThere"); ///< as where a disk was mounted
        QTest::newRow("missing") << false;
        QTest::newRow("empty") << true;
    }
    void nothingBeginsWithoutTheFolderOfCheckpoints() {
        QFETCH(bool, isEmptyThere);
        AgentFixture f;
        f.script(0, "signal=9@300#1");
        QCOMPARE(f.start(f.plan(1), kRestarting).exitCode, 0);
        const QString folder = f.runDir() + "/checkpoints";
        QTRY_VERIFY_WITH_TIMEOUT(QDir(folder).exists(), kLongMs);
        QTRY_VERIFY_WITH_TIMEOUT(!QDir(folder).isEmpty(), kLongMs);
        QVERIFY(QDir(folder).removeRecursively());
        QVERIFY(!isEmptyThere || QDir().mkdir(folder));
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        QCOMPARE(f.nodeRecords<RankStarted>().size(), size_t(1));
        const AttemptEnded last = f.nodeRecords<AttemptEnded>().back();
        QVERIFY2(last.message.find("checkpoints is not there") != std::string::npos,
                 last.message.c_str());
    }

    void whoBeginsARunDoesNotWaitForItsLastCopy() {
        Nodes nodes(2);
        pauseWhereNothingIsFound(nodes);
        const qint64 leader = nodes.pidOf(0, "agent"), other = nodes.pidOf(1, "agent");
        QVERIFY(processRuns(leader) && processRuns(other));
        NodePlan next = nodes.plan(0);
        next.attempt = 2;
        const auto begun = nodes.fixture().start(next, kRestarting);
        QVERIFY2(begun.exitCode == 0, begun.err);
        QVERIFY(!processRuns(leader));
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(other), kLongMs);
    }

    void whoRemovesARunDoesNotWaitForItsLastCopyAndWhoLooksLetsItBe() {
        Nodes nodes(2);
        pauseWhereNothingIsFound(nodes);
        const qint64 leader = nodes.pidOf(0, "agent"), other = nodes.pidOf(1, "agent");
        for (const QStringList& look :
             {QStringList{"remove", "r1", "--preview"}, QStringList{"state", "r1"}}) {
            const auto seen = nodes.fixture().agent(look);
            QVERIFY2(seen.exitCode == 0, seen.err);
            QVERIFY(!seen.json()["alive"].toBool());
        }
        QVERIFY(processRuns(leader) && processRuns(other));
        const auto removed = nodes.fixture().agent({"remove", "r1"});
        QVERIFY2(removed.exitCode == 0, removed.err);
        QVERIFY(!processRuns(leader) && !processRuns(other));
        QVERIFY(!QFile::exists(nodes.fixture().runFolder()));
    }

    void whoHasNotTheKeyIsRefused() {
        Nodes nodes(2);
        QCOMPARE(nodes.fixture().start(nodes.plan(0), kRestarting).exitCode, 0);
        NodePlan stranger = nodes.plan(1);
        stranger.agentKey = std::string(64, 'b');
        QCOMPARE(nodes.fixture().start(stranger, kRestarting).exitCode, 0);
        nodes.kill(1, "rank");
        nodes.kill(0, "rank");
        QTRY_VERIFY_WITH_TIMEOUT(nodes.hasEvent(0, "waits-for-nodes"), kLongMs);
        QCOMPARE(nodes.attempt(0), 1);
        // Nor is one who speaks no TLS; the leader goes on.
        QTcpSocket plain;
        plain.connectToHost("127.0.0.1", static_cast<quint16>(stranger.agentPort));
        QVERIFY(plain.waitForConnected(5000));
        plain.write(R"({"type":"over"})");
        QVERIFY(plain.waitForDisconnected(20'000));
        QVERIFY(processRuns(nodes.pidOf(0, "agent")));
    }
};

QTEST_GUILESS_MAIN(TestAgentRestarts)
#include "tst_agent_restarts.moc"
