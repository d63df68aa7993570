// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/look/format.h"
#include "app/ui/models/checkpoints_model.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/new_run/new_run_page.h"
#include "app/ui/nodes/nodes_page.h"
#include "tests/gui/flow/flow.h"
#include "tests/gui/flow/node_processes.h"
#include "tests/gui/flow/run_view.h"
#include "tests/support/requirement.h"

#include <QAbstractButton>
#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSpinBox>
#include <QTest>

#include <pwd.h>
#include <unistd.h>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kStandsMs = 400;       // many steps' time
constexpr qint64 kGapLimitMs = 1000; // a busy machine's; the person's limit is far lower
constexpr int kSteps = 400;
constexpr int kForever = 1'000'000;
constexpr int kRanks = 2;

} // namespace

/// The main way through the real window: real engine, real sshd, agent and trainers on the node.
/// The functions build on one another, in order.
class TestMainJob : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void cleanupTestCase();

    void emptyDatabaseShowsWelcome();
    void oneClickTrainsHere();
    void theFormIsTheSecondButton();
    void nodeIsReadyOnceItsKeyIsTrusted();
    void cancelledLaunchLeavesNothingRunning();
    void launchDeploysAndOpensTheRun();
    void pointsArriveLive();
    void holdKeepsTheStep();
    void checkpointIsListedAndTold();
    void pauseFreesTheNode();
    void cancelledResumeLeavesTheRunPaused();
    void resumedRunFinishesWhole();
    void olderCheckpointIsRestored();
    void abandonedCheckpointsStay();
    void branchIsASecondRun();
    void stopAsksFirst();
    void deletedRunComesBack();
    void tooLargeARunIsToldBeforeItStarts();
    void aFailedRunIsEditedAndLaunchedAgain();
    void closedWindowLosesNoStep();
    void changedHostKeyIsRefused();

private:
    const Hand& hand() const { return m_flow->hand(); }
    RunPage& page() const { return m_flow->page(); }
    QString state() const { return m_flow->state(); }
    qint64 newestStep() const { return m_flow->newestStep(); }
    QStringList runNames() const {
        return columnOf(m_flow->window(), "runsTable", RunsModel::kName);
    }
    QStringList abandoned() const;
    void pauseNow();
    void stopNow();

    std::unique_ptr<Flow> m_flow;
    QElapsedTimer m_clock;
    int m_ranks = 0;     ///< that belong on the node after this function
    int m_ranksHere = 0; ///< on this computer
};

void TestMainJob::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    for (const char* program : {"ringmaster-agent", "ringmaster-trainer"})
        QVERIFY2(QFile::exists(installPrefix() + "/bin/" + program), program);
    m_clock.start();
    auto flow = Flow::prepare();
    QVERIFY2(flow, flow ? "" : flow.error().message.c_str());
    m_flow = std::move(*flow);
}

void TestMainJob::init() {
    if (!m_flow)
        QFAIL("what this builds on failed");
    m_flow->forgetSeen();
}

void TestMainJob::cleanup() {
    if (!m_flow)
        return;
    if (!QTest::currentTestFailed()) {
        QString strays;
        const auto noneIsLeft = [&] {
            const QString now = m_flow->strays(m_ranks, m_ranksHere);
            strays = now.isEmpty() ? strays : now;
            return now.isEmpty();
        };
        // Asked once more than needed, as QTRY does, it may meet a program that just starts.
        QVERIFY2(QTest::qWaitFor(noneIsLeft, kSoonMs), qPrintable(strays));
        QVERIFY2(m_flow->gaps().largestMs() <= kGapLimitMs,
                 qPrintable(m_flow->gaps().longest().join('\n')));
    }
    qInfo("largest gap of the event loop: %lld ms", m_flow->gaps().largestSinceRequestMs());
    if (QTest::currentTestFailed()) {
        qInfo("%s", qPrintable(m_flow->seen()));
        m_flow.reset(); // what comes builds on this function
    }
}

void TestMainJob::cleanupTestCase() {
    if (m_flow) {
        qInfo("largest gap of all: %lld ms, in %lld s", m_flow->gaps().largestMs(),
              m_clock.elapsed() / 1000);
        for (const QString& event : m_flow->gaps().longest())
            qInfo("%s", qPrintable(event));
    }
    m_flow.reset();
}

void TestMainJob::emptyDatabaseShowsWelcome() {
    QTRY_VERIFY(m_flow->window().runs().isLoaded());
    QVERIFY(hand().visible("welcomeTrain"));
    QVERIFY(!hand().visible("welcomeRun"));
}

void TestMainJob::oneClickTrainsHere() {
    RM_DO(hand().click("welcomeTrain"));
    QVERIFY(page().isVisible());
    QVERIFY(textsOn(page()).contains("gpt-tiny"));
    m_ranksHere = kRanks;
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Running"), kStartMs);
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > 1, kSoonMs);
    QVERIFY2(m_flow->hasStates("^Preparing$"), qPrintable(m_flow->seen()));
    RM_DO(hand().click("tabSpec"));
    const auto spec = [&] {
        return qobject_cast<QPlainTextEdit*>(hand().visible("specText"))->toPlainText();
    };
    QTRY_VERIFY_WITH_TIMEOUT(spec().contains("[model]"), kSoonMs);
    RM_DO(hand().click("tabCharts"));
    stopNow();
}

void TestMainJob::theFormIsTheSecondButton() {
    m_flow->window().showWelcome();
    RM_DO(hand().click("welcomeForm"));
    const auto* ranks = qobject_cast<QSpinBox*>(hand().visible(QString("ranks.") + kLocalNodeName));
    QVERIFY(ranks);
    QCOMPARE(ranks->value(), kRanks);
    QVERIFY(qobject_cast<QAbstractButton*>(hand().visible("recipe.gpt-tiny"))->isChecked());
    RM_DO(m_flow->editSpec("flow-here", kForever));
    m_ranksHere = kRanks;
    RM_DO(m_flow->launch());
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > 10, kSoonMs);
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
    stopNow();
}

void TestMainJob::nodeIsReadyOnceItsKeyIsTrusted() {
    const SshServer& server = m_flow->server();
    RM_DO(hand().click("railNodes"));
    RM_DO(hand().click("addNode"));
    RM_DO(hand().type("nodeHost", server.address()));
    RM_DO(hand().type("nodeName", kNodeName));
    RM_DO(hand().type("nodeUser", ::getpwuid(::getuid())->pw_name));
    RM_DO(hand().type("nodePort", QString::number(server.port())));
    RM_DO(hand().type("nodeKey", m_flow->path("key")));
    RM_DO(hand().click("addNodeConfirm"));

    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("hostKeyDialog"), kSoonMs);
    QVERIFY(server.fingerprint().startsWith("SHA256:"));
    QVERIFY(textsOn(*hand().visible("hostKeyDialog")).contains(server.fingerprint()));
    QVERIFY(!QFile::exists(m_flow->path(".ssh/known_hosts")));
    RM_DO(hand().click("trustKey"));
    // What the machine of the test is may be worth a warning.
    QTRY_VERIFY_WITH_TIMEOUT(
        nodeState(m_flow->window().nodesPage(), kNodeName).value_or("").startsWith("Ready"),
        kSoonMs);
}

void TestMainJob::cancelledLaunchLeavesNothingRunning() {
    RM_DO(hand().click("railNewRun"));
    RM_DO(hand().click("recipe.gpt-tiny"));
    RM_DO(m_flow->editSpec("flow-cancelled", kSteps));
    RM_DO(hand().click(QString("place.") + kLocalNodeName));
    RM_DO(hand().click("place." + kNodeName));
    RM_DO(hand().type("ranks." + kNodeName, QString::number(kRanks)));
    RM_DO(hand().click("launch"));
    QTRY_VERIFY2_WITH_TIMEOUT(m_flow->hasAmounts("^[\\d.]+.MB sent"), qPrintable(m_flow->seen()),
                              kStartMs);
    QVERIFY(!hand().visible("launch"));
    RM_DO(hand().click("cancelLaunch"));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("launch"), kSoonMs);
    QVERIFY2(m_flow->hasAmounts("^Cancelling"), qPrintable(m_flow->seen()));
    QVERIFY(textsOn(m_flow->window()).contains("Launch cancelled; nothing of it runs any more"));
    QVERIFY(!hand().visible("launchBanner") && !hand().visible("launchProgress"));
    RM_DO(hand().click("railRuns"));
    QTRY_COMPARE(columnOf(m_flow->window(), "runsTable", RunsModel::kState).value(0),
                 QString("Stopped before step 1"));
}

void TestMainJob::launchDeploysAndOpensTheRun() {
    RM_DO(hand().click("railNewRun"));
    RM_DO(m_flow->editSpec("flow", kSteps));
    m_ranks = kRanks;
    RM_DO(m_flow->launch());
    QVERIFY2(m_flow->hasAmounts("^[\\d.]+.MB sent"), qPrintable(m_flow->seen()));
}

void TestMainJob::pointsArriveLive() {
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > 0, kSoonMs);
    const QString figure = figureOf(page(), "figureStep");
    for (int growth = 0; growth < 3; ++growth) {
        const qint64 before = newestStep();
        QTRY_VERIFY_WITH_TIMEOUT(newestStep() > before, kSoonMs);
    }
    QTRY_VERIFY_WITH_TIMEOUT(figureOf(page(), "figureStep") != figure, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(figureOf(page(), "figureLoss").startsWith("Loss, raw: "), kSoonMs);
    QVERIFY(!figureOf(page(), "figureLoss").startsWith("Loss, raw: –"));
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
}

void TestMainJob::holdKeepsTheStep() {
    RM_DO(hand().click("holdRun"));
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Held at"), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(state(), "Held at " + formatCount(newestStep()), kSoonMs);
    const qint64 held = newestStep();
    QVERIFY(held < kSteps);
    QVERIFY(!QTest::qWaitFor([&] { return newestStep() != held; }, kStandsMs));
    RM_DO(hand().clickCalled("Continue"));
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > held, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(state(), QString("Running"), kSoonMs);
}

void TestMainJob::checkpointIsListedAndTold() {
    RM_DO(hand().click("tabCheckpoints"));
    RM_DO(hand().click("checkpointRun"));
    QTRY_VERIFY_WITH_TIMEOUT(!stepSavedByCommand(page()).isEmpty(), kSoonMs);
    QVERIFY(!hand().visible("restoreCheckpoint")->isEnabled()); // it trains
    RM_DO(hand().click("tabCharts"));
    QTRY_VERIFY_WITH_TIMEOUT(hasEvent(page(), "^checkpoint " + stepSavedByCommand(page()) + ','),
                             kSoonMs);
}

void TestMainJob::pauseNow() {
    RM_DO(hand().click("pauseRun"));
    m_ranks = 0;
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Paused at"), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(state(), "Paused at " + formatCount(newestStep()), kSoonMs);
    QVERIFY2(m_flow->hasStates("^Pausing"), qPrintable(m_flow->seen()));
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
}

void TestMainJob::pauseFreesTheNode() {
    pauseNow();
    QVERIFY(newestStep() < kSteps);
}

void TestMainJob::cancelledResumeLeavesTheRunPaused() {
    const QString before = state();
    RM_DO(hand().click("resumeRun"));
    RM_DO(hand().click("cancelLaunch"));
    QTRY_COMPARE_WITH_TIMEOUT(state(), before, kSoonMs);
    QVERIFY2(m_flow->hasStates("^Preparing$"), qPrintable(m_flow->seen()));
    QVERIFY2(m_flow->hasStates("^Cancelling launch$"), qPrintable(m_flow->seen()));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("resumeRun"), kSoonMs);
    QVERIFY(!hand().visible("resumeProgress"));
}

void TestMainJob::resumedRunFinishesWhole() {
    const QString run = page().run();
    RM_DO(hand().click("resumeRun"));
    QTRY_COMPARE_WITH_TIMEOUT(state(), QString("Finished"), kStartMs);
    QCOMPARE(page().run(), run);
    QVERIFY2(m_flow->hasStates("^Running · attempt [23]$"), qPrintable(m_flow->seen()));
    QTRY_COMPARE_WITH_TIMEOUT(newestStep(), kSteps, kSoonMs);
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
}

void TestMainJob::olderCheckpointIsRestored() {
    RM_DO(hand().click("tabCheckpoints"));
    const QString step = stepSavedByCommand(page()); // of those it stays for ever
    const qint64 from = step.toLongLong();
    QVERIFY(from > 0 && from < kSteps);
    RM_DO(hand().clickCell("checkpointsTable", CheckpointsModel::kStep, step));
    RM_DO(hand().click("restoreCheckpoint"));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("restoreDialog"), kSoonMs);
    const QString shown = textsOn(*hand().visible("restoreDialog")).join('\n');
    const QString retired = QString("sets aside steps %1 to %2").arg(from + 1).arg(kSteps);
    QVERIFY2(shown.contains(QRegularExpression(retired + " and [3-9] checkpoints of flow")),
             qPrintable(shown));
    RM_DO(hand().click("cancel"));
    QTRY_VERIFY(!hand().visible("restoreDialog"));
    QCOMPARE(state(), QString("Finished"));
    RM_DO(hand().click("restoreCheckpoint"));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("restoreDialog"), kSoonMs);
    RM_DO(hand().click("restoreConfirm"));
    RM_DO(hand().click("tabCharts"));
    // To its end: how many steps it makes until an order reaches it is the processor's.
    QTRY_VERIFY_WITH_TIMEOUT(m_flow->hasStates("^Running · attempt \\d$"), kStartMs);
    QTRY_COMPARE_WITH_TIMEOUT(state(), QString("Finished"), kStartMs);
    QTRY_VERIFY_WITH_TIMEOUT(
        hasEvent(page(), "^attempt \\d from step " + step + ", " + retired + '$'), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(newestStep(), kSteps, kSoonMs);
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
}

/// Why each checkpoint of abandoned lines is there, newest step first.
QStringList TestMainJob::abandoned() const {
    return columnOf(page(), "checkpointsTable", CheckpointsModel::kBecause)
        .filter("; set aside by attempt ");
}

/// What was made after the step from which the last attempt went on is there, and says so.
void TestMainJob::abandonedCheckpointsStay() {
    RM_DO(hand().click("tabCheckpoints"));
    QTRY_VERIFY_WITH_TIMEOUT(abandoned().size() >= 3, kSoonMs);
    const QStringList steps = columnOf(page(), "checkpointsTable", CheckpointsModel::kStep);
    QCOMPARE(steps.count(QString::number(kSteps)), 2); // neither took the other's place
    const qsizetype count = abandoned().size();
    const QString kept = stepSavedByCommand(page());
    QVERIFY(!kept.isEmpty());
    RM_DO(hand().clickCell("checkpointsTable", CheckpointsModel::kBecause, abandoned().back()));
    RM_DO(hand().click("removeCheckpoint"));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("removeDialog"), kSoonMs);
    RM_DO(hand().click("removeConfirm"));
    QTRY_COMPARE_WITH_TIMEOUT(abandoned().size(), count - 1, kSoonMs);
    RM_DO(hand().clickCell("checkpointsTable", CheckpointsModel::kStep, kept));
    QTRY_VERIFY(!hand().visible("removeCheckpoint"));
}

void TestMainJob::branchIsASecondRun() {
    const QString parent = page().run();
    RM_DO(hand().click("tabCheckpoints"));
    RM_DO(hand().clickCell("checkpointsTable", CheckpointsModel::kBecause, abandoned().front()));
    RM_DO(hand().click("branchRun"));
    QVERIFY(textsOn(m_flow->window().newRunPage()).contains("Branch of flow"));
    const QString why = textsOn(*hand().visible("launchBar")).join(' ');
    QVERIFY2(why.contains("nothing is left to train from step 400"), qPrintable(why));
    QVERIFY(!hand().visible("launch")->isEnabled());
    RM_DO(m_flow->editSpec("flow-branch", kForever));
    m_ranks = kRanks;
    RM_DO(m_flow->launch());
    QVERIFY(page().run() != parent);
    RM_DO(hand().click("tabCharts"));
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > kSteps, kSoonMs);
    QCOMPARE(flawIn(lossSteps(page()), kSteps + 1), QByteArray());
    QTRY_VERIFY_WITH_TIMEOUT(hasEvent(page(), "^branched from flow at 400$"), kSoonMs);
    QVERIFY(textsOn(page()).join('\n').contains("branch of flow at 400"));
    RM_DO(hand().click("railNewRun")); // starts afresh: what is launched now is no branch
    QVERIFY(textsOn(m_flow->window().newRunPage()).filter("Branch of").isEmpty());
    QVERIFY(m_flow->window().findChild<QLineEdit*>("field.name")->text() != "flow-branch");
    RM_DO(hand().click("railRuns"));
    QTRY_COMPARE(runNames().mid(0, 2), QStringList({"flow-branch", "flow"}));
    QCOMPARE(columnOf(m_flow->window(), "runsTable", RunsModel::kParent).mid(0, 2),
             QStringList({"flow at 400", ""}));
}

void TestMainJob::stopNow() {
    RM_DO(hand().click("stopRun"));
    RM_DO(hand().click("stopConfirm"));
    m_ranks = m_ranksHere = 0;
    QTRY_VERIFY_WITH_TIMEOUT(state().startsWith("Stopped at"), kSoonMs);
}

void TestMainJob::stopAsksFirst() {
    RM_DO(m_flow->openRun("flow-branch"));
    RM_DO(hand().click("stopRun"));
    QTRY_VERIFY(hand().visible("stopDialog"));
    RM_DO(hand().click("cancel"));
    QTRY_VERIFY(!hand().visible("stopDialog"));
    const qint64 before = newestStep();
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > before, kSoonMs);
    stopNow();
}

void TestMainJob::deletedRunComesBack() {
    RM_DO(hand().click("railRuns"));
    QTRY_VERIFY(columnOf(m_flow->window(), "runsTable", RunsModel::kState)[0].startsWith("Stop"));
    RM_DO(hand().clickCell("runsTable", RunsModel::kName, "flow-branch"));
    RM_DO(hand().click("deleteRun"));
    QTRY_VERIFY2(runNames().value(0) == "flow", qPrintable(textsOn(m_flow->window()).join(" | ")));
    RM_DO(hand().click("toastAction"));
    QTRY_COMPARE(runNames().mid(0, 2), QStringList({"flow-branch", "flow"}));
}

void TestMainJob::tooLargeARunIsToldBeforeItStarts() {
    const QStringList before = runNames();
    RM_DO(hand().click("railNewRun"));
    const auto& form = m_flow->window().newRunPage();
    QTRY_VERIFY2_WITH_TIMEOUT(!textsOn(form).filter(", nothing to be sent").isEmpty(),
                              qPrintable(textsOn(form).join(" | ")),
                              kSoonMs); // what the launches before it sent is there
    RM_DO(hand().click("recipe.gpt-tiny"));
    RM_DO(m_flow->editSpec("flow-large", kSteps, "65536")); // terabytes
    RM_DO(hand().click("launch"));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("tooLargeDialog"), kSoonMs);
    const QString shown = textsOn(*hand().visible("tooLargeDialog")).join('\n');
    QVERIFY2(shown.contains(QRegularExpression(
                 kNodeName + " has too little memory for flow-large: each of its "
                             "2 ranks there needs more than [\\d.]+ TiB, and "
                             "[\\d.]+ [MG]iB are free for each; a smaller model")),
             qPrintable(shown));
    RM_DO(hand().click("goBack"));
    QTRY_VERIFY(!hand().visible("tooLargeDialog") && hand().visible("launch"));
    QVERIFY(!hand().visible("launchBanner"));
    RM_DO(hand().click("railRuns"));
    QTRY_COMPARE(runNames(), before);
    RM_DO(hand().click("railNewRun"));
    RM_DO(hand().click("launch"));
    RM_DO(hand().click("launchAnyway"));
    QTRY_VERIFY_WITH_TIMEOUT(page().isVisible() && state().startsWith("Failed"), kStartMs);
}

void TestMainJob::aFailedRunIsEditedAndLaunchedAgain() {
    RM_DO(hand().click("editAgain"));
    const auto& form = m_flow->window().newRunPage();
    QVERIFY(form.isVisible());
    QTRY_VERIFY2(!textsOn(form).filter("as flow-large, which failed").isEmpty(),
                 qPrintable(textsOn(form).join(" | ")));
    RM_DO(m_flow->editSpec("flow-mended", kForever));
    m_ranks = kRanks;
    RM_DO(m_flow->launch());
    stopNow();
}

void TestMainJob::closedWindowLosesNoStep() {
    RM_DO(hand().click("railNewRun"));
    RM_DO(hand().click("recipe.gpt-tiny"));
    RM_DO(m_flow->editSpec("flow-alone", kForever));
    RM_DO(m_flow->launch());
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > 10, kSoonMs);
    const qint64 before = newestStep();
    const QSet<qint64> ranks = m_flow->livePids();
    m_flow->closeProgram();

    QCOMPARE(trainersAt(m_flow->server().home()), ranks);
    const qint64 busy = ticksOf(*ranks.begin());
    QTRY_VERIFY_WITH_TIMEOUT(ticksOf(*ranks.begin()) > busy + ::sysconf(_SC_CLK_TCK), kSoonMs);
    RM_DO(m_flow->openProgram());

    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("runsTable"), kSoonMs); // no Welcome: there are runs
    RM_DO(m_flow->openRun("flow-alone"));
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > before, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(m_flow->livePids(), ranks, kSoonMs);
    const qint64 after = newestStep();
    QTRY_VERIFY_WITH_TIMEOUT(newestStep() > after, kSoonMs);
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
    stopNow();
    QTRY_COMPARE_WITH_TIMEOUT(state(), "Stopped at " + formatCount(newestStep()), kSoonMs);
    QCOMPARE(flawIn(lossSteps(page()), 1), QByteArray());
}

void TestMainJob::changedHostKeyIsRefused() {
    RM_DO(m_flow->changeHostKey());
    const QWidget& nodes = m_flow->window().nodesPage();
    RM_DO(hand().click("railNodes"));
    RM_DO(hand().clickCalled(kNodeName + ','));
    RM_DO(hand().click("checkNode"));
    QTRY_COMPARE_WITH_TIMEOUT(nodeState(nodes, kNodeName), QString("1 problem"), kSoonMs);
    QStringList words;
    QTRY_VERIFY2(!(words = textsOn(nodes).filter("changed")).isEmpty(),
                 qPrintable(textsOn(nodes).join(" | ")));
    QVERIFY(!QApplication::activeModalWidget());
    QVERIFY(!hand().visible("trustKey"));

    RM_DO(hand().click("railNewRun"));
    RM_DO(hand().click(QString("place.") + kLocalNodeName));
    RM_DO(hand().click("place." + kNodeName));
    RM_DO(hand().click("launch"));
    QTRY_VERIFY_WITH_TIMEOUT(hand().visible("launchBanner"), kSoonMs);
    const QString refusal = textsOn(*hand().visible("launchBanner")).join(' ');
    QVERIFY2(refusal.contains(words.back()), qPrintable(refusal + " / " + words.join(" | ")));
    RM_DO(hand().click("place." + kNodeName)); // a choice of which nothing was refused
    QVERIFY(!hand().visible("launchBanner"));
    QVERIFY(!QApplication::activeModalWidget());
    QVERIFY(!hand().visible("trustKey"));
}

QTEST_MAIN(TestMainJob)
#include "tst_main_job.moc"
