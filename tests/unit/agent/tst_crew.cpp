// SPDX-License-Identifier: Apache-2.0
// The agents of a run's nodes in one process over loopback. This program is what they start as
// well: to look for the newest checkpoint, and to fetch it.
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"
#include "tests/support/free_port.h"
#include "trainer/agent/peers/crew.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rm;

namespace {

constexpr int64_t kPatienceNs = 20'000'000'000;
/// Of who fetches: it makes this file, and never answers.
constexpr const char* kNoAnswer = "RINGMASTER_TEST_NO_ANSWER";

/// A node whose ranks pause.
class Node : public CrewTarget {
public:
    Node(asio::io_context& io, int index, int nodes, int port)
        : m_index(index) {
        NodePlan plan;
        plan.runId = "r1";
        plan.nodeIndex = index;
        plan.nodeCount = plan.worldSize = nodes;
        plan.agentKey = std::string(64, 'a');
        plan.agentPort = port;
        RunSpec spec;
        spec.launch.maxRestarts = 0;
        m_crew = Crew::make(io, plan, spec, *this);
    }

    Crew& crew() { return *m_crew; }
    /// As Supervisor does.
    void pump(bool havePaused) {
        if (hasLeft && !m_crew->isCopying())
            return;
        PeerStatus status;
        status.node = m_index;
        status.attempt = 1;
        status.hasEnded = havePaused;
        status.end = end;
        m_crew->onStatus(status);
        m_crew->tick(monotonicNowNs());
    }

    AttemptEnded end{1, Outcome::kPaused, -1, 0, 0, {}};
    bool hasLeft = false;
    std::vector<std::string> copied;    ///< folders
    std::vector<std::string> notCopied; ///< what was said of it

private:
    void endAttempt(const EndOrder&) override {}
    void startAttempt(const StartOrder&) override {}
    void awaitAttempt() override {}
    void leave(const OverOrder&) override {
        if (!std::exchange(hasLeft, true))
            m_crew->copyLast(end);
    }
    void pauseRanks(const std::string&) override {}
    bool hasDone(const std::string&) override { return false; }
    void journal(const Record& record) override {
        if (const auto* copy = std::get_if<CheckpointCopied>(&record))
            copied.push_back(copy->folder);
        const auto* event = std::get_if<Event>(&record);
        if (event && event->code == kNotCopiedEvent)
            notCopied.push_back(event->message);
    }
    void failAttempt(const StartOrder&, const Error&) override {}

    int m_index;
    std::unique_ptr<Crew> m_crew;
};

/// Its ranks train until pause().
struct Run {
    asio::io_context io;
    int port = test::freePort();
    int planned;
    bool havePaused = false;
    std::vector<std::unique_ptr<Node>> nodes; ///< null: it is gone

    explicit Run(int all = 2, int present = 2)
        : planned(all) {
        for (int index = 0; index < present; ++index)
            add(index);
    }
    void add(int index) { nodes.push_back(std::make_unique<Node>(io, index, planned, port)); }
    Node& leader() { return *nodes[0]; }
    Node& other() { return *nodes[1]; }

    template <class Condition>
    bool until(const Condition& condition) {
        for (const int64_t endNs = monotonicNowNs() + kPatienceNs; monotonicNowNs() < endNs;) {
            for (const auto& node : nodes)
                if (node)
                    node->pump(havePaused);
            if (condition())
                return true;
            io.restart();
            io.run_for(std::chrono::milliseconds(20));
        }
        return false;
    }
    bool pause() {
        havePaused = true;
        return until([this] {
            return std::ranges::all_of(nodes, [](const auto& node) { return node->hasLeft; });
        });
    }
};

} // namespace

class TestCrew : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void cleanup() { qunsetenv(kNoAnswer); }

    void theLastCheckpointOfAPausedRunIsCopied() {
        Run run;
        QVERIFY(run.pause());
        QVERIFY(run.until([&] { return !run.leader().crew().isCopying(); }));
        QCOMPARE(run.other().copied, std::vector<std::string>{"/there/step-000000010"});
        QVERIFY(run.leader().notCopied.empty());
        // The other stays for as long as the leader does.
        QVERIFY(run.other().crew().isCopying());
        run.nodes[0].reset();
        QVERIFY(run.until([&] { return !run.other().crew().isCopying(); }));
    }

    void thatOfARunThatFailedOrWasKilledIsNot() {
        for (const AttemptEnded& end :
             {AttemptEnded{1, Outcome::kFailed, 0, 1, 0, "a rank failed"},
              AttemptEnded{1, Outcome::kStopped, -1, 0, 0, kKilledMessage}}) {
            Run run;
            run.leader().end = end;
            QVERIFY(run.pause());
            QVERIFY(!run.leader().crew().isCopying());
        }
    }

    void whatIsMoreUrgentEndsIt() {
        const auto fetching = holdUpFetches();
        Run run;
        QVERIFY(run.pause());
        QVERIFY(run.until([&] { return QFile::exists(fetching->filePath("begun")); }));
        for (const auto& node : run.nodes) {
            QVERIFY(node->crew().isCopying());
            node->crew().giveUpCopy();
            QVERIFY(!node->crew().isCopying());
            QVERIFY(node->notCopied.empty());
        }
    }

    void whoseAgentIsGoneIsNotWaitedFor() {
        const auto fetching = holdUpFetches();
        Run run;
        QVERIFY(run.pause());
        QVERIFY(run.until([&] { return QFile::exists(fetching->filePath("begun")); }));
        run.nodes[1].reset();
        QVERIFY(run.until([&] { return !run.leader().crew().isCopying(); }));
        QCOMPARE(run.leader().notCopied,
                 std::vector<std::string>{"/here/step-000000010 has no copy on another node: the "
                                          "agent that fetched it is gone"});
    }

    /// Else it would take the linked leader for one that goes on with the run.
    void whoLinksOnlyMeanwhileHearsThatTheRunIsOver() {
        const auto fetching = holdUpFetches();
        Run run(3, 2);
        QVERIFY(run.pause());
        run.add(2);
        QVERIFY(run.until([&] { return run.nodes[2]->hasLeft; }));
        QVERIFY(run.leader().crew().isCopying());
    }

private:
    static std::unique_ptr<QTemporaryDir> holdUpFetches() {
        auto folder = std::make_unique<QTemporaryDir>();
        qputenv(kNoAnswer, folder->filePath("begun").toUtf8());
        return folder;
    }
};

/// As ringmaster-agent would; see newestCheckpointAt() and fetchCheckpoint().
int main(int argc, char** argv) {
    const auto isRequested = [&](const char* word) {
        return argc > 1 && !std::strcmp(argv[1], word);
    };
    if (isRequested("newest-checkpoint"))
        return std::puts(R"({"path":"/here/step-000000010","attempt":1,"step":10,"bytes":7})") < 0;
    if (isRequested("fetch-checkpoint")) {
        if (qEnvironmentVariableIsSet(kNoAnswer)) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL); // its agent lets it go on
            QFile begun(qEnvironmentVariable(kNoAnswer));
            static_cast<void>(begun.open(QIODevice::WriteOnly));
            ::pause();
        }
        return std::puts(R"({"folder":"/there/step-000000010","dropped":[],"bytes":7})") < 0;
    }
    QTEST_SET_MAIN_SOURCE_PATH
    TestCrew test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_crew.moc"
