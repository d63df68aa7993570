// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "app/ui/look/format.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QWindow>

using namespace rm;
using namespace rm::test;

namespace {

constexpr const char* kCharts[] = {"chartLoss",     "chartQuality",    "chartLr",
                                   "chartGradNorm", "chartThroughput", "chartPhases"};

double widthOf(const ChartView& view) {
    return view.high - view.low;
}

bool sameRange(const ChartView& a, const ChartView& b) {
    return a.map == b.map && a.low == b.low && a.high == b.high;
}

} // namespace

/// Pointing at the charts of a run.
class TestCharts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void aChartShowsThatItHasTheFocus();
    void aDragZoomsAllCharts();
    void aDragToTheLeftZoomsAsWell();
    void aDoubleClickShowsAllAgain();
    void followShowsAllAgain();
    void aClickIsNoZoom();
    void aZoomHasSomeSteps();
    void anEventMovesTheChartsToItsStep();
    void anEventMovesZoomedChartsWithoutChangingTheZoom();
    void anEventMovesTheChartsToItsTime();
    void anEventWithoutAStepIsFoundByItsTime();
    void returnChoosesAnEventToo();
    void theHeatMapShowsTheTimeOfTheCharts();
    void theHeatMapOfAWholeRunLeavesOutItsPause();
    void aClickOnAMarkChoosesItsEvent();
    void aStepLeadsToItsLogAndALineToTheCharts();
    void theOtherTabsShowTheStepsOfAZoom();
    void aZoomKeepsItsStepsOnAnotherAxis();
    void aChartBranchesFromTheCheckpointBeforeThePointer();
    void theControlsStayWhereTheyAre();
    void valuesUnderThePointerStayWhileChartsAreReadAnew();
    void valuesUnderThePointerAreOfOneStepInAllCharts();
    void aRunWithoutEpochsSaysSo();
    void whatARunIsMeasuredByFollowsFromItsWork_data();
    void whatARunIsMeasuredByFollowsFromItsWork();
    void theMenuKeyOpensTheMenuOfTheChartWithTheFocus();
    void theHeatMapIsATableToo();
    void aChartIsExported_data();
    void aChartIsExported();
    void anExportTakesNoRangeThatIsNone();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().runPage().findChild<T*>(name);
    }
    template <class T>
    T* inWindow(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    void open(const QString& run) const;
    const ChartView& view() const { return find<LineChart>("chartLoss")->view(); }
    const HeatData& heat() const { return find<HeatMap>("heatMap")->data(); }
    bool allShow(const ChartView& view) const;
    bool isSettled() const;
    void drag(double from, double to) const;
    QModelIndex eventLike(const QString& text) const;
    void clickEvent(const QString& text) const;
    void pointAt(double step) const; ///< in the chart of the loss
    QAction* menuAction(const char* name) const;
    void trigger(QAction* action) const; ///< and closes its menu

    std::unique_ptr<WindowFixture> m_demo;
    ChartView m_whole;
};

void TestCharts::initTestCase() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().resize(1440, 900);
}

void TestCharts::init() {
    open(kFailedRun); // so that the other one is shown afresh
    open(kRunningRun);
    m_whole = view();
}

void TestCharts::open(const QString& run) const {
    m_demo->window().showRun(run);
    m_demo->window().runPage().showTab(RunPage::kCharts);
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kStep));
    QTRY_VERIFY(isSettled() && heat().endNs > 0);
}

/// The charts show what there is, up to its end.
bool TestCharts::isSettled() const {
    const auto& curves = find<LineChart>("chartLoss")->curves();
    return !curves.empty() && !curves.front().x.isEmpty() &&
           curves.front().x.back() <= view().high && curves.front().x.back() > view().high * 0.9;
}

bool TestCharts::allShow(const ChartView& wanted) const {
    return std::ranges::all_of(kCharts, [&](const char* name) {
        const auto* chart = find<LineChart>(name); // a run has charts of what it reports
        return !chart || sameRange(chart->view(), wanted);
    });
}

/// Over the loss, from and to a share of its width.
void TestCharts::drag(double from, double to) const {
    auto* plot = find<LineChart>("chartLoss")->findChild<QWidget*>("plot");
    const auto at = [plot](double share) {
        return QPoint(static_cast<int>(plot->width() * share), plot->height() / 2);
    };
    QTest::mousePress(plot, Qt::LeftButton, {}, at(from));
    QTest::mouseMove(plot, at((from + to) / 2));
    QTest::mouseMove(plot, at(to));
    QTest::mouseRelease(plot, Qt::LeftButton, {}, at(to));
}

QModelIndex TestCharts::eventLike(const QString& text) const {
    const QAbstractItemModel& model = *find<QAbstractItemView>("events")->model();
    for (int row = 0; row < model.rowCount(); ++row)
        if (model.index(row, 0).data().toString().contains(text))
            return model.index(row, 0);
    return {};
}

void TestCharts::clickEvent(const QString& text) const {
    QTRY_VERIFY(eventLike(text).isValid());
    auto* view = find<QAbstractItemView>("events");
    view->scrollTo(eventLike(text));
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {},
                      view->visualRect(eventLike(text)).center());
}

void TestCharts::aChartShowsThatItHasTheFocus() {
    auto* loss = find<LineChart>("chartLoss");
    auto* rate = find<LineChart>("chartLr");
    const auto isMarked = [](const QWidget* card) { return card->property("focused").toBool(); };
    for (auto* chart : {loss, rate}) {
        chart->findChild<QWidget*>("plot")->setFocus();
        QTRY_VERIFY(isMarked(chart));
        QVERIFY(!isMarked(chart == loss ? rate : loss));
    }
}

void TestCharts::aDragZoomsAllCharts() {
    drag(0.3, 0.6);
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    const double share = widthOf(view()) / widthOf(m_whole);
    QVERIFY2(share > 0.28 && share < 0.36, qPrintable(QString::number(share)));
    QVERIFY(view().low > m_whole.low && view().high < m_whole.high);
    QTRY_VERIFY(allShow(view()));
    QVERIFY(!find<QPushButton>("follow")->isChecked());
    const QVector<double>& x = find<LineChart>("chartLoss")->curves().front().x;
    QVERIFY(x.size() > 200 && x.back() >= view().high); // read anew, finer
}

void TestCharts::aDragToTheLeftZoomsAsWell() {
    drag(0.6, 0.3);
    QTRY_VERIFY(widthOf(view()) < 0.5 * widthOf(m_whole));
    QVERIFY(view().low > m_whole.low && view().high < m_whole.high && view().low < view().high);
    QTRY_VERIFY(allShow(view()));
}

void TestCharts::aDoubleClickShowsAllAgain() {
    drag(0.3, 0.6);
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    auto* plot = find<LineChart>("chartGradNorm")->findChild<QWidget*>("plot");
    QTest::mouseDClick(plot, Qt::LeftButton, {}, plot->rect().center());
    QTRY_VERIFY(allShow(m_whole));
    QVERIFY(find<QPushButton>("follow")->isChecked());
}

void TestCharts::followShowsAllAgain() {
    drag(0.3, 0.6);
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    QTest::mouseClick(find<QPushButton>("follow"), Qt::LeftButton);
    QTRY_VERIFY(allShow(m_whole));
}

void TestCharts::aClickIsNoZoom() {
    drag(0.4, 0.401);
    QVERIFY(find<QPushButton>("follow")->isChecked());
    QVERIFY(allShow(m_whole));
}

void TestCharts::aZoomHasSomeSteps() {
    auto* loss = find<LineChart>("chartLoss");
    Q_EMIT loss->zoomRequested(100.2, 100.4);
    QTRY_VERIFY(widthOf(view()) < 10);
    QVERIFY(widthOf(view()) >= 4 - 1e-6 && view().low < 100.2 && view().high > 100.4);
    QTRY_VERIFY(find<LineChart>("chartLoss")->curves().front().x.size() > 1);
    Q_EMIT loss->resetRequested();
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kRelative));
    QTRY_VERIFY(view().map.axis == XAxis::kRelative && isSettled());
    Q_EMIT loss->zoomRequested(100.0, 100.01);
    constexpr double kStep = 0.085; // of this demo run
    QTRY_VERIFY2(widthOf(view()) < 6 * kStep, qPrintable(QString::number(widthOf(view()))));
    QVERIFY(widthOf(view()) > 3 * kStep);
    Q_EMIT loss->resetRequested();
}

void TestCharts::anEventMovesTheChartsToItsStep() {
    clickEvent("lr 0.0005 -> 0.0003");
    QTRY_VERIFY(view().low < 4310 && view().high > 4310 && widthOf(view()) < widthOf(m_whole) / 5);
    QTRY_VERIFY(allShow(view()));
    QVERIFY(!find<QPushButton>("follow")->isChecked());
}

void TestCharts::anEventMovesZoomedChartsWithoutChangingTheZoom() {
    drag(0.3, 0.6);
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    const double width = widthOf(view());
    clickEvent("checkpoint 1");
    QTRY_VERIFY(view().low <= 1000 && view().high > 1000);
    QVERIFY(std::abs(widthOf(view()) - width) < 1e-6 * width);
}

void TestCharts::anEventMovesTheChartsToItsTime() {
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kRelative));
    QTRY_VERIFY(view().map.axis == XAxis::kRelative && isSettled());
    const ChartView whole = view();
    clickEvent("lr 0.0005 -> 0.0003");
    constexpr double kSeconds = 4310 * 0.085; // since the start of this demo run
    QTRY_VERIFY(view().low < kSeconds && view().high > kSeconds &&
                widthOf(view()) < widthOf(whole) / 5);
}

void TestCharts::anEventWithoutAStepIsFoundByItsTime() {
    open(kFailedRun);
    clickEvent("rank 6 on node-b");
    QTRY_VERIFY(view().low > 900 && view().high > 1129);
    QTRY_VERIFY(allShow(view()));
}

void TestCharts::returnChoosesAnEventToo() {
    QTRY_VERIFY(eventLike("lr 0.0005 -> 0.0003").isValid());
    auto* events = find<QAbstractItemView>("events");
    events->setFocus();
    events->setCurrentIndex(eventLike("lr 0.0005 -> 0.0003"));
    QTest::keyClick(events, Qt::Key_Return);
    QTRY_VERIFY(view().low < 4310 && view().high > 4310 && widthOf(view()) < widthOf(m_whole) / 5);
}

void TestCharts::theHeatMapShowsTheTimeOfTheCharts() {
    const HeatData whole = heat();
    drag(0.1, 0.4);
    QTRY_VERIFY(heat().endNs < whole.endNs && widthOf(view()) < widthOf(m_whole));
    const double seconds = static_cast<double>(lengthOf(heat().trained)) / 1e9;
    const double trained = widthOf(view()) * 0.085; // the demo's time of a step
    QVERIFY2(std::abs(seconds - trained) < 0.1 * trained, qPrintable(QString::number(seconds)));
    for (const std::vector<double>& row : heat().cells)
        QVERIFY(std::ranges::all_of(row, [](double cell) { return cell > 0.5 && cell <= 1; }));
    QTest::mouseClick(find<QPushButton>("follow"), Qt::LeftButton);
    QTRY_COMPARE(heat().endNs, whole.endNs);
    QCOMPARE(heat().trained, whole.trained);
}

void TestCharts::theHeatMapOfAWholeRunLeavesOutItsPause() {
    // 6 000 steps that count, six minutes and 240 steps that do not, and the steps since.
    const double seconds = static_cast<double>(lengthOf(heat().trained)) / 1e9;
    QVERIFY2(std::abs(seconds - (6000 + 3412) * 0.085) < 10, qPrintable(QString::number(seconds)));
    QCOMPARE(find<HeatMap>("heatMap")->gapTexts().size(), 1);
    QVERIFY(find<HeatMap>("heatMap")->gapTexts().front().contains("6 min"));
    for (const std::vector<double>& row : heat().cells)
        QVERIFY(std::ranges::none_of(row, [](double cell) { return std::isnan(cell); }));
}

void TestCharts::pointAt(double step) const {
    auto* loss = find<LineChart>("chartLoss");
    auto* plot = loss->findChild<QWidget*>("plot");
    const QPoint at(loss->pixelOf(step, 1).x(), plot->height() / 2);
    QMouseEvent move(QEvent::MouseMove, at, plot->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(plot, &move);
}

/// Of the chart's menu, which is opened for it.
QAction* TestCharts::menuAction(const char* name) const {
    auto* loss = find<LineChart>("chartLoss");
    auto* plot = loss->findChild<QWidget*>("plot"); // which is most of the card
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(50, 50),
                            plot->mapToGlobal(QPoint(50, 50)));
    QCoreApplication::sendEvent(plot, &event);
    return loss->findChild<QAction*>(name);
}

void TestCharts::trigger(QAction* action) const {
    const QPointer<QMenu> menu = qobject_cast<QMenu*>(action->parent());
    action->trigger();
    if (menu)
        menu->close();
    QTRY_VERIFY(!QApplication::activePopupWidget());
}

void TestCharts::aClickOnAMarkChoosesItsEvent() {
    auto* loss = find<LineChart>("chartLoss");
    QTRY_VERIFY(!loss->lineMarks().empty());
    const Mark mark = loss->lineMarks().front();
    Q_EMIT loss->markClicked(mark.step);
    auto* events = find<QAbstractItemView>("events");
    QTRY_VERIFY(events->currentIndex().isValid());
    const QString event = events->currentIndex().data().toString();
    QVERIFY2(event == mark.text || event.contains(formatCount(mark.step)), qPrintable(event));
}

void TestCharts::aStepLeadsToItsLogAndALineToTheCharts() {
    const double step = std::floor(view().high / 2);
    pointAt(step);
    QAction* action = menuAction("logAtStep");
    QVERIFY(action);
    trigger(action);
    auto* text = find<QPlainTextEdit>("logText");
    QTRY_VERIFY(text->isVisible() && !text->extraSelections().isEmpty());
    QVERIFY(!find<QCheckBox>("logFollow")->isChecked());
    // The line came when the step was done, or after it, and the one before it earlier.
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    const auto done = (*reader)->points(kRunningRun, {"train/loss", 0}, 0, qRound64(step));
    const QTextBlock line = text->textCursor().block();
    const int64_t ms = 1'000'000; // the log's lines have these
    QVERIFY2(line.text() >= formatTime(done.back().wallNs), qPrintable(line.text()));
    QVERIFY(line.previous().text() <= formatTime(done.back().wallNs + 1000 * ms));
    Q_EMIT text->customContextMenuRequested(text->cursorRect().center());
    auto* back = text->findChild<QAction*>("showInCharts");
    QVERIFY(back && back->isEnabled());
    const LogPage lines = (*reader)->logFrom(kRunningRun, {}, done.back().wallNs, 0, 1);
    const auto there = stepAt(**reader, kRunningRun, lines.lines.front().wallNs);
    trigger(back);
    QTRY_VERIFY(find<LineChart>("chartLoss")->isVisible());
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    QVERIFY(there && view().low <= static_cast<double>(*there) &&
            static_cast<double>(*there) <= view().high);
}

void TestCharts::theOtherTabsShowTheStepsOfAZoom() {
    auto* shown = find<QPushButton>("shownSteps");
    drag(0.3, 0.5);
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    const auto first = static_cast<int64_t>(std::ceil(view().low));
    const auto last = static_cast<int64_t>(std::floor(view().high));
    QVERIFY(!shown->isVisible()); // the charts say it themselves

    m_demo->window().runPage().showTab(RunPage::kRanks);
    QTRY_VERIFY(shown->isVisible());
    QVERIFY2(shown->text().contains(formatCount(first)) &&
                 shown->text().contains(formatCount(last)),
             qPrintable(shown->text()));
    QTRY_VERIFY(find<QLabel>("slowTitle")->text().contains(formatCount(first)));
    const auto* ranks = find<QAbstractItemView>("ranksTable")->model();
    const auto stateTitle = [ranks] { return ranks->headerData(2, Qt::Horizontal).toString(); };
    QTRY_COMPARE(stateTitle(), "State now"); // beside figures of then

    m_demo->window().runPage().showTab(RunPage::kLogs);
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    const auto there = stepsOfRun(**reader, kRunningRun, StepSpan{first, last});
    QVERIFY(there);
    LogChoice choice;
    choice.sinceNs = there->times.firstNs;
    choice.untilNs = there->times.lastNs;
    const LogPage lines = (*reader)->logTail(kRunningRun, choice, 5000);
    QVERIFY(!lines.lines.empty());
    const auto* text = find<QPlainTextEdit>("logText");
    QTRY_VERIFY(text->blockCount() > 1 && text->document()->lastBlock().text().contains(
                                              QString::fromStdString(lines.lines.back().text)));
    QCOMPARE(text->document()->firstBlock().text().contains(
                 QString::fromStdString(lines.lines.front().text)),
             true);

    m_demo->window().runPage().showTab(RunPage::kCheckpoints);
    QTRY_COMPARE(find<LineChart>("chartCheckpoints")->view().low, static_cast<double>(first));
    const auto isAt = [this](int64_t step) {
        const auto* table = find<QAbstractItemView>("checkpointsTable");
        return table->currentIndex().siblingAtColumn(0).data().toString() == formatCount(step);
    };
    const auto checkpoints = (*reader)->checkpoints(kRunningRun); // newest first
    const auto newestOf = [&](const StepSpan& steps) {
        const auto found = std::ranges::find_if(checkpoints, [&](const StoredCheckpoint& each) {
            return !each.removed && each.retiredBy == 0 && steps.holds(each.saved.step);
        });
        return found == checkpoints.end() ? int64_t(-1) : found->saved.step;
    };
    QVERIFY(newestOf({first, last}) > 0 && newestOf({first, last}) != newestOf({}));
    QTRY_VERIFY(isAt(newestOf({first, last})));

    QTest::mouseClick(shown, Qt::LeftButton);
    QVERIFY(!shown->isVisible());
    QTRY_VERIFY(isAt(newestOf({})));
    const LogPage all = (*reader)->logTail(kRunningRun, {}, 1);
    QTRY_VERIFY(text->document()->lastBlock().text().contains(
        QString::fromStdString(all.lines.back().text)));
    m_demo->window().runPage().showTab(RunPage::kCharts);
    QTRY_VERIFY(sameRange(view(), m_whole));
    QVERIFY(find<QPushButton>("follow")->isChecked());
}

void TestCharts::aZoomKeepsItsStepsOnAnotherAxis() {
    drag(0.3, 0.5);
    QTRY_VERIFY(widthOf(view()) < widthOf(m_whole));
    const double first = std::ceil(view().low), last = std::floor(view().high);
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    auto* axis = find<QComboBox>("chartsAxis");
    for (const XAxis each : {XAxis::kRelative, XAxis::kWork, XAxis::kWall, XAxis::kStep}) {
        axis->setCurrentIndex(static_cast<int>(each));
        const auto steps = [&] {
            const auto span =
                spanBetween(**reader, kRunningRun, view().map, view().low, view().high);
            return span ? span->steps : StepSpan();
        };
        QTRY_VERIFY(view().map.axis == each && allShow(view()));
        QTRY_COMPARE(steps(), (StepSpan{static_cast<int64_t>(first), static_cast<int64_t>(last)}));
    }
    QCOMPARE(view().low, first);
    QCOMPARE(view().high, last);
    QVERIFY(!find<QPushButton>("follow")->isChecked());
    Q_EMIT find<LineChart>("chartLoss")->resetRequested();
    QTRY_VERIFY(sameRange(view(), m_whole));
}

void TestCharts::aChartBranchesFromTheCheckpointBeforeThePointer() {
    pointAt(view().high * 0.9);
    QAction* action = menuAction("branchAtStep");
    QVERIFY(action);
    QVERIFY2(action->text().contains("Branch"), qPrintable(action->text()));
    const auto* restore = find<LineChart>("chartLoss")->findChild<QAction*>("restoreAtStep");
    QVERIFY(restore && !restore->isEnabled()); // it runs
    QSignalSpy asked(&m_demo->window().runPage(), &RunPage::branchRequested);
    trigger(action);
    QTRY_COMPARE(asked.size(), 1);
}

void TestCharts::theControlsStayWhereTheyAre() {
    const auto places = [this] {
        QList<QRect> all;
        for (const char* name : {"chartsSmoothing", "chartsAxis", "chartsLog", "follow"})
            all << find<QWidget>(name)->geometry();
        return all;
    };
    const QList<QRect> before = places();
    QTest::mouseClick(find<QPushButton>("chartsLog"), Qt::LeftButton);
    QTRY_VERIFY(view().logY);
    QCOMPARE(places(), before);
    find<QSlider>("chartsSmoothing")->setValue(0);
    QTRY_VERIFY(find<LineChart>("chartLoss")->curves().front().window == 0);
    QCOMPARE(places(), before);
    find<QSlider>("chartsSmoothing")->setValue(93);
    QTest::mouseClick(find<QPushButton>("chartsLog"), Qt::LeftButton);
    QTRY_VERIFY(!view().logY);
}

/// As they come again and again while a run goes on.
void TestCharts::valuesUnderThePointerStayWhileChartsAreReadAnew() {
    const auto smooth = [this](int percent) {
        const auto* loss = find<LineChart>("chartLoss");
        const double before = loss->curves().front().window;
        find<QSlider>("chartsSmoothing")->setValue(percent);
        QTRY_VERIFY(loss->curves().front().window != before);
    };
    smooth(94);
    auto* plot = find<LineChart>("chartLr")->findChild<QWidget*>("plot");
    QTest::mouseMove(plot, QPoint(plot->width() / 3, plot->height() / 2));
    for (const char* name :
         {"chartLoss", "chartLr"}) // what was measured there comes a moment later
        QTRY_VERIFY(find<LineChart>(name)->isExact());
    const QStringList lossThere = find<LineChart>("chartLoss")->values();
    const QStringList lrThere = find<LineChart>("chartLr")->values();
    smooth(80);
    QVERIFY(find<LineChart>("chartLoss")->values() != lossThere);
    QCOMPARE(find<LineChart>("chartLr")->values(), lrThere);
    smooth(94);
    QCOMPARE(find<LineChart>("chartLoss")->values(), lossThere);
    smooth(93);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(plot, &leave);
    QVERIFY(find<LineChart>("chartLr")->values() != lrThere);
}

/// More steps than pixels, so that each drawn point stands for several.
void TestCharts::valuesUnderThePointerAreOfOneStepInAllCharts() {
    auto* plot = find<LineChart>("chartLoss")->findChild<QWidget*>("plot");
    QTest::mouseMove(plot, QPoint(plot->width() / 3 + 5, plot->height() / 2));
    const auto step = find<LineChart>("chartLoss")->pointedStep();
    QVERIFY(step);
    const auto reader = StoreReader::open(m_demo->paths().database());
    QVERIFY(reader);
    const auto measured = [&](const char* metric, int rank) {
        const auto points =
            (*reader)->points(kRunningRun, {metric, rank}, qRound64(*step), qRound64(*step));
        return points.size() == 1 ? static_cast<double>(points[0].value) : qQNaN();
    };
    for (const char* name : {"chartLr", "chartGradNorm", "chartThroughput", "chartPhases"})
        QCOMPARE(find<LineChart>(name)->pointedStep(), step);
    const auto* rates = find<LineChart>("chartThroughput");
    QCOMPARE(rates->curves().size(), size_t(8));
    const auto* lr = find<LineChart>("chartLr");
    QTRY_COMPARE(lr->shownValue(lr->curves().front()), measured("train/lr", 0));
    for (int rank = 0; rank < 8; ++rank)
        QTRY_COMPARE(rates->shownValue(rates->curves()[static_cast<size_t>(rank)]),
                     measured("train/tokens_per_s", rank));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(plot, &leave);
    QVERIFY(!lr->pointedStep());
}

void TestCharts::aRunWithoutEpochsSaysSo() {
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kEpoch));
    QTRY_VERIFY(find<LineChart>("chartLoss")->curves().empty());
    const auto* plot = find<LineChart>("chartLoss")->findChild<QWidget*>("plot");
    QTRY_VERIFY2(plot->accessibleDescription().contains("train.epochs"),
                 qPrintable(plot->accessibleDescription()));
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kWork));
    QTRY_VERIFY(!find<LineChart>("chartLoss")->curves().empty());
    const Curve& loss = find<LineChart>("chartLoss")->curves().front();
    QVERIFY(loss.x.back() > 100 * loss.steps.back());
    QVERIFY(find<LineChart>("chartLoss")->view().high >= loss.x.back());
}

void TestCharts::whatARunIsMeasuredByFollowsFromItsWork_data() {
    QTest::addColumn<QString>("run");
    QTest::addColumn<QString>("figure");
    QTest::addColumn<QString>("throughput");
    QTest::addColumn<QString>("quality");
    QTest::newRow("language") << kFailedRun << "Tokens/s"
                              << "Tokens a second, by rank"
                              << "";
    QTest::newRow("translation") << kRunningRun << "Tokens/s"
                                 << "Tokens a second, by rank"
                                 << "Validation: BLEU · chrF";
    QTest::newRow("pictures") << kPicturesRun << "Images/s"
                              << "Pictures a second, by rank"
                              << "Validation: Top-1 accuracy · Top-5 accuracy";
}

void TestCharts::whatARunIsMeasuredByFollowsFromItsWork() {
    QFETCH(QString, run);
    QFETCH(QString, figure);
    QFETCH(QString, throughput);
    QFETCH(QString, quality);
    open(run);
    QTRY_VERIFY(find<QWidget>("figureThroughput")->accessibleName().startsWith(figure + ": "));
    QVERIFY(!find<QWidget>("figureThroughput")->accessibleName().contains(kAbsent));
    QTRY_COMPARE(find<LineChart>("chartThroughput")->accessibleName(), throughput);
    QVERIFY(!find<LineChart>("chartThroughput")->curves().front().x.isEmpty());
    QTRY_COMPARE(find<LineChart>("chartQuality") != nullptr, !quality.isEmpty());
    const auto* chart = find<LineChart>("chartQuality");
    if (!chart)
        return;
    QTRY_COMPARE(chart->accessibleName(), quality);
    QTRY_VERIFY(chart->isVisible() && !chart->curves().empty());
    for (const Curve& curve : chart->curves())
        QVERIFY2(curve.x.size() > 2, qPrintable(curve.name));
}

void TestCharts::theMenuKeyOpensTheMenuOfTheChartWithTheFocus() {
    auto* lr = find<LineChart>("chartLr");
    lr->findChild<QWidget*>("plot")->setFocus();
    // As Qt hands it on to the widget with the focus.
    QContextMenuEvent key(QContextMenuEvent::Keyboard, QPoint(5, 5), {});
    QCoreApplication::sendEvent(m_demo->window().focusWidget(), &key);
    auto* menu = lr->findChild<QMenu*>();
    QVERIFY(menu && menu->isVisible());
    QVERIFY(lr->findChild<QAction*>("exportChart"));
    menu->close();
    QTRY_VERIFY(!QApplication::activePopupWidget());
}

void TestCharts::theHeatMapIsATableToo() {
    auto* heat = find<HeatMap>("heatMap");
    QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(50, 50),
                            heat->mapToGlobal(QPoint(50, 50)));
    QCoreApplication::sendEvent(heat, &event);
    trigger(heat->findChild<QAction*>("showHeatTable"));
    auto* dialog = heat->findChild<QDialog*>("tableTwinDialog");
    QVERIFY(dialog);
    const auto* rows = dialog->findChild<QAbstractItemView*>("tableTwin")->model();
    const HeatData& data = heat->data();
    QCOMPARE(rows->columnCount(), static_cast<int>(data.cells.size()) + 1);
    QCOMPARE(rows->rowCount(), static_cast<int>(data.cells.front().size()));
    QCOMPARE(rows->headerData(1, Qt::Horizontal).toString(), data.labels.front());
    QVERIFY(!rows->index(0, 1).data().toString().isEmpty());
    dialog->close();
    QTRY_VERIFY(!heat->findChild<QDialog*>("tableTwinDialog"));
}

void TestCharts::aChartIsExported_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<QByteArray>("begin");
    QTest::addColumn<QByteArray>("inside");
    QTest::newRow("png") << 0 << QByteArray("\x89PNG") << QByteArray("IHDR");
    QTest::newRow("svg") << 1 << QByteArray("<?xml") << QByteArray("Loss");
    QTest::newRow("pdf") << 2 << QByteArray("%PDF-") << QByteArray("endobj");
    QTest::newRow("csv") << 3 << QByteArray("metric,rank,step,wall_time,value\n")
                         << QByteArray("train/loss,0,200,");
}

void TestCharts::aChartIsExported() {
    QFETCH(int, format);
    QFETCH(QByteArray, begin);
    QFETCH(QByteArray, inside);
    QTRY_VERIFY(find<LineChart>("chartLoss")->curves().size() > 1); // with the validation
    trigger(menuAction("exportChart"));
    QTRY_VERIFY(inWindow<QDialog>("chartExportDialog"));
    inWindow<QComboBox>("chartExportFormat")->setCurrentIndex(format);
    inWindow<QLineEdit>("chartExportFirst")->setText("100");
    inWindow<QLineEdit>("chartExportLast")->setText("200");
    inWindow<QCheckBox>("chartExport.validation/loss")->setChecked(false);
    inWindow<QPushButton>("chartExportConfirm")->click();
    QTRY_VERIFY(inWindow<QFileDialog>("chartExportFileDialog"));
    QTemporaryDir folder;
    const QString path = folder.filePath("chart"); // its ending is added
    // selectFile() leaves a name alone that a person may be typing.
    inWindow<QFileDialog>("chartExportFileDialog")
        ->findChild<QLineEdit*>("fileNameEdit")
        ->setText(path);
    QVERIFY(QMetaObject::invokeMethod(inWindow<QFileDialog>("chartExportFileDialog"), "accept"));
    const auto said = [this] { return inWindow<QWidget>("toast")->accessibleName(); };
    QTRY_VERIFY2_WITH_TIMEOUT(said().contains(path), qPrintable(said()), 20'000);
    QFile file(path + '.' + QTest::currentDataTag());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray written = file.readAll();
    QVERIFY2(written.startsWith(begin), written.left(80).constData());
    QVERIFY2(written.contains(inside), written.left(2000).constData());
    QVERIFY(!written.contains("train/loss,0,201,") && !written.contains("validation/loss,"));
    if (format == 0) {
        const QImage image = QImage::fromData(written);
        QVERIFY(image.width() > 1000 && colourCount(image) > 24);
    }
    QTRY_VERIFY(!inWindow<QFileDialog>("chartExportFileDialog"));
}

void TestCharts::anExportTakesNoRangeThatIsNone() {
    trigger(menuAction("exportChart"));
    QTRY_VERIFY(inWindow<QDialog>("chartExportDialog"));
    const auto* confirm = inWindow<QPushButton>("chartExportConfirm");
    QVERIFY(confirm->isEnabled());
    inWindow<QLineEdit>("chartExportFirst")->setText("200");
    inWindow<QLineEdit>("chartExportLast")->setText("100");
    QVERIFY(!confirm->isEnabled());
    inWindow<QLineEdit>("chartExportLast")->setText("x");
    QVERIFY(!confirm->isEnabled());
    inWindow<QLineEdit>("chartExportLast")->clear();
    QVERIFY(confirm->isEnabled());
    inWindow<QDialog>("chartExportDialog")->reject();
    QTRY_VERIFY(!inWindow<QDialog>("chartExportDialog"));
}

QTEST_MAIN(TestCharts)
#include "tst_charts.moc"
