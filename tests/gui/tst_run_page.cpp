// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/export.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/checkpoints_model.h"
#include "app/ui/models/ranks_model.h"
#include "app/ui/new_run/new_run_page.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/checkpoints_tab.h"
#include "app/ui/run/run_detail.h"
#include "app/ui/run/run_page.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/toast.h"
#include "shared/board/board.h"
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/journal/event_codes.h"
#include "shared/journal/first_cause.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QCheckBox>
#include <QContextMenuEvent>
#include <QDir>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QWheelEvent>

#include <sstream>

using namespace rm;
using namespace rm::test;

/// A run's page under a hand: where the focus goes, what is selected by itself, what the palette
/// offers, what can be done with the log.
class TestRunPage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void aCommandThatIsAwaitedDoesNotMoveTheFocusToStop();
    void aLateCommandNamesTheRankAndOffersKill();
    void theNewestCheckpointIsSelectedAndAChosenOneStays();
    void anAbandonedCheckpointIsNotSelectedByItself();
    void restoringIsNotTheFirstThingOffered();
    void thePaletteOffersWhatTheRunOnTheScreenAllows();
    void thePaletteSaysThatNothingIsFound();
    void linesOfTheLogHaveSecondsAndWrapWhenAsked();
    void theLogShowsWhereItsLinesBegin();
    void theLogIsExportedWhole();
    void anotherRunShowsNoCurveOfTheOneBefore();
    void eachCheckpointIsVerified();
    void nodesAreCleanedOnceAPersonAgrees();
    void nodesThatHaveNothingOfARunAreNotCleaned();
    void aRunWithoutCheckpointsSaysWhy();
    void theLastStepIsNotRestored();
    void aRemovedCheckpointCanBeBroughtBack();
    void whatIsOverIsEditedAndLaunchedAgain();
    void theFailureIsToldOnce();
    void aRunThatStoppedBeforeItTrainedSaysWhy();
    void aPauseSaysWhatItCouldNotSaveAndWhatHadFailed();
    void aRunThatTrainsCannotBeCleaned();
    void whatWaitsForANodeIsNamedAndWithdrawn();
    void moreOffersWhatTheTerminalCan();
    void aSettingThatALaunchWouldRefuseIsNotSent();
    void aRunThatIsHeldCanBeCheckpointed();
    void resumeSaysFromWhereAndWhatItRetires();
    void commandsAreListedAndWithdrawn();
    void aChangeOfASettingIsTakenBackFromItsEvent();
    void aChangeOfASettingIsTakenBackFromTheCommands();
    void everySampleIsExported();
    void aCheckpointSaysThatItIsRemovedNext();
    void aKillIsOfferedWhateverIsUnderWay();
    void endingARunWithoutACheckpointSaysWhatIsLost();
    void theWheelIsLeftToThePageOverAChart();
    void tablesFitASmallWindow();
    void figuresOfRanksAreNotCutButLeftOutByName();
    void theStateOfARankIsReadToItsEnd();
    void aRunThatRestartsIsNoLaunch();
    void aRestartIsToldOnEachTabUntilItIsDismissed();
    void aRankThatHangsIsNamedAtOnce();
    void ranksBeginWithWhatSlowsThemDown();
    void aClickOnAToastDismissesIt();
    void aToastCoversNoButton();
    void returnPressesTheButtonWithTheFocus();
    void anotherRunBeginsAtTheTopOfItsCharts();
    void eventsTakeTheRoomBesideThem();
    void theSpecSaysWhatIsSetOtherwise();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    void open(const QString& run, RunPage::Tab tab) const;
    int64_t selectedStep() const;
    QStringList offered(const QString& typed) const;
    void store(const QString& run, const Record& record) const;
    void storeChange() const;
    void forgetCheckpoints(const QString& run) const;
    QString textsOf(const char* dialog) const;
    void storeOf(int node, const std::vector<Record>& records) const;
    void failAndGoOn() const;
    void save(int64_t step) const;

    std::unique_ptr<WindowFixture> m_demo;
};

void TestRunPage::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&m_demo->window()));
}

void TestRunPage::open(const QString& run, RunPage::Tab tab) const {
    m_demo->window().showRun(run);
    m_demo->window().runPage().showTab(tab);
    QTRY_VERIFY(find<QWidget>("figureStep")->accessibleName().contains("of"));
}

void TestRunPage::aCommandThatIsAwaitedDoesNotMoveTheFocusToStop() {
    open(kRunningRun, RunPage::kCharts);
    auto* hold = find<QPushButton>("holdRun");
    QTRY_VERIFY(hold->isVisible() && hold->isEnabled());
    hold->setFocus();
    QVERIFY(hold->hasFocus());
    LiveState live;
    live.pending = CommandKind::kHold;
    RunPage& page = m_demo->window().runPage();
    page.showLive(live);
    QVERIFY(!hold->isEnabled());
    const auto* focused = qobject_cast<QPushButton*>(m_demo->window().focusWidget());
    QVERIFY2(!focused, focused ? qPrintable(focused->text()) : "");
    live.pending.reset();
    live.held = true;
    page.showLive(live);
    QCOMPARE(hold->text(), QString("Continue"));
    QVERIFY(hold->hasFocus());
}

void TestRunPage::aLateCommandNamesTheRankAndOffersKill() {
    open(kRunningRun, RunPage::kCharts);
    LiveState live;
    live.pending = CommandKind::kPause;
    live.pendingSinceNs = monotonicNowNs() - 1'000'000'000;
    for (const int rank : {0, 1}) {
        RankState state;
        state.rank = rank;
        state.pid = 100 + rank;
        state.step = 48 - rank;
        state.phase = static_cast<uint8_t>(Phase::kBackward);
        state.sinceMs = 9000;
        LiveState::NodeLink& node = live.nodes.emplace_back();
        node.node = "gpu" + std::to_string(rank);
        node.link = LiveState::Link::kLive;
        node.state.emplace();
        node.state->ranks = {state};
    }
    RunPage& page = m_demo->window().runPage();
    page.showLive(live);
    auto* banner = find<QWidget>("delayBanner");
    QVERIFY(!banner->isVisible()); // it may be obeyed yet
    live.pendingSinceNs -= 4'000'000'000;
    page.showLive(live);
    QVERIFY(banner->isVisible());
    QString said;
    for (const QLabel* label : banner->findChildren<QLabel*>())
        said += label->text() + '\n';
    QVERIFY2(said.contains("Pause under way for 5 s") && said.contains("rank 1 on gpu1"),
             qPrintable(said));
    QVERIFY2(!find<QWidget>("figureStep")->accessibleName().contains("left"),
             qPrintable(find<QWidget>("figureStep")->accessibleName()));
    find<QPushButton>("killRun")->click();
    QTRY_VERIFY(m_demo->window().findChild<QPushButton*>("killConfirm"));
    auto* toast = find<QWidget>("toast");
    QVERIFY(!toast->isVisible());
    m_demo->window().findChild<QPushButton*>("killConfirm")->click();
    QTRY_VERIFY(toast->isVisible()); // the demo has no ranks: it says so
}

int64_t TestRunPage::selectedStep() const {
    const auto* table = find<QAbstractItemView>("checkpointsTable");
    const QModelIndexList rows = table->selectionModel()->selectedRows();
    QString digits = rows.isEmpty() ? "-1" : rows.front().data().toString();
    return digits.remove(QChar(0x202F)).toLongLong();
}

void TestRunPage::store(const QString& run, const Record& record) const {
    const auto writer = StoreWriter::open(m_demo->engine().databasePath());
    QVERIFY(writer);
    IngestBatch batch;
    batch.run = run;
    batch.records = {record};
    QVERIFY((*writer)->ingest(batch));
    Q_EMIT m_demo->engine().runsChanged();
}

/// As if they had been deleted on the nodes.
void TestRunPage::forgetCheckpoints(const QString& run) const {
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    const auto writer = StoreWriter::open(m_demo->engine().databasePath());
    QVERIFY(reader && writer);
    for (const StoredCheckpoint& each : (*reader)->checkpoints(run))
        QVERIFY((*writer)->setCheckpointRemoved(run, each.saved.path, true));
    Q_EMIT m_demo->engine().runsChanged();
}

QString TestRunPage::textsOf(const char* dialog) const {
    QString texts;
    for (const QLabel* label : find<QDialog>(dialog)->findChildren<QLabel*>())
        texts += label->text() + '\n';
    return texts;
}

/// Of the run that trains.
void TestRunPage::storeOf(int node, const std::vector<Record>& records) const {
    const auto writer = StoreWriter::open(m_demo->engine().databasePath());
    QVERIFY(writer);
    IngestBatch batch;
    batch.run = kRunningRun;
    batch.nodeIndex = node;
    batch.records = records;
    QVERIFY((*writer)->ingest(batch));
    Q_EMIT m_demo->engine().runsChanged();
}

/// As agents tell of a rank that is killed when the run may restart.
void TestRunPage::failAndGoOn() const {
    const int64_t now = wallNowNs();
    storeOf(1, {RankExited{2, 6, 0, 9, now, "killed by SIGKILL", {}},
                AttemptEnded{2, Outcome::kFailed, 6, 137, now, "rank 6 was killed by SIGKILL"}});
    storeOf(0, {AttemptEnded{2, Outcome::kFailed, 0, static_cast<int>(ExitCode::kPeerLost), now,
                             "peer lost", true}});
}

void TestRunPage::save(int64_t step) const {
    CheckpointSaved saved;
    saved.step = step;
    saved.path = "/checkpoints/step-" + std::to_string(step);
    store(kPausedRun, saved);
}

void TestRunPage::theNewestCheckpointIsSelectedAndAChosenOneStays() {
    open(kPausedRun, RunPage::kCheckpoints);
    QTRY_COMPARE(selectedStep(), 2'400);
    save(2'410);
    QTRY_COMPARE(selectedStep(), 2'410);
    auto* table = find<QAbstractItemView>("checkpointsTable");
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(table->model()->index(1, 0)).center());
    QCOMPARE(selectedStep(), 2'400);
    const int before = table->model()->rowCount();
    save(2'412);
    QTRY_COMPARE(table->model()->rowCount(), before + 1);
    QCOMPARE(selectedStep(), 2'400);
}

void TestRunPage::anAbandonedCheckpointIsNotSelectedByItself() {
    open(kPausedRun, RunPage::kCheckpoints);
    QTRY_COMPARE(selectedStep(), 2'400);
    store(kPausedRun, AttemptStarted{2, 0, 8, 1'600, 1, {}});
    QTRY_COMPARE(selectedStep(), 1'600);
}

void TestRunPage::restoringIsNotTheFirstThingOffered() {
    open(kPausedRun, RunPage::kCheckpoints);
    QVERIFY(find<QPushButton>("restoreCheckpoint")->property("role").toString() != "primary");
}

QStringList TestRunPage::offered(const QString& typed) const {
    m_demo->window().showPalette();
    find<QLineEdit>("paletteInput")->setText(typed);
    const auto* list = find<QListWidget>("paletteList");
    QStringList titles;
    for (int row = 0; row < list->count(); ++row)
        titles << list->item(row)->text();
    return titles;
}

void TestRunPage::thePaletteOffersWhatTheRunOnTheScreenAllows() {
    open(kRunningRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("holdRun")->isVisible());
    const QStringList all = offered({});
    for (const char* action :
         {"Hold", "Checkpoint", "Pause", "Stop", "Logs", "Spec", "Kill", "Validate now"})
        QVERIFY2(all.contains(action), action);
    QVERIFY(!all.contains("Resume"));
    find<QLineEdit>("paletteInput")->setText("logs");
    QTest::keyClick(find<QLineEdit>("paletteInput"), Qt::Key_Return);
    QTRY_VERIFY(find<QPlainTextEdit>("logText")->isVisible());
    QTRY_VERIFY(!find<QDialog>("palette"));
    m_demo->window().showRuns();
    QVERIFY(!offered({}).contains("Hold"));
}

void TestRunPage::theWheelIsLeftToThePageOverAChart() {
    m_demo->window().resize(1000, 700);
    open(kRunningRun, RunPage::kCharts);
    const auto* bar = find<QScrollArea>("chartsScroll")->verticalScrollBar();
    const auto* heat = find<HeatMap>("heatMap");
    QTRY_VERIFY(bar->maximum() > 0 && heat->isFilled());
    for (auto* plot : {find<QWidget>("chartLoss"), find<QWidget>("heatMap")}) {
        plot = plot->findChild<QWidget*>("plot");
        const QPointF at = plot->rect().center();
        QWheelEvent wheel(at, plot->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, {},
                          Qt::NoScrollPhase, false);
        const int before = bar->value();
        QCoreApplication::sendEvent(plot, &wheel);
        QVERIFY(bar->value() > before);
    }
}

void TestRunPage::theStateOfARankIsReadToItsEnd() {
    m_demo->window().resize(1000, 700);
    open(kRunningRun, RunPage::kRanks);
    auto* table = find<QTableView>("ranksTable");
    QTRY_VERIFY(table->isVisible() && table->model()->rowCount() > 0);
    RankState state;
    state.pid = 100;
    state.step = 9'412;
    state.phase = static_cast<uint8_t>(Phase::kAllreduce);
    state.sinceMs = 12'345;
    LiveState live;
    LiveState::NodeLink& node = live.nodes.emplace_back();
    node.node = "node-a";
    node.link = LiveState::Link::kLive;
    node.state.emplace();
    node.state->ranks = {state};
    m_demo->window().runPage().showLive(live);
    const QString text = table->model()->index(0, RanksModel::kState).data().toString();
    QVERIFY2(text.startsWith("all-reduce for 12"), qPrintable(text));
    const int room = table->columnWidth(RanksModel::kState);
    const int wanted = table->fontMetrics().horizontalAdvance(text) + 2 * 12;
    QVERIFY2(wanted <= room, qPrintable(QString("%1 of %2").arg(wanted).arg(room)));
}

void TestRunPage::aRunThatRestartsIsNoLaunch() {
    open(kRunningRun, RunPage::kCharts);
    const auto* stop = find<QPushButton>("stopRun");
    const auto* cancel = m_demo->window().runPage().findChild<QPushButton*>("cancelLaunch");
    const auto* chip = m_demo->window().runPage().findChild<QWidget*>("stateChip");
    const auto isRestarting = [&] {
        return chip->accessibleName() == "Restarting" && stop->isVisible() && stop->isEnabled() &&
               !cancel->isVisible() && !find<QPushButton>("holdRun")->isVisible();
    };
    QTRY_VERIFY(stop->isVisible());
    failAndGoOn();
    QTRY_VERIFY2(isRestarting(), qPrintable(chip->accessibleName()));
    const QList<QAction*> actions = find<QMenu>("moreMenu")->actions();
    QVERIFY(actions.back()->text() == "Kill" && actions.back()->isVisible());
    storeOf(0, {AttemptPlanned{3, wallNowNs(), {}, {{0, 0, 4}, {1, 4, 4}}}});
    const auto* banner = find<QWidget>("troubleBanner");
    QTRY_VERIFY(banner->accessibleName().contains("goes on by itself") && isRestarting());
    LiveState live; // a person resumes it: that is a launch
    live.launching.emplace();
    m_demo->window().runPage().showLive(live);
    QVERIFY(cancel->isVisible() && !stop->isVisible());
}

void TestRunPage::aRestartIsToldOnEachTabUntilItIsDismissed() {
    open(kRunningRun, RunPage::kCharts);
    const auto* banner = find<QWidget>("troubleBanner");
    QTRY_VERIFY(find<QPushButton>("stopRun")->isVisible());
    QVERIFY(!banner->isVisible()); // a person began its second attempt
    failAndGoOn();
    QTRY_VERIFY(banner->isVisible());
    const int64_t now = wallNowNs();
    storeOf(0, {AttemptPlanned{3, now, {}, {{0, 0, 4}, {1, 4, 4}}},
                AttemptStarted{3, 0, 8, 9'000, now, {}}});
    const QString wanted =
        "Attempt 3 since " + formatClock(now) +
        ": rank 6 on node-b: killed by SIGKILL at step 9412; it went on from step " +
        formatCount(9'000) + ", 412 steps to be done again";
    QTRY_COMPARE(banner->accessibleName().trimmed(), wanted);
    for (int tab = 0; tab < RunPage::kTabCount; ++tab) {
        m_demo->window().runPage().showTab(static_cast<RunPage::Tab>(tab));
        QVERIFY(banner->isVisible());
    }
    open(kFinishedRun, RunPage::kCharts);
    QTRY_VERIFY(!banner->isVisible());
    open(kRunningRun, RunPage::kCharts);
    QTRY_VERIFY(banner->isVisible());
    QTest::mouseClick(find<QPushButton>("dismissTrouble"), Qt::LeftButton);
    QVERIFY(!banner->isVisible());
    m_demo->window().runPage().showLive({});
    QVERIFY(!banner->isVisible());
}

void TestRunPage::aRankThatHangsIsNamedAtOnce() {
    open(kRunningRun, RunPage::kCheckpoints);
    const auto* banner = find<QWidget>("troubleBanner");
    QTRY_VERIFY(find<QPushButton>("stopRun")->isVisible());
    LiveState live;
    for (const int rank : {0, 1}) {
        RankState state;
        state.rank = rank;
        state.pid = 100 + rank;
        state.step = 48;
        state.phase = static_cast<uint8_t>(Phase::kBackward);
        LiveState::NodeLink& node = live.nodes.emplace_back();
        node.node = "gpu" + std::to_string(rank);
        node.link = LiveState::Link::kLive;
        node.state.emplace();
        node.state->ranks = {state};
    }
    RunPage& page = m_demo->window().runPage();
    page.showLive(live);
    QVERIFY(!banner->isVisible());
    live.nodes[1].state->ranks[0].isStopped = true;
    page.showLive(live);
    QVERIFY(banner->isVisible());
    QVERIFY2(banner->accessibleName().startsWith("The run stands still: rank 1 on gpu1 is stopped"),
             qPrintable(banner->accessibleName()));
    QVERIFY(!find<QPushButton>("dismissTrouble")->isVisible());
    page.showLive({});
    QVERIFY(!banner->isVisible());
    const Event hangs{6,
                      9'412,
                      wallNowNs(),
                      Severity::kWarning,
                      kRankHangsEvent,
                      "rank 6 did not come to the all-reduce of step 9412"};
    storeOf(1, {hangs});
    QTRY_VERIFY2(banner->accessibleName().contains("stands still: rank 6 did not come"),
                 qPrintable(banner->accessibleName()));
    storeOf(1,
            {Event{-1, 9'412, wallNowNs(), Severity::kInfo, kRankContinuesEvent, "get on again"}});
    QTRY_VERIFY(!banner->isVisible());
}

void TestRunPage::ranksBeginWithWhatSlowsThemDown() {
    m_demo->window().resize(1000, 700);
    open(kRunningRun, RunPage::kRanks);
    auto* card = find<QWidget>("slowCard");
    QTRY_VERIFY(card->isVisible());
    const auto rows = [card] { return card->findChildren<QWidget*>("checkRow"); };
    QTRY_VERIFY(!rows().isEmpty());
    QCOMPARE(rows().front()->property("row").toString(), QString("slow-rank"));
    QString words;
    for (const QLabel* label : card->findChildren<QLabel*>())
        words += label->text() + '\n';
    QVERIFY2(words.contains("rank 5 on node-b waits ") && words.contains("times as fast"),
             qPrintable(words));
    QVERIFY2(words.contains(" is not known: "), qPrintable(words));
    QVERIFY(find<QTableView>("ranksTable")->height() >= 150);
    open(kFinishedRun, RunPage::kRanks);
    QTRY_VERIFY(!rows().isEmpty() &&
                rows().front()->property("row").toString() == QString("slow-compute"));
}

void TestRunPage::aClickOnAToastDismissesIt() {
    auto* toast = find<Toast>("toast");
    bool isUndone = false;
    toast->offer("gpt-tiny deleted", "Undo", [&] { isUndone = true; });
    QVERIFY(toast->isVisible());
    QTest::mouseClick(toast->findChild<QLabel*>(), Qt::LeftButton);
    QVERIFY(!toast->isVisible() && !isUndone);
    toast->offer("gpt-tiny deleted", "Undo", [&] { isUndone = true; });
    QTest::mouseClick(find<QPushButton>("toastAction"), Qt::LeftButton);
    QVERIFY(!toast->isVisible() && isUndone);
}

void TestRunPage::aToastCoversNoButton() {
    MainWindow& window = m_demo->window();
    auto* toast = find<Toast>("toast");
    const auto coveredBy = [&] {
        toast->say("The checkpoint of step 2 400 is being copied to node-b");
        QStringList covered;
        for (const auto* button : window.findChildren<QAbstractButton*>())
            if (button->isVisible() && button->window() == &window &&
                !toast->isAncestorOf(button) &&
                QRect(button->mapTo(&window, QPoint()), button->size())
                    .intersects(toast->geometry()))
                covered << button->objectName();
        return covered;
    };
    for (const QSize size : {QSize(1000, 700), QSize(1440, 900)}) {
        window.resize(size);
        open(kPausedRun, RunPage::kCheckpoints);
        QTRY_COMPARE(coveredBy(), QStringList());
        window.showNewRun();
        QTRY_VERIFY(find<QPushButton>("launch")->isVisible());
        QTRY_COMPARE(coveredBy(), QStringList());
        QVERIFY(window.rect().contains(toast->geometry()));
    }
}

void TestRunPage::returnPressesTheButtonWithTheFocus() {
    open(kRunningRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("stopRun")->isVisible());
    find<QPushButton>("stopRun")->click();
    QTRY_VERIFY(find<QDialog>("stopDialog"));
    auto* stop = find<QDialog>("stopDialog")->findChild<QPushButton*>("stopConfirm");
    stop->setFocus();
    QTest::keyClick(stop, Qt::Key_Return);
    QTRY_VERIFY(!find<QDialog>("stopDialog"));
    QTRY_VERIFY(find<QWidget>("toast")->isVisible()); // the demo has no ranks: it says so
}

void TestRunPage::anotherRunBeginsAtTheTopOfItsCharts() {
    m_demo->window().resize(1000, 700);
    open(kRunningRun, RunPage::kCharts);
    auto* bar = find<QScrollArea>("chartsScroll")->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    bar->setValue(bar->maximum());
    open(kFinishedRun, RunPage::kCharts);
    QCOMPARE(bar->value(), 0);
}

void TestRunPage::eventsTakeTheRoomBesideThem() {
    m_demo->window().resize(1280, 800);
    open(kRunningRun, RunPage::kCharts);
    const auto* events = find<QWidget>("events");
    const auto* heat = find<QWidget>("heatMap");
    QTRY_VERIFY(heat->width() > 2 * size::kColumnMin && events->width() > heat->width() - 8);
    m_demo->window().resize(1600, 1000); // three columns: beside the heat map
    QTRY_VERIFY(events->width() < heat->width() * 2 / 3);
}

void TestRunPage::tablesFitASmallWindow() {
    m_demo->window().resize(1000, 700);
    for (const auto& [tab, name] : {std::pair(RunPage::kRanks, "ranksTable"),
                                    std::pair(RunPage::kCheckpoints, "checkpointsTable")}) {
        open(kRunningRun, tab);
        auto* table = find<QTableView>(name);
        QTRY_VERIFY(table->isVisible() && table->model()->rowCount() > 0);
        QTRY_COMPARE(table->horizontalScrollBar()->maximum(), 0);
        for (int column = 0; column < table->model()->columnCount(); ++column) {
            const QString text = table->model()->index(0, column).data().toString();
            const bool isShown = !table->isColumnHidden(column);
            const int room = table->columnWidth(column);
            QVERIFY2(!isShown || text.contains(' ') || text.contains('/') ||
                         table->fontMetrics().horizontalAdvance(text) < room,
                     qPrintable(text));
        }
    }
}

void TestRunPage::figuresOfRanksAreNotCutButLeftOutByName() {
    open(kRunningRun, RunPage::kRanks);
    auto* table = find<QTableView>("ranksTable");
    const QAbstractItemView* view = table; // whose hints are public
    const auto* shown = find<QLabel>("ranksLeftOut");
    for (const QSize& window : {QSize(1000, 700), QSize(1280, 800)}) {
        m_demo->window().resize(window);
        QTRY_VERIFY(table->isVisible() && table->model()->rowCount() > 0);
        QTRY_COMPARE(m_demo->window().size(), window);
        for (int column = RanksModel::kStep; column < table->model()->columnCount(); ++column) {
            const QString title = table->model()->headerData(column, Qt::Horizontal).toString();
            const int room = table->columnWidth(column);
            const int wanted = std::max(table->horizontalHeader()->sectionSizeHint(column),
                                        view->sizeHintForColumn(column));
            if (table->isColumnHidden(column))
                QVERIFY2(shown->isVisible() && shown->text().contains(title), qPrintable(title));
            else
                QVERIFY2(room >= wanted,
                         qPrintable(QString("%1: %2 of %3").arg(title).arg(room).arg(wanted)));
        }
    }
    m_demo->window().resize(1600, 1000);
    QTRY_VERIFY(!shown->isVisible() && !table->isColumnHidden(table->model()->columnCount() - 1));
}

void TestRunPage::theSpecSaysWhatIsSetOtherwise() {
    open(kPausedRun, RunPage::kSpec);
    const auto* label = find<QLabel>("settingsNow");
    QVERIFY(label->isHidden());
    store(kPausedRun, SettingsChanged{2'000, 1, {{"optimizer.lr", 0.0003}}});
    QTRY_VERIFY(!label->isHidden());
    QCOMPARE(label->text(), "Set otherwise since: optimizer.lr = 0.0003");
    QCOMPARE(find<QLabel>("runtimeUsed")->text(),
             "Run on GPUs by the runtime cuda13, see launch.runtime");
    const auto* used = find<QLabel>("runUsed");
    QTRY_VERIFY(used->isVisible());
    QVERIFY2(used->text().startsWith("Used: ") && used->text().contains(" GPU-hours, ") &&
                 used->text().contains(" kWh of its GPUs"),
             qPrintable(used->text()));
    open(kFinishedRun, RunPage::kSpec);
    QVERIFY(label->isHidden());
}

void TestRunPage::thePaletteSaysThatNothingIsFound() {
    QCOMPARE(offered("zzzq"), QStringList{"Nothing found"});
    QTest::keyClick(find<QLineEdit>("paletteInput"), Qt::Key_Return);
    QVERIFY(find<QDialog>("palette")->isVisible());
}

void TestRunPage::linesOfTheLogHaveSecondsAndWrapWhenAsked() {
    open(kFinishedRun, RunPage::kLogs);
    const auto* text = find<QPlainTextEdit>("logText");
    QTRY_VERIFY(!text->document()->isEmpty());
    const QString first = text->document()->firstBlock().text();
    QVERIFY2(QRegularExpression("^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  \\S+:0 ").match(first).hasMatch(),
             qPrintable(first));
    QCOMPARE(text->lineWrapMode(), QPlainTextEdit::NoWrap);
    QTest::mouseClick(find<QCheckBox>("logWrap"), Qt::LeftButton, {}, {8, 8});
    QCOMPARE(text->lineWrapMode(), QPlainTextEdit::WidgetWidth);
}

/// Also where the lines came before the tab was shown.
void TestRunPage::theLogShowsWhereItsLinesBegin() {
    m_demo->window().resize(1000, 700);
    {
        const auto writer = StoreWriter::open(m_demo->engine().databasePath());
        QVERIFY(writer);
        IngestBatch batch;
        batch.run = kFinishedRun;
        batch.logLines = {{0, "a line that is long " + std::string(400, 'x')}};
        QVERIFY((*writer)->ingest(batch));
    }
    open(kFinishedRun, RunPage::kCharts);
    auto* text = find<QPlainTextEdit>("logText");
    QTRY_VERIFY(!text->document()->isEmpty());
    m_demo->window().runPage().showTab(RunPage::kLogs);
    QTRY_VERIFY(text->isVisible() && text->horizontalScrollBar()->maximum() > 0);
    QTRY_COMPARE(text->verticalScrollBar()->value(), text->verticalScrollBar()->maximum());
    QCOMPARE(text->horizontalScrollBar()->value(), 0);
}

void TestRunPage::theLogIsExportedWhole() {
    open(kFinishedRun, RunPage::kLogs);
    find<QCheckBox>("logFold")->setChecked(false);
    find<QLineEdit>("logFilter")->setText("loss");
    const auto* text = find<QPlainTextEdit>("logText");
    QTRY_VERIFY(!text->document()->isEmpty());
    QTest::mouseClick(find<QPushButton>("logExport"), Qt::LeftButton);
    auto* dialog = find<QFileDialog>("logExportDialog");
    QVERIFY(dialog);
    QTemporaryDir folder;
    const QString path = folder.filePath("run.log");
    dialog->selectFile(path);
    QVERIFY(QMetaObject::invokeMethod(dialog, "accept"));
    QTRY_VERIFY(find<QWidget>("toast")->accessibleName().contains(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().trimmed().split('\n');
    QCOMPARE(lines.size(), text->document()->blockCount());
    QVERIFY2(lines.front().contains(":0  step "), lines.front());
}

void TestRunPage::anotherRunShowsNoCurveOfTheOneBefore() {
    open(kPausedRun, RunPage::kCheckpoints);
    const auto* chart = find<LineChart>("chartCheckpoints");
    QTRY_VERIFY(!chart->curves().empty());
    m_demo->window().showRun(kFinishedRun);
    QVERIFY(chart->curves().empty());
    QTRY_VERIFY(!chart->curves().empty());
}

void TestRunPage::eachCheckpointIsVerified() {
    QTemporaryDir folder;
    for (const int64_t step : {580, 590}) {
        Manifest manifest;
        manifest.runId = kFinishedRun.toStdString();
        manifest.step = step;
        manifest.reason = "command";
        const auto published =
            publishCheckpoint(folder.path().toStdString(), manifest, [](const std::string& dir) {
                return writeFileAtomically(dir + "/state.json", "{}");
            });
        QVERIFY(published);
        CheckpointSaved saved;
        saved.step = step;
        saved.path = *published;
        saved.reason = "command";
        store(kFinishedRun, saved);
        if (step == 580)
            QVERIFY(QFile::remove(QString::fromStdString(*published) + "/MANIFEST.json"));
    }
    m_demo->window().resize(1000, 700);
    open(kFinishedRun, RunPage::kCheckpoints);
    auto* table = find<QTableView>("checkpointsTable");
    QTRY_COMPARE(table->model()->rowCount(), 5);
    QVERIFY(table->isColumnHidden(CheckpointsModel::kVerified));
    auto* verify = find<QPushButton>("verifyCheckpoints");
    QTRY_VERIFY(verify->isVisible());
    verify->click();
    QVERIFY(!verify->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(verify->isEnabled(), 60'000);
    QVERIFY(!table->isColumnHidden(CheckpointsModel::kVerified));
    for (int row = 0; row < table->model()->rowCount(); ++row) {
        const auto cell = table->model()->index(row, CheckpointsModel::kVerified);
        const QString step = table->model()->index(row, CheckpointsModel::kStep).data().toString();
        const bool isThere = step == "590", isDamaged = step == "580";
        // What the demo tells of was never written: the folder is as of a disk that is away.
        QCOMPARE(cell.data().toString(), isThere     ? QString("Whole")
                                         : isDamaged ? QString("Damaged")
                                                     : QString("Not verified"));
        QCOMPARE(cell.data(kToneRole).toInt(), static_cast<int>(isThere     ? Tone::kGood
                                                                : isDamaged ? Tone::kBad
                                                                            : Tone::kWarn));
        QVERIFY(isThere || cell.data(Qt::ToolTipRole).toString().contains("/step-"));
    }
    open(kPausedRun, RunPage::kCheckpoints);
    QVERIFY(table->isColumnHidden(CheckpointsModel::kVerified));
}

void TestRunPage::nodesAreCleanedOnceAPersonAgrees() {
    QTemporaryDir state;
    qputenv("XDG_STATE_HOME", state.path().toLocal8Bit());
    const QString folder = state.filePath("ringmaster/runs/" + kFinishedRun);
    const QString checkpoint = folder + "/node-00000/checkpoints/step-000000600";
    QVERIFY(QDir().mkpath(checkpoint));
    QFile manifest(checkpoint + "/MANIFEST.json");
    QVERIFY(manifest.open(QIODevice::WriteOnly));
    manifest.write(QByteArray(3'000'000, ' '));
    manifest.close();
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo,
                                             WindowFixture::Access::kWrite);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    open(kFinishedRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("cleanRun")->isVisible());
    find<QPushButton>("cleanRun")->click();
    QTRY_VERIFY(find<QPushButton>("cleanConfirm"));
    auto* confirm = find<QPushButton>("cleanConfirm");
    QVERIFY(!confirm->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(confirm->isEnabled(), 60'000);
    const QString text = find<QLabel>("cleanText")->text();
    for (const char* said : {"3", "MB", "1 checkpoint", "This computer", "deleted for good"})
        QVERIFY2(text.contains(said), qPrintable(text));
    QVERIFY(QFile::exists(folder));
    confirm->click();
    QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(folder), 60'000);
    QTRY_VERIFY_WITH_TIMEOUT(
        find<QWidget>("toast")->accessibleName().contains("folders of gpt-tiny are gone"), 60'000);
    qunsetenv("XDG_STATE_HOME");
}

void TestRunPage::nodesThatHaveNothingOfARunAreNotCleaned() {
    QTemporaryDir state;
    qputenv("XDG_STATE_HOME", state.path().toLocal8Bit());
    const auto reset = qScopeGuard([] { qunsetenv("XDG_STATE_HOME"); });
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    open(kFinishedRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("cleanRun")->isVisible());
    const auto saidOf = [&] {
        find<QPushButton>("cleanRun")->click();
        const auto* text = find<QLabel>("cleanText");
        if (!QTest::qWaitFor([&] { return text->text().startsWith("Nothing"); }, 60'000))
            qFatal("%s", qPrintable(text->text()));
        return text->text();
    };
    // The database still has checkpoints there: that they are gone is to be noted.
    QVERIFY(!saidOf().contains("nothing to delete"));
    QVERIFY(find<QPushButton>("cleanConfirm")->isVisible());
    delete find<QDialog>("cleanDialog");
    forgetCheckpoints(kFinishedRun);
    QVERIFY(saidOf().contains("There is nothing to delete."));
    QVERIFY(!find<QPushButton>("cleanConfirm")->isVisible());
}

void TestRunPage::aRunWithoutCheckpointsSaysWhy() {
    const auto* tab = m_demo->window().runPage().findChild<CheckpointsTab*>();
    const auto* button = tab->findChild<QPushButton*>("emptyAction");
    const auto said = [&] {
        QString texts;
        for (const QLabel* label : tab->findChildren<QLabel*>())
            texts += label->isVisible() ? label->text() + '\n' : QString();
        return texts;
    };
    forgetCheckpoints(kRunningRun);
    forgetCheckpoints(kFailedRun);
    open(kRunningRun, RunPage::kCheckpoints);
    QTRY_VERIFY(button->isVisible());
    QVERIFY(said().contains("No checkpoint yet"));
    open(kFailedRun, RunPage::kCheckpoints);
    QTRY_VERIFY2(said().contains("Its checkpoints are not on the nodes any more."),
                 qPrintable(said()));
    QVERIFY(!said().contains("yet") && !button->isVisible());
}

void TestRunPage::theLastStepIsNotRestored() {
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    CheckpointSaved saved;
    saved.step = (*reader)->run(kPausedRun)->totalSteps;
    saved.path = "/checkpoints/step-last";
    open(kPausedRun, RunPage::kCheckpoints);
    auto* restore = find<QPushButton>("restoreCheckpoint");
    QTRY_VERIFY(restore->isEnabled());
    store(kPausedRun, saved);
    QTRY_COMPARE(selectedStep(), saved.step);
    QVERIFY(!restore->isEnabled());
    QVERIFY2(restore->toolTip().contains("nothing is left to train"),
             qPrintable(restore->toolTip()));
    QVERIFY(find<QPushButton>("branchRun")->isEnabled());
}

void TestRunPage::aRemovedCheckpointCanBeBroughtBack() {
    open(kPausedRun, RunPage::kCheckpoints);
    QTRY_COMPARE(selectedStep(), 2'400);
    store(kPausedRun, AttemptStarted{2, 0, 8, 1'600, 1, {}});
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    const StoredCheckpoint abandoned = (*reader)->checkpoints(kPausedRun).front();
    QCOMPARE(abandoned.saved.step, 2'400);
    auto* table = find<QTableView>("checkpointsTable");
    const int rows = table->model()->rowCount();
    {
        const auto writer = StoreWriter::open(m_demo->engine().databasePath());
        QVERIFY(writer);
        RequestedCommand requested;
        requested.id = "removal";
        requested.kind = kRemoveCheckpoint;
        requested.args = {{"checkpoint", checkpointNameOf(abandoned)}};
        requested.by = {"kc", RequestedFrom::kTerminal};
        requested.requestedNs = wallNowNs();
        requested.state = RequestedState::kApplied;
        QVERIFY((*writer)->addCommand(kPausedRun, requested));
        QVERIFY((*writer)->setCheckpointRemoved(kPausedRun, abandoned.saved.path, true));
    }
    Q_EMIT m_demo->engine().runsChanged();
    const auto where = [&] {
        return table->model()->index(0, CheckpointsModel::kWhere).data().toString();
    };
    QTRY_VERIFY2(where().startsWith("removed, can be brought back until "), qPrintable(where()));
    QCOMPARE(table->model()->rowCount(), rows);
    auto* back = find<QPushButton>("bringBackCheckpoint");
    QTRY_COMPARE(selectedStep(), 1'600);
    QVERIFY(!back->isVisible());
    table->selectRow(0);
    QTRY_VERIFY(back->isVisible());
    for (const char* other : {"restoreCheckpoint", "branchRun", "moreOfCheckpoint"})
        QVERIFY2(!find<QPushButton>(other)->isEnabled(), other);
    QVERIFY(!find<QPushButton>("removeCheckpoint")->isVisible());
    back->click();
    QTRY_VERIFY(find<QWidget>("toast")->isVisible()); // this engine only reads: it says so
}

void TestRunPage::whatIsOverIsEditedAndLaunchedAgain() {
    open(kPausedRun, RunPage::kCharts);
    const auto again = [&] {
        for (QAction* action : find<QMenu>("moreMenu")->actions())
            if (action->text() == "Edit and launch again" && action->isVisible())
                return action;
        return static_cast<QAction*>(nullptr);
    };
    QTRY_VERIFY(again());
    again()->trigger();
    const NewRunPage& form = m_demo->window().newRunPage();
    QTRY_VERIFY(form.isVisible());
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    QCOMPARE(form.findChild<QPlainTextEdit*>("specToml")->toPlainText(),
             QString::fromStdString((*reader)->specToml(kPausedRun)));
    open(kRunningRun, RunPage::kCharts);
    QTRY_VERIFY(!again());
}

void TestRunPage::theFailureIsToldOnce() {
    RunDetail detail;
    detail.run.emplace();
    detail.run->message = "rank 1 on node-a at step 8: train step 8: the loss is not finite";
    StoredRank rank;
    rank.exited.emplace();
    rank.exited->exitCode = 24;
    rank.exited->tail = "step 7  loss 3\nerror: train step 8: the loss is not finite\n";
    detail.ranks = {rank};
    const FailureReport report = failureReport(detail);
    QCOMPARE(report.what, detail.run->message);
    QCOMPARE(report.why, QString("step 7  loss 3"));
}

void TestRunPage::aRunThatStoppedBeforeItTrainedSaysWhy() {
    open(kFailedRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("copyReport")->isVisible());
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Fill([](StoreWriter& store) {
        return store.createRun({"x-1", "x", toToml(RunSpec()), {{0, "node-a", 1, 0}}, {}, 0})
            .and_then([&] {
                return store.setState("x-1", RunStateKind::kStopped, "its launch was cancelled");
            });
    }));
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().showRun("x-1");
    const auto* banner = find<QWidget>("failureBanner");
    QTRY_VERIFY(banner->isVisible());
    QVERIFY2(banner->accessibleName().startsWith("Its launch was cancelled"),
             qPrintable(banner->accessibleName()));
    QVERIFY(find<QPushButton>("editAgain")->isVisible());
    QVERIFY(!find<QPushButton>("copyReport")->isVisible()); // nothing failed
}

/// Its node was restarted while the pause waited for its rank.
void TestRunPage::aPauseSaysWhatItCouldNotSaveAndWhatHadFailed() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Fill([](StoreWriter& store) {
        const AttemptEnded failed{1, Outcome::kFailed, 0, 1, 9, "rank 0: gone"};
        CheckpointSaved saved;
        saved.step = 80;
        saved.path = "/checkpoints/step-000000080";
        IngestBatch batch;
        batch.run = "x-1";
        batch.records = {AttemptStarted{1, 0, 1, 0, 1, {}}, saved,
                         Samples{0, 95, 5, {metric::kTrainLoss}, {1.f}},
                         RankExited{1, 0, 1, 0, 8, "gone without a last word", ""},
                         endedOnRequest(failed, Outcome::kPaused, "ended on request")};
        return store.createRun({"x-1", "x", toToml(RunSpec()), {{0, "node-a", 1, 0}}, {}, 0})
            .and_then([&] { return store.ingest(batch); });
    }));
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().showRun("x-1");
    const auto* banner = find<QWidget>("failureBanner");
    QTRY_VERIFY(banner->isVisible());
    for (const char* told : {"rank 0 on node-a: gone without a last word",
                             "The newest is of step 80", "steps 81 to 95 are trained again"})
        QVERIFY2(banner->accessibleName().contains(told, Qt::CaseInsensitive),
                 qPrintable(banner->accessibleName()));
    QVERIFY(!find<QPushButton>("editAgain")->isVisible());
    QVERIFY(!find<QPushButton>("copyReport")->isVisible());
}

void TestRunPage::aRunThatTrainsCannotBeCleaned() {
    open(kRunningRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("pauseRun")->isVisible());
    QVERIFY(!find<QPushButton>("cleanRun")->isVisible());
}

void TestRunPage::whatWaitsForANodeIsNamedAndWithdrawn() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo,
                                             WindowFixture::Access::kWrite);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    open(kRunningRun, RunPage::kCharts);
    const auto* banner = find<QWidget>("delayBanner");
    QVERIFY(!banner->isVisible());
    // Its nodes are not in the list of nodes.
    const auto kill = m_demo->engine().ask(CommandRequest{
        kRunningRun, CommandKind::kKill, {}, "id-1", {"kc", RequestedFrom::kTerminal}});
    QTRY_VERIFY(kill.isFinished());
    QTRY_VERIFY(banner->isVisible());
    QVERIFY2(banner->accessibleName().startsWith("Kill was asked for by kc in a terminal"),
             qPrintable(banner->accessibleName()));
    const auto* events = find<QAbstractItemView>("events");
    const auto newest = [&] { return events->model()->index(0, 0).data().toString(); };
    QTRY_VERIFY2(newest().startsWith("kill, asked for by kc in a terminal: waits"),
                 qPrintable(newest()));
    auto* withdraw = find<QPushButton>("withdrawCommand");
    QTest::mouseClick(withdraw, Qt::LeftButton);
    QTRY_VERIFY(!banner->isVisible());
    QTRY_VERIFY2(newest().contains("withdrawn before a node accepted it"), qPrintable(newest()));
    QVERIFY(find<QWidget>("toast")->accessibleName().contains("kill is withdrawn"));
}

void TestRunPage::moreOffersWhatTheTerminalCan() {
    open(kRunningRun, RunPage::kCharts);
    auto* more = find<QPushButton>("moreRun");
    QTRY_VERIFY(more->isVisible() && more->isEnabled());
    QTest::mouseClick(more, Qt::LeftButton);
    auto* menu = find<QMenu>("moreMenu");
    QTRY_VERIFY(menu->isVisible());
    const QList<QAction*> actions = menu->actions();
    QCOMPARE(actions.size(), 14);
    for (const QAction* action : actions)
        if (action->text().startsWith("Compare"))
            QVERIFY(!action->isVisible()); // it is no branch
    QVERIFY(actions[0]->isEnabled() && actions[1]->isEnabled() && actions[3]->isEnabled());
    QVERIFY(!actions[2]->isEnabled()); // steps are done while it is held
    menu->close();
    actions[3]->trigger();
    QTRY_VERIFY(find<QDialog>("setDialog"));
    auto* value = find<QLineEdit>("settingValue");
    auto* confirm = find<QPushButton>("setConfirm");
    const QString now = value->text();
    QVERIFY(!now.isEmpty() && !confirm->isEnabled());
    value->setText("much");
    QVERIFY(!confirm->isEnabled());
    QVERIFY(find<QLabel>("settingProblem")->text().contains("not a number"));
    value->setText(now + "1");
    QVERIFY(confirm->isEnabled());
    QTest::keyClick(value, Qt::Key_Return);
    QTRY_VERIFY(find<QWidget>("toast")->isVisible()); // the demo has no ranks: it says so
    LiveState live;
    live.held = true;
    m_demo->window().runPage().showLive(live);
    QVERIFY(actions[2]->isEnabled() && actions[0]->isEnabled() && actions[1]->isEnabled());
    actions[2]->trigger();
    QTRY_VERIFY(find<QDialog>("stepDialog"));
    auto* steps = find<QSpinBox>("stepCount");
    QCOMPARE(steps->value(), 1);
    const auto* problem = find<QLabel>("stepProblem");
    auto* step = find<QPushButton>("stepConfirm");
    QVERIFY(step->isEnabled() && !problem->isVisible());
    steps->selectAll();
    QTest::keyClicks(steps, "0");
    QCOMPARE(steps->value(), 0); // it does not become 1 unseen
    QVERIFY(!step->isEnabled() && problem->isVisible());
}

void TestRunPage::aSettingThatALaunchWouldRefuseIsNotSent() {
    open(kRunningRun, RunPage::kCharts);
    const auto refusal = m_demo->engine().ask(
        CommandRequest{kRunningRun, CommandKind::kSet, {{"optimizer.lr", "1e-9"}}});
    QVERIFY(refusal.isFinished() && !refusal.result());
    const std::string why = refusal.result().error().message;
    QVERIFY2(why.find("schedule.min_lr") != std::string::npos, why.c_str());
    QTRY_VERIFY(find<QPushButton>("moreRun")->isEnabled());
    find<QPushButton>("moreRun")->click();
    auto* menu = find<QMenu>("moreMenu");
    QTRY_VERIFY(menu->isVisible());
    menu->close();
    for (QAction* action : menu->actions())
        if (action->text() == "Change a setting")
            action->trigger();
    QTRY_VERIFY(find<QDialog>("setDialog"));
    find<QLineEdit>("settingValue")->setText("1e-9");
    QVERIFY(find<QLabel>("settingProblem")->text().contains("schedule.min_lr"));
    QVERIFY(!find<QPushButton>("setConfirm")->isEnabled());
}

void TestRunPage::aRunThatIsHeldCanBeCheckpointed() {
    open(kRunningRun, RunPage::kCharts);
    auto* checkpoint = find<QPushButton>("checkpointRun");
    QTRY_VERIFY(checkpoint->isVisible());
    LiveState live;
    live.held = true;
    m_demo->window().runPage().showLive(live);
    QVERIFY(checkpoint->isEnabled());
    live.pending = CommandKind::kCheckpoint;
    m_demo->window().runPage().showLive(live);
    QVERIFY(!checkpoint->isEnabled());
}

void TestRunPage::resumeSaysFromWhereAndWhatItRetires() {
    open(kFailedRun, RunPage::kCharts);
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    const StoredCheckpoint newest = (*reader)->checkpoints(kFailedRun).front();
    const Retirement retired = (*reader)->retirementBy(kFailedRun, newest);
    QVERIFY(retired.firstStep == newest.saved.step + 1 && retired.lastStep > retired.firstStep);
    const auto* resume = find<QPushButton>("resumeRun");
    const QString step = formatCount(newest.saved.step);
    QTRY_COMPARE(resume->text(), "Resume from " + step);
    const QString retires = "sets aside " + QString::fromStdString(retirementText(retired));
    QVERIFY2(resume->toolTip().contains(retires), qPrintable(resume->toolTip()));
    find<QPushButton>("resumeRunOn")->click();
    QTRY_VERIFY(find<QDialog>("resumeDialog"));
    QString requested;
    for (const QLabel* label : find<QDialog>("resumeDialog")->findChildren<QLabel*>())
        requested += label->text() + '\n';
    QVERIFY2(requested.contains("from step " + step) && requested.contains(retires),
             qPrintable(requested));
}

void TestRunPage::aKillIsOfferedWhateverIsUnderWay() {
    open(kRunningRun, RunPage::kCharts);
    auto* more = find<QPushButton>("moreRun");
    QTRY_VERIFY(more->isVisible());
    LiveState live;
    live.pending = CommandKind::kPause;
    m_demo->window().runPage().showLive(live);
    QVERIFY(more->isEnabled());
    const QList<QAction*> actions = find<QMenu>("moreMenu")->actions();
    for (const QAction* action : actions)
        QCOMPARE(action->isEnabled(), action->isSeparator() || action->text() == "Kill" ||
                                          action->text() == "Export metrics" ||
                                          action->text() == "Traces" ||
                                          action->text() == "Show its lineage");
    actions.back()->trigger();
    QTRY_VERIFY(find<QPushButton>("killConfirm"));
    QVERIFY(!find<QWidget>("toast")->isVisible()); // nothing is sent before it is confirmed
    live.pending = CommandKind::kKill;
    m_demo->window().runPage().showLive(live);
    QVERIFY(!actions.back()->isEnabled());
}

void TestRunPage::endingARunWithoutACheckpointSaysWhatIsLost() {
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    const QString newest = formatCount((*reader)->checkpoints(kRunningRun).front().saved.step);
    const QString steps = formatCount((*reader)->run(kRunningRun)->step);
    open(kRunningRun, RunPage::kCharts);
    QTRY_VERIFY(find<QPushButton>("stopRun")->isVisible());
    const auto saidByKill = [&] {
        find<QMenu>("moreMenu")->actions().back()->trigger();
        const QString said = textsOf("killDialog");
        delete find<QDialog>("killDialog");
        return said;
    };
    QString said = saidByKill();
    QVERIFY2(said.contains("Steps after " + newest) && said.contains("can be resumed from that"),
             qPrintable(said));
    find<QPushButton>("stopRun")->click();
    said = textsOf("stopDialog");
    QVERIFY2(said.contains("Steps after " + newest), qPrintable(said));
    forgetCheckpoints(kRunningRun);
    const QString lost = "It has no checkpoint: all " + steps +
                         " steps are lost, and it cannot be resumed, only launched again.";
    QTRY_VERIFY2((said = textsOf("stopDialog")).contains(lost), qPrintable(said));
    delete find<QDialog>("stopDialog");
    said = saidByKill();
    QVERIFY2(said.contains(lost), qPrintable(said));
}

void TestRunPage::commandsAreListedAndWithdrawn() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo,
                                             WindowFixture::Access::kWrite);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    open(kRunningRun, RunPage::kCharts);
    auto* open = find<QPushButton>("showCommands");
    QTRY_VERIFY(open->isVisible());
    open->click();
    const auto* table = find<QTableView>("commandsTable");
    QVERIFY(table);
    const auto cell = [&](int column) {
        return table->model()->index(0, column).data().toString();
    };
    // Its nodes are not in the list of nodes.
    const auto kill = m_demo->engine().ask(CommandRequest{
        kRunningRun, CommandKind::kKill, {}, "id-1", {"kc", RequestedFrom::kTerminal}});
    QTRY_COMPARE(cell(0), QString("Kill"));
    QCOMPARE(cell(2), QString("kc in a terminal"));
    QTRY_COMPARE(cell(3), QString("Waits for a node to accept it"));
    auto* withdraw = find<QPushButton>("withdrawChosen");
    QVERIFY(!withdraw->isEnabled());
    find<QTableView>("commandsTable")->selectRow(0);
    QTRY_VERIFY(withdraw->isEnabled());
    withdraw->click();
    QTRY_VERIFY2(cell(3).contains("withdrawn", Qt::CaseInsensitive), qPrintable(cell(3)));
    QVERIFY(!withdraw->isEnabled());
}

/// The paused run, with a change at step 2,100 and the checkpoint from before it.
void TestRunPage::storeChange() const {
    const int64_t now = wallNowNs();
    store(kPausedRun, CheckpointSaved{2'100, now - 3, "/runs/step-000002100", 100, 5,
                                      "before set lr", 2.0, false});
    store(kPausedRun, SettingsChanged{2'100, now - 2, {{"optimizer.lr", 0.0003}}});
    store(kPausedRun, CommandApplied{"set-1", "set", 2'100, now - 1, true, "lr 0.0005 -> 0.0003"});
}

void TestRunPage::aChangeOfASettingIsTakenBackFromItsEvent() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    open(kPausedRun, RunPage::kCharts);
    storeChange();
    auto* events = find<QListView>("events");
    const auto rowOfChange = [&] {
        for (int row = 0; row < events->model()->rowCount(); ++row)
            if (events->model()->index(row, 0).data().toString().startsWith("lr 0.0005 -> 0.0003"))
                return events->model()->index(row, 0);
        return QModelIndex();
    };
    QTRY_VERIFY(rowOfChange().isValid());
    events->scrollTo(rowOfChange());
    const QPoint at = events->visualRect(rowOfChange()).center();
    QContextMenuEvent click(QContextMenuEvent::Mouse, at, events->viewport()->mapToGlobal(at));
    QApplication::sendEvent(events->viewport(), &click);
    QTRY_VERIFY(m_demo->window().findChild<QAction*>("revertChange"));
    m_demo->window().findChild<QAction*>("revertChange")->trigger();
    QTRY_VERIFY(find<QDialog>("revertDialog"));
    // It has ended, so that no rank could set it back.
    QVERIFY(!find<QPushButton>("revertSetBack")->isEnabled());
    QVERIFY(find<QLabel>("revertSetBackProblem")->text().contains("paused"));
    auto* back = find<QPushButton>("revertGoBack");
    QVERIFY(back->isEnabled());
    back->click();
    QTRY_VERIFY(find<QWidget>("toast")->isVisible()); // the demo has no nodes: it says so
}

void TestRunPage::aChangeOfASettingIsTakenBackFromTheCommands() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    open(kPausedRun, RunPage::kCharts);
    storeChange();
    auto* showCommands = find<QPushButton>("showCommands");
    QTRY_VERIFY(showCommands->isVisible());
    showCommands->click();
    auto* table = find<QTableView>("commandsTable");
    auto* revert = find<QPushButton>("revertChosen");
    QVERIFY(!revert->isEnabled());
    const auto isListed = [&] { return table->model()->index(0, 0).data().toString() == "Set"; };
    QTRY_VERIFY(isListed());
    table->selectRow(0);
    QTRY_VERIFY(revert->isEnabled());
    revert->click();
    QTRY_VERIFY(find<QDialog>("revertDialog"));
    QVERIFY(find<QPushButton>("revertGoBack")->isEnabled());
}

void TestRunPage::everySampleIsExported() {
    open(kFinishedRun, RunPage::kCharts);
    auto* more = find<QPushButton>("moreRun");
    QTRY_VERIFY(more->isVisible());
    QList<QAction*> offered = find<QMenu>("moreMenu")->actions();
    offered.removeIf([](const QAction* action) { return !action->isVisible(); });
    offered.removeIf([](const QAction* action) { return action->isSeparator(); });
    QCOMPARE(offered.size(),
             5); // of what is over, others show its lineage, traces, or launch it again
    offered.front()->trigger();
    auto* dialog = find<QFileDialog>("metricsExportDialog");
    QVERIFY(dialog);
    QTemporaryDir folder;
    const QString path = folder.filePath("run.csv");
    dialog->selectFile(path);
    QVERIFY(QMetaObject::invokeMethod(dialog, "accept"));
    QTRY_VERIFY_WITH_TIMEOUT(find<QWidget>("toast")->accessibleName().contains(path), 20'000);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray written = file.readAll();
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    std::ostringstream whole;
    QVERIFY(exportCsv(**reader, {kFinishedRun}, whole));
    QCOMPARE(written, QByteArray::fromStdString(whole.str()));
}

void TestRunPage::aCheckpointSaysThatItIsRemovedNext() {
    open(kRunningRun, RunPage::kCheckpoints);
    const auto* table = find<QTableView>("checkpointsTable");
    const auto saying = [&] {
        int rows = 0;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            rows += table->model()
                        ->index(row, CheckpointsModel::kBecause)
                        .data()
                        .toString()
                        .endsWith("; removed next");
        return rows;
    };
    QTRY_VERIFY(table->model()->rowCount() > 3);
    QTRY_VERIFY(saying() > 0);
    QVERIFY(saying() <= table->model()->rowCount() - 2); // the newest two stay
    open(kPausedRun, RunPage::kCheckpoints);             // saves none
    QTRY_VERIFY(table->model()->rowCount() > 0);
    QTRY_COMPARE(saying(), 0);
}

QTEST_MAIN(TestRunPage)
#include "tst_run_page.moc"
