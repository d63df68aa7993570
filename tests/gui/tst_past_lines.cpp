// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_writer.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_run.h"
#include "tests/gui/support/window_fixture.h"

#include <QComboBox>
#include <QPushButton>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int64_t kPastSecond = 1'000'000'000;
constexpr int64_t kStart = 1'700'000'000 * kPastSecond;
const QString kRestored = "tiny-000001";
const QString kBranch = "tiny-000002";
const QString kOrphan = "tiny-000003";
const QString kBranchOfLeft = "tiny-000004";

DemoShape shapeOf(const QString& id, const QString& name) {
    DemoShape shape{.id = id, .name = name, .nodes = {{0, "this-computer", 2, 0}}};
    shape.gpus = false;
    shape.stepMs = 200;
    shape.totalSteps = 500;
    shape.checkpointEvery = 50;
    return shape;
}

/// 405 steps, held at 300, and again from 250.
Result<void> writeRestored(StoreWriter& writer) {
    DemoRun run(writer, shapeOf(kRestored, "tiny"));
    return run.create()
        .and_then([&] { return run.train(1, 1, 405, kStart); })
        .and_then([&] { return run.command("hold", 300, run.wallOf(300)); })
        .and_then([&] { return run.command("hold", 200, run.wallOf(200)); })
        .and_then([&] { return run.end(Outcome::kPaused); })
        .and_then([&] { return run.train(2, 251, 330, kStart + 300 * kPastSecond); });
}

Result<void> writeBranch(StoreWriter& writer, const QString& id, const QString& parent,
                         int64_t step) {
    const DemoShape shape = shapeOf(id, id);
    DemoRun run(writer, shape);
    return writer.createRun({id, id, {}, shape.nodes, parent, step}).and_then([&] {
        return run.train(1, step + 1, step + 60, kStart + 900 * kPastSecond);
    });
}

Result<void> writeRuns(StoreWriter& writer) {
    return writeRestored(writer)
        .and_then([&] { return writeBranch(writer, kBranch, kRestored, 200); })
        .and_then([&] { return writeBranch(writer, kOrphan, "gone-000000", 200); })
        .and_then([&] { return writeBranch(writer, kBranchOfLeft, kRestored, 400); });
}

const Curve* find(const std::vector<Curve>& curves, Past past) {
    const auto found = std::ranges::find(curves, past, &Curve::past);
    return found == curves.end() ? nullptr : &*found;
}

} // namespace

/// What a run left behind, and what it came from, on its charts.
class TestPastLines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();

    void whatWasAbandonedStaysAsAThinCurve();
    void eachStepOfTheRunItselfIsDrawnOnce();
    void theAbandonedCurveCanBeHidden();
    void retiredMarksStandOnTheAbandonedCurve();
    void ofOneAttemptThereIsNothingToHide();
    void aBranchShowsItsParentUpToItsStep();
    void aBranchOfAnAbandonedLineShowsThatLine();
    void theParentIsNoPartOfATimeAxis();
    void withoutItsParentABranchBeginsWhereItsStepsDo();

private:
    template <class T>
    T* child(const char* name) const {
        return m_window->window().runPage().findChild<T*>(name);
    }
    LineChart* loss() const { return child<LineChart>("chartLoss"); }
    const Curve* curve(Past past) const { return ::find(loss()->curves(), past); }
    void open(const QString& run) const;

    std::unique_ptr<WindowFixture> m_window;
};

void TestPastLines::initTestCase() {
    m_window = std::make_unique<WindowFixture>(WindowFixture::Fill(writeRuns));
    QVERIFY2(m_window->isGood(), qPrintable(m_window->problem()));
    m_window->window().resize(1440, 900);
}

void TestPastLines::open(const QString& run) const {
    m_window->window().showRun(run);
    m_window->window().runPage().showTab(RunPage::kCharts);
    QTRY_VERIFY(curve(Past::kNone) && !curve(Past::kNone)->x.isEmpty());
}

void TestPastLines::whatWasAbandonedStaysAsAThinCurve() {
    open(kRestored);
    QTRY_VERIFY(curve(Past::kAbandoned));
    const Curve& left = *curve(Past::kAbandoned);
    QCOMPARE(left.attempt, 1);
    QCOMPARE(left.steps.front(), 250.0); // where the two part
    QCOMPARE(left.steps.back(), 405.0);
    QVERIFY(left.raw.isEmpty());
    QVERIFY2(loss()->values().contains("attempt 1, set aside"),
             qPrintable(loss()->values().join(", ")));
}

void TestPastLines::eachStepOfTheRunItselfIsDrawnOnce() {
    open(kRestored);
    const QVector<double>& steps = curve(Past::kNone)->steps;
    QCOMPARE(steps.size(), 330);
    for (qsizetype at = 0; at < steps.size(); ++at)
        QCOMPARE(steps[at], static_cast<double>(at + 1));
}

void TestPastLines::theAbandonedCurveCanBeHidden() {
    open(kRestored);
    auto* toggle = child<QPushButton>("abandonedLines");
    QTRY_VERIFY(toggle->isVisible() && toggle->isChecked() && curve(Past::kAbandoned));
    QTest::mouseClick(toggle, Qt::LeftButton);
    QTRY_VERIFY(!curve(Past::kAbandoned));
    QVERIFY(loss()->curveMarks().empty());
    QTest::mouseClick(toggle, Qt::LeftButton);
    QTRY_VERIFY(curve(Past::kAbandoned));
}

void TestPastLines::retiredMarksStandOnTheAbandonedCurve() {
    open(kRestored);
    const auto hasMark = [this](int64_t step) {
        return std::ranges::find(loss()->lineMarks(), step, &Mark::step) !=
               loss()->lineMarks().end();
    };
    QTRY_VERIFY(hasMark(200) && !loss()->curveMarks().empty());
    for (const int64_t step : {300, 350, 400})
        QVERIFY2(!hasMark(step) || step == 300, qPrintable(QString::number(step)));
    const auto held = std::ranges::find_if(loss()->curveMarks(), [](const auto& placed) {
        return placed.second.step == 300 && placed.second.text.startsWith("held");
    });
    QVERIFY(held != loss()->curveMarks().end());
    const Curve& left = *curve(Past::kAbandoned);
    const qsizetype at = left.steps.indexOf(300.0);
    QVERIFY(at >= 0);
    QCOMPARE(held->first, QPointF(left.x[at], left.y[at]));
    // The new attempt saved one at 300 too: that one stands for the new curve.
    QVERIFY(std::ranges::any_of(loss()->lineMarks(), [](const Mark& mark) {
        return mark.step == 300 && mark.text.startsWith("checkpoint");
    }));
    QVERIFY(std::ranges::none_of(loss()->lineMarks(), [](const Mark& mark) {
        return mark.text.contains("held at step 300");
    }));
}

void TestPastLines::ofOneAttemptThereIsNothingToHide() {
    open(kOrphan);
    QVERIFY(!child<QPushButton>("abandonedLines")->isVisible());
}

void TestPastLines::aBranchShowsItsParentUpToItsStep() {
    open(kBranch);
    QTRY_VERIFY(curve(Past::kParent));
    const Curve& parent = *curve(Past::kParent);
    QCOMPARE(parent.brief, "tiny");
    QCOMPARE(parent.steps.front(), 1.0);
    QCOMPARE(parent.steps.back(), 200.0);
    QVERIFY2(loss()->values().contains("tiny"), qPrintable(loss()->values().join(", ")));
    QTRY_COMPARE(loss()->view().low, 0.0);
    QVERIFY(::find(child<LineChart>("chartLr")->curves(), Past::kParent));
}

void TestPastLines::aBranchOfAnAbandonedLineShowsThatLine() {
    open(kBranchOfLeft);
    QTRY_VERIFY(curve(Past::kParent));
    const QVector<double>& steps = curve(Past::kParent)->steps;
    QCOMPARE(steps.size(), 400);
    QCOMPARE(steps.back(), 400.0);
}

void TestPastLines::theParentIsNoPartOfATimeAxis() {
    open(kBranch);
    child<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kRelative));
    QTRY_VERIFY(loss()->view().map.axis == XAxis::kRelative && !curve(Past::kParent));
    QVERIFY(loss()->view().high < 60);
    child<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kStep));
    QTRY_VERIFY(curve(Past::kParent));
}

void TestPastLines::withoutItsParentABranchBeginsWhereItsStepsDo() {
    open(kOrphan);
    QVERIFY(!curve(Past::kParent));
    QTRY_COMPARE(loss()->view().low, 200.0);
    QCOMPARE(curve(Past::kNone)->steps.front(), 201.0);
}

QTEST_MAIN(TestPastLines)
#include "tst_past_lines.moc"
