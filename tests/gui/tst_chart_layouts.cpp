// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/chart_layout.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/own_chart_dialog.h"
#include "app/ui/run/run_page.h"
#include "shared/io/file.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAction>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr QPoint kHead(60, 12); ///< of a card, by which it is dragged

/// The card's place on the page, row by row.
std::pair<int, int> placeOf(const QWidget& card) {
    const QPoint at = card.mapTo(card.window(), QPoint(0, 0));
    return {at.y(), at.x()};
}

} // namespace

/// A person arranges the charts of a run.
class TestChartLayouts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void aChartIsDraggedBeforeAnother();
    void aDragThatEndsWhereItBeganChangesNothing();
    void escapeEndsADrag();
    void aChartIsSizedByItsCorner();
    void aChartIsMovedByTheKeyboard();
    void aHiddenChartComesBack();
    void changesAreUndoneAndDoneAgain();
    void aChartOfChosenMetricsAndRanksIsAdded();
    void aMetricOfAllRanksIsAHeatMap();
    void anOwnChartIsChangedAndRemoved();
    void ranksAreListsOfNumbers();
    void anAxisHasItsOwnRangeAndScale();
    void outliersLeaveTheAxis();
    void aChartFillsTheScreenUntilEscape();
    void aChartThatGoesLeavesTheScreen();
    void anotherShapeIsAnotherChart();
    void aLayoutIsOfTheKindOfModel();
    void aLayoutIsKeptUnderAName();
    void aDamagedFileIsSaidAndLeftAlone();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    LineChart* chart(const char* name) const { return find<LineChart>(name); }
    void open(const QString& run) const;
    /// Chooses from the menu of a card.
    void choose(QWidget& card, const char* action) const;
    void chooseLayout(const char* action) const;
    void trigger(const char* action) const;
    void drag(QWidget& card, const QPoint& from, const QPoint& to) const;
    ChartLayout stored(const char* kind) const;

    std::unique_ptr<WindowFixture> m_demo;
};

void TestChartLayouts::initTestCase() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().resize(1440, 900);
}

/// Charts as they come.
void TestChartLayouts::init() {
    QFile::remove(m_demo->paths().config + "/layouts.json");
    open(kPicturesRun); // of another kind, so that its layouts are read anew
    open(kRunningRun);
    QTRY_VERIFY(chart("chartLr"));
}

void TestChartLayouts::open(const QString& run) const {
    m_demo->window().showRun(run);
    m_demo->window().runPage().showTab(RunPage::kCharts);
    QTRY_VERIFY(chart("chartLoss") && !chart("chartLoss")->curves().empty() &&
                !chart("chartLoss")->curves().front().x.isEmpty());
    QTRY_VERIFY(find<HeatMap>("heatMap")->isFilled());
}

void TestChartLayouts::trigger(const char* action) const {
    QTRY_VERIFY2(find<QAction>(action), action);
    auto* chosen = find<QAction>(action);
    QVERIFY2(chosen->isEnabled(), action);
    QMenu* menu = qobject_cast<QMenu*>(chosen->parent());
    chosen->trigger();
    while (menu && qobject_cast<QMenu*>(menu->parent()))
        menu = qobject_cast<QMenu*>(menu->parent());
    if (menu)
        menu->close();
    QTRY_VERIFY2(!find<QAction>(action), action); // the menu is deleted
}

void TestChartLayouts::choose(QWidget& card, const char* action) const {
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(50, 50),
                            card.mapToGlobal(QPoint(50, 50)));
    QCoreApplication::sendEvent(&card, &event);
    trigger(action);
}

void TestChartLayouts::chooseLayout(const char* action) const {
    find<QPushButton>("chartsLayout")->click();
    trigger(action);
}

/// From a place on the card to one in the window.
void TestChartLayouts::drag(QWidget& card, const QPoint& from, const QPoint& to) const {
    const QPoint end = card.mapFromGlobal(m_demo->window().mapToGlobal(to));
    QTest::mousePress(&card, Qt::LeftButton, {}, from);
    for (const int share : {1, 2, 3, 4}) { // as a mouse does, bit by bit
        QMouseEvent move(QEvent::MouseMove, from + (end - from) * share / 4,
                         card.mapToGlobal(from + (end - from) * share / 4), Qt::NoButton,
                         Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&card, &move);
    }
    QTest::mouseRelease(&card, Qt::LeftButton, {}, end);
}

ChartLayout TestChartLayouts::stored(const char* kind) const {
    const auto layouts = readChartLayouts(m_demo->paths());
    const auto found = layouts->inUse.find(kind);
    return found == layouts->inUse.end() ? ChartLayout() : found->second;
}

void TestChartLayouts::aChartIsDraggedBeforeAnother() {
    LineChart* rate = chart("chartLr");
    LineChart* loss = chart("chartLoss");
    QVERIFY(placeOf(*loss) < placeOf(*rate));
    drag(*rate, kHead, loss->mapTo(&m_demo->window(), QPoint(20, 80)));
    QTRY_VERIFY(placeOf(*rate) < placeOf(*loss));
    QCOMPARE(stored("gpt").order.front(), std::string("lr"));
    open(kFailedRun); // of the same kind
    QTRY_VERIFY(placeOf(*chart("chartLr")) < placeOf(*chart("chartLoss")));
}

void TestChartLayouts::aDragThatEndsWhereItBeganChangesNothing() {
    LineChart* loss = chart("chartLoss");
    drag(*loss, kHead, loss->mapTo(&m_demo->window(), kHead + QPoint(30, 4)));
    QTest::mouseClick(loss, Qt::LeftButton, {}, kHead);
    QCOMPARE(stored("gpt"), ChartLayout());
}

void TestChartLayouts::escapeEndsADrag() {
    LineChart* rate = chart("chartLr");
    QTest::mousePress(rate, Qt::LeftButton, {}, kHead);
    QMouseEvent move(QEvent::MouseMove, QPoint(-400, 60), rate->mapToGlobal(QPoint(-400, 60)),
                     Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(rate, &move);
    QTest::keyClick(rate, Qt::Key_Escape);
    QTest::mouseRelease(rate, Qt::LeftButton, {}, QPoint(-400, 60));
    QCOMPARE(stored("gpt"), ChartLayout());
}

void TestChartLayouts::aChartIsSizedByItsCorner() {
    LineChart* rate = chart("chartLr");
    const QSize before = rate->size();
    const QPoint corner(rate->width() - 5, rate->height() - 5);
    drag(*rate, corner,
         rate->mapTo(&m_demo->window(), QPoint(before.width() * 3 / 4, 2 * (168 + 12))));
    QTRY_COMPARE(stored("gpt").styleOf("lr").rows, std::optional(2));
    QCOMPARE(stored("gpt").styleOf("lr").columns, std::optional<int>()); // as before
    QTRY_VERIFY(rate->minimumHeight() > 2 * 160);
}

void TestChartLayouts::aChartIsMovedByTheKeyboard() {
    LineChart* rate = chart("chartLr");
    LineChart* loss = chart("chartLoss");
    auto* plot = rate->findChild<QWidget*>("plot");
    plot->setFocus();
    while (placeOf(*loss) < placeOf(*rate)) {
        const auto before = placeOf(*rate);
        QTest::keyClick(plot, Qt::Key_Left, Qt::AltModifier);
        QTRY_VERIFY(placeOf(*rate) != before);
    }
    QTest::keyClick(plot, Qt::Key_Right, Qt::AltModifier);
    QTRY_VERIFY(placeOf(*loss) < placeOf(*rate));
}

void TestChartLayouts::aHiddenChartComesBack() {
    choose(*chart("chartLr"), "hideChart");
    QTRY_VERIFY(!chart("chartLr"));
    QVERIFY(stored("gpt").styleOf("lr").isHidden);
    find<QPushButton>("chartsLayout")->click();
    QTRY_VERIFY(find<QMenu>("hiddenCharts"));
    const QList<QAction*> hidden = find<QMenu>("hiddenCharts")->actions();
    QCOMPARE(hidden.size(), 1);
    hidden.front()->trigger();
    find<QMenu>("layoutMenu")->close();
    QTRY_VERIFY(chart("chartLr") && !chart("chartLr")->curves().empty());
    QCOMPARE(stored("gpt"), ChartLayout());
}

void TestChartLayouts::changesAreUndoneAndDoneAgain() {
    choose(*chart("chartLr"), "hideChart");
    choose(*chart("chartGradNorm"), "columns3");
    auto* plot = chart("chartLoss")->findChild<QWidget*>("plot");
    plot->setFocus();
    QTest::keySequence(plot, QKeySequence::Undo);
    QCOMPARE(stored("gpt").styleOf("grad_norm"), ChartStyle());
    QVERIFY(stored("gpt").styleOf("lr").isHidden);
    QTest::keySequence(plot, QKeySequence::Undo);
    QTRY_VERIFY(chart("chartLr"));
    QTest::keySequence(plot, QKeySequence::Redo);
    QTRY_VERIFY(!chart("chartLr"));
    chooseLayout("resetLayout");
    QTRY_VERIFY(chart("chartLr"));
    QCOMPARE(stored("gpt"), ChartLayout());
    chooseLayout("undoLayout");
    QTRY_VERIFY(!chart("chartLr"));
}

void TestChartLayouts::aChartOfChosenMetricsAndRanksIsAdded() {
    chooseLayout("addChart");
    QTRY_VERIFY(find<QDialog>("ownChartDialog"));
    auto* list = find<QListWidget>("ownChartMetrics");
    QVERIFY(!find<QPushButton>("ownChartConfirm")->isEnabled());
    find<QLineEdit>("ownChartSearch")->setText("STEP_ms");
    int shown = 0;
    for (int row = 0; row < list->count(); ++row)
        shown += list->item(row)->isHidden() ? 0 : 1;
    QVERIFY(shown >= 1 && shown < list->count());
    for (const char* title : {"Step time (ms)", "Loss"})
        list->findItems(title, Qt::MatchExactly).front()->setCheckState(Qt::Checked);
    find<QLineEdit>("ownChartRanks")->setText("0, 99");
    QVERIFY(!find<QPushButton>("ownChartConfirm")->isEnabled());
    find<QLineEdit>("ownChartRanks")->setText("0-1");
    find<QLineEdit>("ownChartTitle")->setText("two & two");
    find<QPushButton>("ownChartConfirm")->click();
    QTRY_VERIFY(chart("chartOwn1") && chart("chartOwn1")->curves().size() == 4);
    QCOMPARE(chart("chartOwn1")->accessibleName(), QString("two & two"));
    QStringList briefs;
    for (const Curve& curve : chart("chartOwn1")->curves()) {
        QVERIFY(!curve.x.isEmpty());
        briefs << curve.name + ' ' + curve.brief.right(6);
    }
    briefs.sort();
    QCOMPARE(briefs, QStringList({"train/loss rank 0", "train/loss rank 1", "train/step_ms rank 0",
                                  "train/step_ms rank 1"}));
}

void TestChartLayouts::aMetricOfAllRanksIsAHeatMap() {
    chooseLayout("addChart");
    QTRY_VERIFY(find<QDialog>("ownChartDialog"));
    find<QListWidget>("ownChartMetrics")
        ->findItems("Step time (ms)", Qt::MatchExactly)
        .front()
        ->setCheckState(Qt::Checked);
    find<QComboBox>("ownChartShape")->setCurrentIndex(static_cast<int>(ChartShape::kHeat));
    find<QPushButton>("ownChartConfirm")->click();
    QTRY_VERIFY(find<HeatMap>("chartOwn1") && find<HeatMap>("chartOwn1")->isFilled());
    const HeatData& heat = find<HeatMap>("chartOwn1")->data();
    QCOMPARE(heat.metric, QString("train/step_ms"));
    QCOMPARE(heat.cells.size(), find<HeatMap>("heatMap")->data().cells.size());
    QVERIFY(heat.bottom > 0 && heat.top > heat.bottom);
}

void TestChartLayouts::anOwnChartIsChangedAndRemoved() {
    ChartLayouts layouts;
    layouts.inUse["gpt"].own = {
        {.key = "own:1", .title = "mine", .metrics = {"train/loss"}, .ranks = {1}}};
    layouts.inUse["gpt"].setStyle("own:1", {.isFirst = true});
    QVERIFY(writeChartLayouts(m_demo->paths(), layouts));
    open(kPicturesRun); // another kind, so that the file is read anew
    open(kRunningRun);
    QTRY_VERIFY(chart("chartOwn1") && chart("chartOwn1")->curves().size() == 1);
    choose(*chart("chartOwn1"), "editChart");
    QTRY_VERIFY(find<QDialog>("ownChartDialog"));
    QCOMPARE(find<QLineEdit>("ownChartRanks")->text(), QString("1"));
    find<QLineEdit>("ownChartRanks")->setText("0, 1, 2");
    find<QPushButton>("ownChartConfirm")->click();
    QTRY_COMPARE(chart("chartOwn1")->curves().size(), size_t(3));
    choose(*chart("chartOwn1"), "removeChart");
    QTRY_VERIFY(!chart("chartOwn1"));
    QVERIFY(stored("gpt").own.empty());
}

void TestChartLayouts::ranksAreListsOfNumbers() {
    using Ranks = std::vector<int>;
    QCOMPARE(ranksFrom("", 4), std::optional(Ranks()));
    QCOMPARE(ranksFrom(" 3, 0-1 ,1", 4), std::optional(Ranks({0, 1, 3})));
    for (const char* wrong : {"4", "-1", "1-", "2-1", "a", "0-9", "1-2-3", "0x1"})
        QVERIFY2(!ranksFrom(wrong, 4), wrong);
    QCOMPARE(ranksText({0, 3}), QString("0, 3"));
}

void TestChartLayouts::anAxisHasItsOwnRangeAndScale() {
    choose(*chart("chartLr"), "axisRange");
    QTRY_VERIFY(find<QDialog>("rangeDialog"));
    find<QLineEdit>("rangeLow")->setText("3");
    find<QLineEdit>("rangeHigh")->setText("1");
    find<QPushButton>("rangeConfirm")->click();
    QVERIFY(find<QDialog>("rangeDialog")); // the wrong way round
    find<QLineEdit>("rangeLow")->setText("0.25");
    find<QPushButton>("rangeConfirm")->click();
    QTRY_COMPARE(chart("chartLr")->shownY(), std::pair(0.25, 1.0));
    choose(*chart("chartLr"), "axisRange");
    QTRY_VERIFY(find<QDialog>("rangeDialog"));
    find<QLineEdit>("rangeLow")->setText("-2"); // and the other end by itself
    find<QLineEdit>("rangeHigh")->clear();
    find<QPushButton>("rangeConfirm")->click();
    QTRY_COMPARE(chart("chartLr")->shownY().first, -2.0);
    QVERIFY(chart("chartLr")->shownY().second < 0.1);
    choose(*chart("chartLr"), "scaleLog");
    QTRY_VERIFY(chart("chartLr")->view().logY);
    QVERIFY(!chart("chartLoss")->view().logY);
    find<QPushButton>("chartsLog")->click();
    QTRY_VERIFY(chart("chartLoss")->view().logY);
    choose(*chart("chartLr"), "scaleLinear");
    QTRY_VERIFY(!chart("chartLr")->view().logY);
}

void TestChartLayouts::outliersLeaveTheAxis() {
    LineChart alone("alone", "alone");
    Curve curve{.name = "a"};
    for (int step = 0; step < 1000; ++step) {
        curve.x << step;
        curve.steps << step;
        curve.y << (step == 500 ? 1e6 : 1.0 + step / 1000.0);
    }
    alone.show({curve}, {.map = {}, .low = 0, .high = 1000});
    QVERIFY(alone.shownY().second > 1e6);
    alone.setCutsOutliers(true);
    QVERIFY(alone.shownY().second < 2.5);
    QVERIFY(alone.shownY().first > 0.9);
    choose(*chart("chartLr"), "cutOutliers");
    QVERIFY(stored("gpt").styleOf("lr").cutsOutliers);
}

void TestChartLayouts::aChartFillsTheScreenUntilEscape() {
    LineChart* loss = chart("chartLoss");
    const auto before = placeOf(*loss);
    const auto focus = [&] {
        m_demo->window().activateWindow(); // there is no window manager to do it
        loss->findChild<QWidget*>("plot")->setFocus();
        return QTest::qWaitForWindowActive(&m_demo->window());
    };
    for (const Qt::Key key : {Qt::Key_Escape, Qt::Key_F11}) {
        QVERIFY(focus());
        QTest::keyClick(&m_demo->window(), Qt::Key_F11);
        QTRY_VERIFY(find<QDialog>("aloneChart"));
        auto* dialog = find<QDialog>("aloneChart");
        QVERIFY(dialog->isFullScreen() && dialog->isAncestorOf(loss));
        QTRY_VERIFY(loss->width() > dialog->width() - 60);
        QVERIFY(QTest::qWaitForWindowActive(dialog));
        QTest::keyClick(dialog, key);
        QTRY_VERIFY(!find<QDialog>("aloneChart"));
        QTRY_COMPARE(placeOf(*loss), before);
    }
}

void TestChartLayouts::aChartThatGoesLeavesTheScreen() {
    chooseLayout("addChart");
    QTRY_VERIFY(find<QDialog>("ownChartDialog"));
    find<QListWidget>("ownChartMetrics")->item(0)->setCheckState(Qt::Checked);
    find<QPushButton>("ownChartConfirm")->click();
    QTRY_VERIFY(chart("chartOwn1"));
    choose(*chart("chartOwn1"), "showAlone");
    QTRY_VERIFY(find<QDialog>("aloneChart"));
    chooseLayout("undoLayout"); // in the window behind it
    QTRY_VERIFY(!find<QDialog>("aloneChart"));
    QTRY_VERIFY(!chart("chartOwn1"));
}

void TestChartLayouts::anotherShapeIsAnotherChart() {
    ChartLayouts layouts;
    layouts.inUse["gpt"].own = {{.key = "own:1", .metrics = {"train/step_ms", "no/such"}}};
    layouts.inUse["gpt"].setStyle("own:1", {.isFirst = true});
    QVERIFY(writeChartLayouts(m_demo->paths(), layouts));
    open(kPicturesRun);
    open(kRunningRun);
    QTRY_VERIFY(find<LineChart>("chartOwn1"));
    choose(*chart("chartOwn1"), "editChart");
    QTRY_VERIFY(find<QDialog>("ownChartDialog"));
    find<QComboBox>("ownChartShape")->setCurrentIndex(static_cast<int>(ChartShape::kHeat));
    find<QPushButton>("ownChartConfirm")->click();
    QTRY_VERIFY(find<HeatMap>("chartOwn1") && find<HeatMap>("chartOwn1")->isFilled());
    QVERIFY(!find<LineChart>("chartOwn1"));
    // What this run does not report stays chosen.
    QCOMPARE(stored("gpt").own.front().metrics,
             std::vector<std::string>({"train/step_ms", "no/such"}));
    chooseLayout("undoLayout");
    QTRY_VERIFY(find<LineChart>("chartOwn1") && !find<HeatMap>("chartOwn1"));
}

void TestChartLayouts::aLayoutIsOfTheKindOfModel() {
    choose(*chart("chartLr"), "hideChart");
    QTRY_VERIFY(!chart("chartLr"));
    open(kPicturesRun);
    QTRY_VERIFY(chart("chartLr"));
    open(kRunningRun);
    QTRY_VERIFY(!chart("chartLr"));
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths()); // after a new start
    again.resize(1440, 900);
    again.show();
    again.showRun(kRunningRun);
    QTRY_VERIFY(again.findChild<LineChart*>("chartLoss") &&
                !again.findChild<LineChart*>("chartLoss")->curves().empty());
    QTRY_VERIFY(!again.findChild<LineChart*>("chartLr"));
}

void TestChartLayouts::aLayoutIsKeptUnderAName() {
    choose(*chart("chartLr"), "hideChart");
    chooseLayout("saveLayout");
    QTRY_VERIFY(find<QLineEdit>("layoutName"));
    find<QLineEdit>("layoutName")->setText("bare & short");
    find<QPushButton>("layoutNameConfirm")->click();
    QTRY_VERIFY(!find<QDialog>("layoutNameDialog"));
    open(kPicturesRun);
    QTRY_VERIFY(chart("chartLr"));
    find<QPushButton>("chartsLayout")->click();
    QAction* kept = nullptr;
    for (QAction* action : find<QMenu>("layoutMenu")->actions())
        if (action->text() == "bare && short")
            kept = action;
    QVERIFY(kept && !kept->isChecked());
    kept->trigger();
    find<QMenu>("layoutMenu")->close();
    QTRY_VERIFY(!chart("chartLr"));
    const auto layouts = readChartLayouts(m_demo->paths());
    QCOMPARE(layouts->kept.at("bare & short"), layouts->inUse.at("resnet50"));
}

void TestChartLayouts::aDamagedFileIsSaidAndLeftAlone() {
    const std::string file = m_demo->paths().config.toStdString() + "/layouts.json";
    QVERIFY(writeFileAtomically(file, "{\"in_use\": 3}"));
    open(kPicturesRun);
    const auto isSaid = [this] {
        for (const auto* label : m_demo->window().findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains("layouts.json"))
                return true;
        return false;
    };
    QTRY_VERIFY(isSaid());
    choose(*chart("chartLr"), "hideChart");
    QTRY_VERIFY(!chart("chartLr")); // for now
    QCOMPARE(readFile(file).value(), std::string("{\"in_use\": 3}"));
}

QTEST_MAIN(TestChartLayouts)
#include "tst_chart_layouts.moc"
