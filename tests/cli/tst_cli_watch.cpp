// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"
#include "tests/cli/pty.h"

#include <QRegularExpression>
#include <QTest>

#include <csignal>
#include <memory>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;
constexpr int kLaunchMs = 180000; ///< the trainer is sent as well
const QString kRun = "watched-run";

} // namespace

/// The live view in a terminal of its own, over a run that trains.
class TestCliWatch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void withoutATerminalItIsRefused();
    void aTerminalThatCannotBeDrawnOnIsRefused_data();
    void aTerminalThatCannotBeDrawnOnIsRefused();
    void stepsGrowOnTheScreen();
    void holdByKeyActs();
    void aSettingIsChangedFromItsPrompt();
    void theScreenFollowsTheSizeOfTheTerminal();
    void leavingLeavesTheRunTraining();
    void ctrlCGivesTheTerminalBack();
    void coloursAreLeftOutWhereNobodyWantsThem();
    void asciiTerminalsGetAscii();
    void aKilledHolderIsSurvived();
    void withoutALiveRunOneIsChosenFromAList();
    void cleanupTestCase();

private:
    using Environment = std::vector<std::pair<QString, QString>>;
    std::unique_ptr<Pty> watch(const QStringList& arguments, Environment environment = {},
                               int width = 80, int height = 24) const;
    std::optional<RunSummary> stored() const;
    static int64_t stepOn(Pty& pty);

    OwnFolders m_own;
};

std::unique_ptr<Pty> TestCliWatch::watch(const QStringList& arguments, Environment environment,
                                         int width, int height) const {
    Environment all = {{"TERM", "vt52"}, {"LC_ALL", "C.UTF-8"}, {"NO_COLOR", ""}};
    all.insert(all.end(), environment.begin(), environment.end());
    return std::make_unique<Pty>(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster",
                                 QStringList{"watch"} + arguments, width, height, all);
}

std::optional<RunSummary> TestCliWatch::stored() const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const auto found = reader ? (*reader)->resolve(kRun)
                              : Result<RunSummary>(fail(ErrorCode::kNotFound, "no database"));
    return found ? std::optional(*found) : std::nullopt;
}

/// -1: the screen shows none.
int64_t TestCliWatch::stepOn(Pty& pty) {
    static const QRegularExpression step("step (\\d+)/");
    const auto match = step.match(QString::fromUtf8(pty.screen()));
    return match.hasMatch() ? match.captured(1).toLongLong() : -1;
}

void TestCliWatch::initTestCase() {
    const Answer launch = m_own.run(longRunWords(kRun, 1'000'000, "this-computer:2"), kLaunchMs);
    QVERIFY2(launch.exitCode == 0, launch.whole());
}

void TestCliWatch::withoutATerminalItIsRefused() {
    const Answer plain = m_own.run({"watch", kRun});
    QCOMPARE(plain.exitCode, 2);
    QVERIFY2(plain.out.isEmpty() && plain.err.contains("standard output is none") &&
                 plain.err.contains("ringmaster show RUN"),
             plain.whole());
    const Answer json = m_own.run({"watch", kRun, "--json"});
    QCOMPARE(json.exitCode, 2);
    QVERIFY2(json.err.contains("no JSON"), json.whole());
    const Answer unknown = m_own.run({"watch", "no-such-run"});
    QVERIFY2(unknown.exitCode == 3, unknown.whole());
}

void TestCliWatch::aTerminalThatCannotBeDrawnOnIsRefused_data() {
    QTest::addColumn<QString>("term");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("dumb") << "dumb" << QByteArray("TERM is dumb");
    QTest::newRow("empty") << "" << QByteArray("TERM is not set");
    QTest::newRow("unknown") << "no-such-terminal" << QByteArray("no-such-terminal");
}

void TestCliWatch::aTerminalThatCannotBeDrawnOnIsRefused() {
    QFETCH(QString, term);
    QFETCH(QByteArray, words);
    const auto pty = watch({kRun}, {{"TERM", term}}, 400, 24);
    QVERIFY2(pty->waitForEnd(kDeadlineMs), pty->screen());
    QCOMPARE(pty->exitCode(), 2);
    QVERIFY2(pty->shows(words) && pty->shows("ringmaster run SPEC --wait"), pty->screen());
    QVERIFY(pty->isPlain());
}

void TestCliWatch::stepsGrowOnTheScreen() {
    const auto pty = watch({kRun});
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0, pty->screen(), kDeadlineMs);
    const int64_t first = stepOn(*pty);
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > first + 20, pty->screen(), kDeadlineMs);
    const auto isWhole = [&] {
        for (const char* part : {"watched-run", " running ", "loss", "ms a step", "this-computer",
                                 "ranks by busy time", "events", "? help", " left"})
            if (!pty->shows(part))
                return false;
        return true;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isWhole(), pty->screen(), kDeadlineMs);
    const QByteArray screen = pty->screen();
    const auto isBraille = [](QChar each) {
        return each >= QChar(0x2801) && each <= QChar(0x28ff);
    };
    const QString text = QString::fromUtf8(screen);
    QVERIFY2(std::count_if(text.begin(), text.end(), isBraille) > 10, screen);
    pty->type("?");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("Keys of ringmaster watch"), pty->screen(), kDeadlineMs);
    pty->type(" 2"); // the next chart
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("learning rate"), pty->screen(), kDeadlineMs);
    pty->type("l");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("rank 0 "), pty->screen(), kDeadlineMs);
}

void TestCliWatch::holdByKeyActs() {
    const auto pty = watch({kRun});
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0, pty->screen(), kDeadlineMs);
    pty->type("h");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("y: send"), pty->screen(), kDeadlineMs);
    pty->type("n");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("nothing was sent"), pty->screen(), kDeadlineMs);
    QVERIFY(!stored()->held);
    pty->type("hy");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("hold took effect after step"), pty->screen(),
                              kDeadlineMs);
    QTRY_VERIFY2_WITH_TIMEOUT(stored()->held && pty->shows(" held "), pty->screen(), kDeadlineMs);
    pty->type("n3\r");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("step took effect"), pty->screen(), kDeadlineMs);
    pty->type("hy");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("continue took effect"), pty->screen(), kDeadlineMs);
    QTRY_VERIFY_WITH_TIMEOUT(!stored()->held, kDeadlineMs);
}

void TestCliWatch::aSettingIsChangedFromItsPrompt() {
    const auto pty = watch({kRun}, {}, 120, 30);
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0, pty->screen(), kDeadlineMs);
    pty->type("=optimizer.lr=slow\r");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("not a number"), pty->screen(), kDeadlineMs);
    pty->type("=optimizer.lr=0.001\r");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("set took effect"), pty->screen(), kDeadlineMs);
    pty->type("r");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("set optimizer.lr=0.001: took effect after step"),
                              pty->screen(), kDeadlineMs);
}

void TestCliWatch::theScreenFollowsTheSizeOfTheTerminal() {
    const auto pty = watch({kRun});
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("? help"), pty->screen(), kDeadlineMs);
    pty->resize(95, 40);
    const auto isAtTheBottom = [&](int rows) {
        const QList<QByteArray> lines = pty->screen().split('\n');
        return lines.value(rows - 1).startsWith("? help");
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isAtTheBottom(40), pty->screen(), kDeadlineMs);
    pty->resize(30, 8);
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("Too small: 30 by 8"), pty->screen(), kDeadlineMs);
    pty->resize(80, 24);
    QTRY_VERIFY2_WITH_TIMEOUT(isAtTheBottom(24), pty->screen(), kDeadlineMs);
}

void TestCliWatch::leavingLeavesTheRunTraining() {
    const auto pty = watch({}); // the newest live one
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0 && pty->shows("watched-run"), pty->screen(),
                              kDeadlineMs);
    QVERIFY(!pty->isPlain());
    pty->type("q");
    QVERIFY2(pty->waitForEnd(kDeadlineMs), pty->screen());
    QCOMPARE(pty->exitCode(), 0);
    QVERIFY(pty->isPlain());
    QVERIFY2(pty->output().contains("The run goes on. Come back with: ringmaster watch"),
             pty->screen());
    const int64_t step = stored()->step;
    const auto trainsOn = [&] {
        const Answer shown = m_own.run({"show", kRun}); // which reads what is new
        return shown.exitCode == 0 && stored()->step > step + 20 &&
               stored()->state == RunStateKind::kRunning;
    };
    QTRY_VERIFY_WITH_TIMEOUT(trainsOn(), kDeadlineMs);
}

void TestCliWatch::ctrlCGivesTheTerminalBack() {
    const auto pty = watch({kRun}, {{"TERM", "xterm"}});
    QTRY_VERIFY2_WITH_TIMEOUT(pty->wrote("watched-run"), pty->output(), kDeadlineMs);
    QVERIFY(pty->output().contains("\x1b[?1049h"));
    QVERIFY(!pty->isPlain());
    pty->type("\x03");
    QVERIFY2(pty->waitForEnd(kDeadlineMs), pty->output());
    QCOMPARE(pty->exitCode(), 130);
    QVERIFY(pty->isPlain());
    QVERIFY(pty->output().lastIndexOf("\x1b[?1049l") > pty->output().lastIndexOf("\x1b[?1049h"));
    QVERIFY(pty->output().contains("The run goes on"));
    QCOMPARE(stored()->state, RunStateKind::kRunning);
}

void TestCliWatch::coloursAreLeftOutWhereNobodyWantsThem() {
    static const QRegularExpression colour("\x1b\\[[0-9;]*3[0-7][;m]");
    const auto coloured = watch({kRun}, {{"TERM", "xterm-256color"}});
    QTRY_VERIFY2_WITH_TIMEOUT(coloured->wrote("events"), coloured->output(), kDeadlineMs);
    QVERIFY(QString::fromLatin1(coloured->output()).contains(colour));
    const auto plain = watch({kRun}, {{"TERM", "xterm-256color"}, {"NO_COLOR", "1"}});
    QTRY_VERIFY2_WITH_TIMEOUT(plain->wrote("events"), plain->output(), kDeadlineMs);
    QVERIFY(!QString::fromLatin1(plain->output()).contains(colour));
}

void TestCliWatch::asciiTerminalsGetAscii() {
    const auto pty = watch({kRun}, {{"LC_ALL", "C"}});
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0 && pty->shows("*"), pty->screen(), kDeadlineMs);
    for (const char byte : pty->output())
        QVERIFY(static_cast<unsigned char>(byte) < 0x80);
}

void TestCliWatch::aKilledHolderIsSurvived() {
    const auto holder = watch({kRun});
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*holder) > 0, holder->screen(), kDeadlineMs);
    const auto pty = watch({kRun});
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0, pty->screen(), kDeadlineMs);
    ::kill(static_cast<pid_t>(holder->pid()), SIGKILL);
    QVERIFY(holder->waitForEnd(kDeadlineMs));
    const int64_t step = stepOn(*pty);
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > step + 50, pty->screen(), kDeadlineMs);
    pty->type("vy");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("validate took effect"), pty->screen(), kDeadlineMs);
}

void TestCliWatch::withoutALiveRunOneIsChosenFromAList() {
    const Answer stopped = m_own.run({"stop", kRun});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    const auto pty = watch({});
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("Choose a run") && pty->shows("stopped"), pty->screen(),
                              kDeadlineMs);
    pty->type("\r");
    QTRY_VERIFY2_WITH_TIMEOUT(stepOn(*pty) > 0 && pty->shows(" stopped "), pty->screen(),
                              kDeadlineMs);
    pty->type("h");
    QTRY_VERIFY2_WITH_TIMEOUT(pty->shows("the run has ended"), pty->screen(), kDeadlineMs);
    pty->type("q");
    QVERIFY2(pty->waitForEnd(kDeadlineMs), pty->screen());
    QCOMPARE(pty->exitCode(), 0);
    QVERIFY(!pty->output().contains("The run goes on"));
}

void TestCliWatch::cleanupTestCase() {
    if (const auto run = stored(); run && !hasEnded(run->state))
        m_own.run({"kill", kRun});
}

QTEST_GUILESS_MAIN(TestCliWatch)
#include "tst_cli_watch.moc"
