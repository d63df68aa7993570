// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_writer.h"
#include "app/ui/dialogs/trace_dialog.h"
#include "app/ui/plot/trace_view.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_run.h"
#include "tests/gui/support/made_up_trace.h"
#include "tests/gui/support/window_fixture.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QTest>

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int64_t kTraceSecond = 1'000'000'000;
constexpr int64_t kBegin = 1'700'000'000 * kTraceSecond;
const QString kTracedRun = "traced-000001";
const QString kPlainRun = "plain-000002";

DemoShape shapeOf(const QString& id) {
    DemoShape shape{.id = id, .name = id, .nodes = {{0, "node-a", 2, 0}, {1, "node-b", 2, 2}}};
    shape.totalSteps = 500;
    return shape;
}

Result<void> writeRuns(StoreWriter& writer) {
    DemoRun traced(writer, shapeOf(kTracedRun)), plain(writer, shapeOf(kPlainRun));
    return traced.create()
        .and_then([&] { return traced.train(1, 1, 100, kBegin); })
        .and_then([&] { return writeMadeUpTrace(writer, kTracedRun, 2, 2, 41, 4, kBegin); })
        .and_then([&] {
            return writeMadeUpTrace(writer, kTracedRun, 2, 2, 61, 6, kBegin + kTraceSecond);
        })
        .and_then([&] { return plain.create(); })
        .and_then([&] { return plain.train(1, 1, 10, kBegin); });
}

/// QTest's own waits for the platform's cursor, which the offscreen one has not.
void moveTo(QWidget& widget, const QPoint& place, Qt::MouseButtons pressed = Qt::NoButton) {
    QMouseEvent move(QEvent::MouseMove, place, widget.mapToGlobal(place), Qt::NoButton, pressed,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(&widget, &move);
}

} // namespace

/// The traces of a run in their window.
class TestTraces : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();

    void theNewestTraceIsShownWithWhoWaitedForWhom();
    void anotherTraceIsChosen();
    void theMouseZoomsAndDescribes();
    void theKeyboardDoesTheSame();
    void everySliceIsARowOfTheTable();
    void aRunWithoutATraceSaysSo();

private:
    void open(const QString& run);
    template <class T>
    T* child(const char* name) const {
        return m_dialog->findChild<T*>(name);
    }
    TraceView& view() const { return *child<TraceView>("traceView"); }

    std::unique_ptr<WindowFixture> m_window;
    QPointer<TraceDialog> m_dialog;
};

void TestTraces::initTestCase() {
    m_window = std::make_unique<WindowFixture>(WindowFixture::Fill(writeRuns));
    QVERIFY2(m_window->isGood(), qPrintable(m_window->problem()));
    m_window->window().resize(1440, 900);
    m_window->window().show();
}

void TestTraces::cleanup() {
    delete m_dialog;
}

/// As a person does it: More, then Traces.
void TestTraces::open(const QString& run) {
    m_window->window().showRun(run);
    RunPage& page = m_window->window().runPage();
    QAction* traces = nullptr;
    const auto isOffered = [&] {
        for (QAction* action : page.menuActions())
            if (page.run() == run && action->text() == "Traces")
                traces = action;
        return traces != nullptr;
    };
    QTRY_VERIFY(isOffered());
    traces->trigger();
    m_dialog = m_window->window().findChild<TraceDialog*>("traceDialog");
    QVERIFY(m_dialog);
    QTRY_VERIFY(m_dialog->isVisible());
}

void TestTraces::theNewestTraceIsShownWithWhoWaitedForWhom() {
    open(kTracedRun);
    auto* stack = m_dialog->findChild<QStackedWidget*>();
    QTRY_COMPARE(stack->currentIndex(), 0);
    auto* choice = child<QComboBox>("traceChoice");
    QCOMPARE(choice->count(), 2);
    QVERIFY2(choice->currentText().startsWith("steps 61 to 66"), qPrintable(choice->currentText()));
    const QString waits = child<QLabel>("traceWaits")->text();
    QVERIFY2(waits.startsWith("Rank 3 was the last in 6 of 6 steps"), qPrintable(waits));
    const QString clocks = child<QLabel>("traceClocks")->text();
    QVERIFY2(clocks.contains("aligned by the ends of"), qPrintable(clocks));
    QVERIFY(!child<QPushButton>("recordTrace")->text().isEmpty());
    QCOMPARE(child<QSpinBox>("traceSteps")->maximum(), 200);
    QVERIFY(view().accessibleDescription().contains("rank 3 was the last"));
}

void TestTraces::anotherTraceIsChosen() {
    open(kTracedRun);
    auto* choice = child<QComboBox>("traceChoice");
    QTRY_COMPARE(choice->count(), 2);
    const double before = view().range().second;
    choice->setFocus();
    QTest::keyClick(choice, Qt::Key_Down);
    QTRY_VERIFY(view().range().second < before); // it has fewer steps
    QVERIFY(choice->currentText().startsWith("steps 41 to 44"));
}

void TestTraces::theMouseZoomsAndDescribes() {
    open(kTracedRun);
    QTRY_VERIFY(view().range().second > 1e6);
    const auto [begin, end] = view().range();
    const QPoint from = view().pixelOf(end * 0.25, 1), to = view().pixelOf(end * 0.5, 1);
    QTest::mousePress(&view(), Qt::LeftButton, {}, from);
    moveTo(view(), to, Qt::LeftButton);
    QTest::mouseRelease(&view(), Qt::LeftButton, {}, to);
    QVERIFY(view().range().first > begin && view().range().second < end);
    QVERIFY(std::abs(view().range().first - end * 0.25) < end * 0.01);
    moveTo(view(), view().pixelOf(end * 0.3, 3));
    QVERIFY2(view().description().startsWith("rank 3, step 6"), qPrintable(view().description()));
    QCOMPARE(child<QLabel>("tracePointed")->text(), view().description());
    QTest::mouseDClick(&view(), Qt::LeftButton, {}, from);
    QCOMPARE(view().range(), std::pair(begin, end));
}

void TestTraces::theKeyboardDoesTheSame() {
    open(kTracedRun);
    QTRY_VERIFY(view().range().second > 1e6);
    const auto whole = view().range();
    view().setFocus();
    QTest::keyClick(&view(), Qt::Key_Right);
    const QString first = view().description();
    QVERIFY2(first.startsWith("rank 0, step 61: data"), qPrintable(first));
    QTest::keyClick(&view(), Qt::Key_Right);
    QVERIFY2(view().description().contains("forward"), qPrintable(view().description()));
    QTest::keyClick(&view(), Qt::Key_Down);
    QVERIFY2(view().description().startsWith("rank 1, step 61"), qPrintable(view().description()));
    QVERIFY(view().accessibleDescription().endsWith(view().description()));
    QTest::keyClick(&view(), Qt::Key_Plus);
    QVERIFY(view().range().second - view().range().first < whole.second - whole.first);
    QTest::keyClick(&view(), Qt::Key_0);
    QCOMPARE(view().range(), whole);
}

void TestTraces::everySliceIsARowOfTheTable() {
    open(kTracedRun);
    auto* button = child<QPushButton>("traceTable");
    QTRY_VERIFY(button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
    auto* table = child<QTableView>("traceTableTwin");
    QVERIFY(table);
    // Of four ranks: six steps with as many phases, the sums of four buckets and the step itself,
    // and one validation.
    QCOMPARE(table->model()->rowCount(), 4 * (6 * 11 + 1));
    QCOMPARE(table->model()->headerData(3, Qt::Horizontal).toString(), QString("What"));
    QCOMPARE(table->model()->index(0, 1).data().toString(), QString("node-a"));
}

void TestTraces::aRunWithoutATraceSaysSo() {
    open(kPlainRun);
    auto* stack = m_dialog->findChild<QStackedWidget*>();
    QTRY_VERIFY(child<QPushButton>("recordTrace")->isEnabled()); // it trains
    const auto texts = stack->currentWidget()->findChildren<QLabel*>();
    QVERIFY(std::ranges::any_of(texts,
                                [](const QLabel* each) { return each->text() == "No trace yet"; }));
    QVERIFY(!child<QPushButton>("exportTrace")->isEnabled());
    QVERIFY(!child<QComboBox>("traceChoice")->isVisible());
}

QTEST_MAIN(TestTraces)
#include "tst_traces.moc"
