// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "app/ui/data/runs_feed.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"
#include "tests/gui/flow/program.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <csignal>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kDeadlineMs = 60'000;

QStringList launchWords(const QString& name) {
    return longRunWords(name, 500000, "this-computer:1");
}

} // namespace

/// Three terminals and a window at once: every subcommand works beside every other.
class TestBesideTerminals : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void cleanup();
    void everySubcommandWorksBesideTheWindowAndIsSeenThere();
    void aSecondStartShowsTheWindow();
    void terminalsGoOnWhenTheWindowIsClosed();
    void terminalsGoOnWhenTheWindowIsKilled();
    void aWindowBesideATerminalIsServedAndTakesOver();

private:
    /// As a person's: while it runs, the window goes on.
    Answer run(const QStringList& arguments) const;
    QJsonObject must(const QStringList& arguments) const;
    std::optional<RunSummary> stored(const QString& name) const;
    const RunSummary* seen(const QString& name) const;
    bool hasEnded(QProcess& process, ExitCode code) const;
    std::unique_ptr<QProcess> startTraining(const QString& name) const;

    OwnFolders m_own;
    std::unique_ptr<Program> m_program;
};

void TestBesideTerminals::cleanup() {
    m_program.reset();
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    if (!reader)
        return;
    for (const RunSummary& run : (*reader)->runs())
        if (run.state == RunStateKind::kRunning)
            (void)m_own.run({"kill", run.id});
}

Answer TestBesideTerminals::run(const QStringList& arguments) const {
    const auto process = m_own.start(arguments);
    Answer answer;
    if (QTest::qWaitFor([&] { return process->state() == QProcess::NotRunning; }, kDeadlineMs) &&
        process->exitStatus() == QProcess::NormalExit)
        answer.exitCode = process->exitCode();
    answer.out = process->readAllStandardOutput();
    answer.err = process->readAllStandardError();
    return answer;
}

/// What it answered in JSON; a failure of the test unless it ended with 0.
QJsonObject TestBesideTerminals::must(const QStringList& arguments) const {
    const Answer answer = run(arguments + QStringList{"--json"});
    if (answer.exitCode != 0)
        QTest::qFail((arguments.join(' ').toUtf8() + ": " + answer.whole()).constData(), __FILE__,
                     __LINE__);
    return answer.json().object();
}

std::optional<RunSummary> TestBesideTerminals::stored(const QString& name) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    if (!reader)
        return std::nullopt;
    const auto found = (*reader)->resolve(name);
    return found ? std::optional(*found) : std::nullopt;
}

/// As the window shows it.
const RunSummary* TestBesideTerminals::seen(const QString& name) const {
    for (const RunSummary& run : m_program->window().runs().runs())
        if (run.name == name)
            return &run;
    return nullptr;
}

bool TestBesideTerminals::hasEnded(QProcess& process, ExitCode code) const {
    return QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, kDeadlineMs) &&
           process.exitStatus() == QProcess::NormalExit &&
           process.exitCode() == static_cast<int>(code);
}

std::unique_ptr<QProcess> TestBesideTerminals::startTraining(const QString& name) const {
    auto terminal = m_own.start(launchWords(name) + QStringList{"--wait", "--json"});
    const auto trains = [&] {
        const auto run = stored(name);
        return run && run->step > 0;
    };
    if (!QTest::qWaitFor(trains, kDeadlineMs))
        QTest::qFail(terminal->readAllStandardError().constData(), __FILE__, __LINE__);
    return terminal;
}

void TestBesideTerminals::everySubcommandWorksBesideTheWindowAndIsSeenThere() {
    auto program = Program::start();
    QVERIFY2(program, program ? "" : program.error().message.c_str());
    m_program = std::move(*program);
    QVERIFY(m_program->engine().isHolder());

    const auto first = startTraining("one");
    QTRY_VERIFY_WITH_TIMEOUT(seen("one") && seen("one")->step > 0, kDeadlineMs);
    const auto second = m_own.start({"attach", "one", "--json"});

    QCOMPARE(run({"runs", "--json"}).json().array().size(), 1);
    QCOMPARE(must({"show", "one"})["id"].toString(), seen("one")->id);
    must({"hold", "one"});
    QTRY_VERIFY_WITH_TIMEOUT(m_program->engine().live(seen("one")->id).held, kDeadlineMs);
    must({"step", "one", "2"});
    must({"continue", "one"});
    must({"set", "one", "optimizer.lr=0.001"});
    must({"checkpoint", "one"});
    QCOMPARE(run({"checkpoints", "one", "--json"}).exitCode, 0);
    must({"validate", "one"});
    must({"sample", "one"});
    must({"trace", "one", "--steps", "3"});
    const Answer traces = run({"trace", "one", "--list", "--json"});
    QCOMPARE(traces.json().array().size(), 1);
    QCOMPARE(traces.json().array().at(0)["done_ranks"], traces.json().array().at(0)["ranks"]);
    const QJsonArray requested = run({"commands", "one", "--json"}).json().array();
    QCOMPARE(requested.size(), 8);
    for (const QJsonValue& each : requested) {
        QCOMPARE(each["state"].toString(), QString("applied"));
        QCOMPARE(each["from"].toString(), QString("terminal"));
    }
    QCOMPARE(run({"withdraw", "one"}).exitCode, static_cast<int>(ExitCode::kNotFound));
    must({"tag", "one", "good"});
    must({"note", "one", "the first"});
    QTRY_VERIFY_WITH_TIMEOUT(
        seen("one")->tags == QStringList("good") && seen("one")->notes == "the first", kDeadlineMs);
    must({"export", "one", "--output", "relative.csv"});
    QVERIFY(QFile(m_own.path("relative.csv")).size() > 0);

    must({"nodes", "add", "far", "--ssh", "far.invalid", "--no-check"});
    QTRY_VERIFY_WITH_TIMEOUT(m_program->fleet().find("far"), kDeadlineMs);
    QCOMPARE(run({"nodes", "check", "this-computer", "--json"}).exitCode, 0);
    QCOMPARE(run({"machines", "this-computer", "--json"}).exitCode, 0);
    // There is nothing between one node.
    QCOMPARE(run({"nodes", "network", "this-computer", "--json"}).exitCode,
             static_cast<int>(ExitCode::kUsage));
    QVERIFY(m_program->fleet().lastCheck(kLocalNodeName));
    must({"nodes", "edit", "far", "--ssh", "farther.invalid", "--no-check"});
    QTRY_VERIFY_WITH_TIMEOUT(m_program->fleet().find("far")->sshHost == "farther.invalid",
                             kDeadlineMs);
    QVERIFY(run({"nodes", "list"}).out.contains("farther.invalid"));
    must({"nodes", "edit", "far", "--gpus", "0,1", "--group", "lab", "--group", "big", "--env",
          "NCCL_DEBUG=INFO", "--jump", "gate.invalid", "--notes", "noisy", "--no-check"});
    QTRY_COMPARE_WITH_TIMEOUT(m_program->fleet().find("far")->groups,
                              (std::vector<std::string>{"lab", "big"}), kDeadlineMs);
    const QJsonObject cleared =
        must({"nodes", "edit", "far", "--gpus", "all", "--env", "", "--jump", "", "--no-check"});
    QVERIFY(cleared["gpus"].toArray().isEmpty() && cleared["environment"].toArray().isEmpty());
    QCOMPARE(cleared["jump_host"].toString(), QString());
    QCOMPARE(cleared["notes"].toString(), QString("noisy"));
    QVERIFY(!run({"nodes", "history", kLocalNodeName, "--json"}).json().array().isEmpty());
    QCOMPARE(run({"nodes", "import", "--json"}).exitCode, 0);
    must({"nodes", "remove", "far"});
    QTRY_VERIFY_WITH_TIMEOUT(!m_program->fleet().find("far"), kDeadlineMs);

    must(launchWords("two"));
    QTRY_VERIFY_WITH_TIMEOUT(seen("two"), kDeadlineMs);
    must({"stop", "two"});
    QTRY_COMPARE_WITH_TIMEOUT(seen("two")->state, RunStateKind::kStopped, kDeadlineMs);

    must({"pause", "one"});
    QVERIFY2(hasEnded(*first, ExitCode::kPaused), first->readAllStandardError());
    QVERIFY2(hasEnded(*second, ExitCode::kPaused), second->readAllStandardError());
    QTRY_COMPARE_WITH_TIMEOUT(seen("one")->state, RunStateKind::kPaused, kDeadlineMs);
    QVERIFY(!run({"logs", "one"}).out.isEmpty());

    const QJsonArray saved = run({"checkpoints", "one", "--json"}).json().array();
    const QString newest = QString::number(saved.first()["step"].toInteger());
    const QString oldest = QString::number(saved.last()["step"].toInteger());
    QVERIFY(newest != oldest);
    must({"restore", "one", oldest, "--yes"});
    QTRY_VERIFY_WITH_TIMEOUT(
        seen("one")->state == RunStateKind::kRunning && seen("one")->attempt == 2, kDeadlineMs);
    must({"pause", "one"});
    QTRY_COMPARE_WITH_TIMEOUT(seen("one")->state, RunStateKind::kPaused, kDeadlineMs);
    QCOMPARE(run({"checkpoints", "one", "--verify", "--json"}).exitCode, 0);
    must({"remove-checkpoint", "one", newest});
    must({"restore", "one", oldest, "--as-new", "--set", "name=branch"});
    QTRY_VERIFY_WITH_TIMEOUT(seen("branch") && seen("branch")->parentRun == seen("one")->id,
                             kDeadlineMs);
    must({"kill", "branch"});
    must({"resume", "one"});
    QTRY_COMPARE_WITH_TIMEOUT(seen("one")->state, RunStateKind::kRunning, kDeadlineMs);
    must({"kill", "one"});

    must({"rename", "two", "second"});
    QTRY_VERIFY_WITH_TIMEOUT(seen("second") && !seen("two"), kDeadlineMs);
    must({"star", "second"});
    QTRY_VERIFY_WITH_TIMEOUT(seen("second")->isStarred, kDeadlineMs);
    must({"unstar", "second"});
    must({"archive", "second"});
    QTRY_VERIFY_WITH_TIMEOUT(!seen("second")->isStarred && seen("second")->isArchived, kDeadlineMs);
    must({"unarchive", "second"});
    QTRY_VERIFY_WITH_TIMEOUT(!seen("second")->isArchived, kDeadlineMs);
    must({"clean", "second", "--yes"});
    must({"delete", "second"});
    QTRY_VERIFY_WITH_TIMEOUT(!seen("second"), kDeadlineMs);
    QCOMPARE(run({"trash", "--json"}).json().array().size(), 1);
    must({"trash", "restore", "second"});
    QTRY_VERIFY_WITH_TIMEOUT(seen("second"), kDeadlineMs);
    must({"delete", "second"});
    must({"trash", "empty", "--yes"});
    QTRY_VERIFY_WITH_TIMEOUT(m_program->window().runs().trash().empty(), kDeadlineMs);
    QVERIFY(!stored("second"));
}

void TestBesideTerminals::aSecondStartShowsTheWindow() {
    auto program = Program::start();
    QVERIFY(program);
    m_program = std::move(*program);
    m_program->window().showMinimized();
    QTRY_VERIFY_WITH_TIMEOUT(m_program->window().isMinimized(), kDeadlineMs);
    const Answer second = run({});
    QVERIFY2(second.exitCode == 0, second.whole());
    QVERIFY2(second.err.contains("open already"), second.whole());
    QTRY_VERIFY_WITH_TIMEOUT(!m_program->window().isMinimized(), kDeadlineMs);
}

void TestBesideTerminals::terminalsGoOnWhenTheWindowIsClosed() {
    auto program = Program::start();
    QVERIFY(program);
    m_program = std::move(*program);
    const auto first = startTraining("closed");
    const auto second = m_own.start({"attach", "closed", "--json"});
    m_program->window().close();
    m_program.reset();
    const int64_t step = stored("closed")->step;
    QTRY_VERIFY_WITH_TIMEOUT(stored("closed")->step > step, kDeadlineMs);
    must({"pause", "closed"});
    QVERIFY2(hasEnded(*first, ExitCode::kPaused), first->readAllStandardError());
    QVERIFY2(hasEnded(*second, ExitCode::kPaused), second->readAllStandardError());
}

void TestBesideTerminals::terminalsGoOnWhenTheWindowIsKilled() {
    const auto window = m_own.start({});
    const auto first = startTraining("killed");
    const auto second = m_own.start({"attach", "killed", "--json"});
    const auto third = m_own.start({"attach", "killed", "--json"});
    const int64_t before = stored("killed")->step;
    QTRY_VERIFY_WITH_TIMEOUT(stored("killed")->step > before, kDeadlineMs);
    QCOMPARE(window->state(), QProcess::Running);
    window->kill();
    QVERIFY(window->waitForFinished());
    const int64_t step = stored("killed")->step;
    QTRY_VERIFY_WITH_TIMEOUT(stored("killed")->step > step, kDeadlineMs);
    must({"pause", "killed"});
    for (QProcess* terminal : {first.get(), second.get(), third.get()})
        QVERIFY2(hasEnded(*terminal, ExitCode::kPaused), terminal->readAllStandardError());
    const auto paused = stored("killed");
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const auto points = (*reader)->points(paused->id, {"train/loss", 0});
    QCOMPARE(static_cast<int64_t>(points.size()), paused->step);
    QCOMPARE(points.back().step - points.front().step + 1, paused->step);
}

void TestBesideTerminals::aWindowBesideATerminalIsServedAndTakesOver() {
    const auto first = startTraining("held");
    auto program = Program::start();
    QVERIFY2(program, program ? "" : program.error().message.c_str());
    m_program = std::move(*program);
    QVERIFY(!m_program->engine().isHolder());
    QTRY_VERIFY_WITH_TIMEOUT(seen("held") && seen("held")->step > 0, kDeadlineMs);
    const QString id = seen("held")->id;
    const auto isLive = [&] {
        const LiveState live = m_program->engine().live(id);
        return live.nodes.size() == 1 && live.nodes[0].link == LiveState::Link::kLive;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isLive(), kDeadlineMs);
    const Answer second = run({});
    QVERIFY2(second.exitCode == 0 && second.err.contains("open already"), second.whole());

    // The terminal goes: the window has the database from then on, and the run goes on.
    ::kill(static_cast<pid_t>(first->processId()), SIGINT);
    QVERIFY(QTest::qWaitFor([&] { return first->state() == QProcess::NotRunning; }, kDeadlineMs));
    QCOMPARE(first->exitCode(), 128 + SIGINT);
    QTRY_VERIFY_WITH_TIMEOUT(m_program->engine().isHolder(), kDeadlineMs);
    QTRY_VERIFY_WITH_TIMEOUT(isLive(), kDeadlineMs);
    const auto paused =
        m_program->engine().ask(CommandRequest{id, CommandKind::kPause, {}, {}, {}});
    QTRY_VERIFY_WITH_TIMEOUT(paused.isFinished(), kDeadlineMs);
    QVERIFY(paused.result());
    QTRY_COMPARE_WITH_TIMEOUT(seen("held")->state, RunStateKind::kPaused, kDeadlineMs);
}

QTEST_MAIN(TestBesideTerminals)
#include "tst_beside_terminals.moc"
