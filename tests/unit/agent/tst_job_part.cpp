// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "trainer/agent/attach/job_part.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/slurm/job_file.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>
#include <string_view>

using namespace rm;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr std::chrono::seconds kDeadline{20};
// In the run's folder, where a part's agents run; see main().
constexpr const char* kAnswer = "../answer.json";
constexpr const char* kCancelled = "../cancelled";

Command commandOf(CommandKind kind) {
    return {"id-1", kind, {}};
}

/// A part of job 12, seen from elsewhere, at a time that the test moves.
class Fixture {
public:
    explicit Fixture(const QString& phase) {
        const QString folder = m_dir.filePath("run/node-00000");
        if (!QDir().mkpath(folder) || !QDir::setCurrent(folder))
            qFatal("make the run's folder");
        AgentState state;
        state.attempt = 1;
        const auto written = saveAgentState(".", state)
                                 .and_then([] {
                                     return saveJobFile("..", {"12", 1});
                                 })
                                 .and_then([&] {
                                     return writeFileAtomically(
                                         kAnswer, "{\"phase\":\"" + phase.toStdString() +
                                                      "\",\"words\":\"job 12 begins on n1\"}");
                                 });
        if (!written)
            qFatal("%s", written.error().message.c_str());
        part = std::make_unique<JobPart>(m_io, "r1", [this] { return nowNs; });
    }
    ~Fixture() { QDir::setCurrent(QDir::rootPath()); }

    /// Its supervisor says that it lives.
    void beAlive() {
        RunState state;
        state.attempt = 1;
        state.supervised = true;
        state.wallNs = ++m_said;
        if (!PartFiles(".").open())
            qFatal("make relay/");
        PartFiles(".").publish(state);
    }
    /// Until Slurm has answered.
    void ask() {
        m_io.restart();
        part->look();
        m_io.run_for(kDeadline);
        part->look();
    }
    std::vector<CommandState> answers() {
        m_io.restart();
        m_io.run_for(kDeadline);
        return part->takeAnswers();
    }
    static bool isCancelled() { return QFile::exists(kCancelled); }

private:
    QTemporaryDir m_dir;
    asio::io_context m_io; // outlives the part
    int64_t m_said = 0;

public:
    int64_t nowNs = 1000 * kSecond;
    std::unique_ptr<JobPart> part;
};

} // namespace

class TestJobPart : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatEndsARunBeforeItIsHeardOfCancelsItsJob_data() {
        QTest::addColumn<CommandKind>("kind");
        QTest::addColumn<QString>("phase");
        for (const char* phase : {"waiting", "running"}) {
            QTest::addRow("stop %s", phase) << CommandKind::kStop << phase;
            QTest::addRow("pause %s", phase) << CommandKind::kPause << phase;
            QTest::addRow("kill %s", phase) << CommandKind::kKill << phase;
        }
    }
    void whatEndsARunBeforeItIsHeardOfCancelsItsJob() {
        QFETCH(CommandKind, kind);
        QFETCH(QString, phase);
        Fixture f(phase);
        f.ask();
        QVERIFY(f.part->forward(commandOf(kind)).has_value());
        const auto answers = f.answers();
        QCOMPARE(answers.size(), size_t{1});
        QCOMPARE(answers[0].progress, CommandProgress::kApplied);
        QCOMPARE(answers[0].message, std::string("its job was cancelled before its ranks began"));
        QVERIFY(Fixture::isCancelled());
    }

    void whoFellSilentIsCancelledByAKillAlone() {
        Fixture f("running");
        for (int i = 0; i < 2; ++i) {
            f.beAlive();
            f.part->look();
        }
        f.nowNs += 16 * kSecond;
        f.ask();
        for (const CommandKind kind : {CommandKind::kStop, CommandKind::kPause}) {
            const auto refused = f.part->forward(commandOf(kind));
            QVERIFY(!refused);
            QCOMPARE(refused.error().code, ErrorCode::kUnavailable);
            QCOMPARE(refused.error().message,
                     std::string("job 12 begins on n1; to end it without a checkpoint, kill it, or "
                                 "scancel 12"));
        }
        const auto held = f.part->forward(commandOf(CommandKind::kHold));
        QCOMPARE(held.error().message, std::string("job 12 begins on n1"));
        QVERIFY(!Fixture::isCancelled());
        QVERIFY(f.part->forward(commandOf(CommandKind::kKill)).has_value());
        const auto answers = f.answers();
        QCOMPARE(answers.size(), size_t{1});
        QCOMPARE(answers[0].message, std::string("its job was cancelled"));
        QVERIFY(Fixture::isCancelled());
    }

    /// Who attaches finds a state, and does not know yet whether it is of a moment ago.
    void aSupervisorThatLivesIsToldOfAKill() {
        Fixture f("running");
        f.beAlive();
        f.part->look();
        QVERIFY(!f.part->forward(commandOf(CommandKind::kKill)));
        f.nowNs += kSecond;
        f.beAlive();
        f.part->look();
        QVERIFY(f.part->forward(commandOf(CommandKind::kKill)).has_value());
        const auto commands = PartFiles(".").takeCommands();
        QCOMPARE(commands.size(), size_t{1});
        QVERIFY(commands[0].kind == CommandKind::kKill);
        QVERIFY(!Fixture::isCancelled());
    }

    void aStateOfLongAgoDoesNotKeepAKillBack() {
        Fixture f("running");
        f.beAlive();
        f.part->look();
        f.nowNs += 6 * kSecond; // and no other came
        QVERIFY(!f.part->forward(commandOf(CommandKind::kStop)));
        QVERIFY(f.part->forward(commandOf(CommandKind::kKill)).has_value());
        QCOMPARE(f.answers().size(), size_t{1});
        QVERIFY(Fixture::isCancelled());
    }

    void aJobThatIsOverIsNotCancelled() {
        Fixture f("over");
        f.ask();
        const auto refused = f.part->forward(commandOf(CommandKind::kKill));
        QVERIFY(!refused);
        QCOMPARE(refused.error().message, std::string("job 12 begins on n1"));
        QVERIFY(!Fixture::isCancelled());
    }
};

/// As the agent, which a JobPart starts again: what Slurm says, and the end of the job.
int main(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (word == "job-state")
        return std::puts(readFile(kAnswer).value_or("").c_str()) < 0;
    if (word == "stop")
        return !writeFileAtomically(kCancelled, "") || std::puts("{}") < 0;
    TestJobPart test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_job_part.moc"
