// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_writer.h"
#include "app/ui/main_window.h"
#include "app/ui/run/log_view.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>

#include <utility>

using namespace rm;
using namespace rm::test;

namespace {
constexpr int64_t kLogSecond = 1'000'000'000;
const std::string kUnknownHost = "[W1130 06:07:14.123456789 socket.cpp:697] [c10d] The IPv6 "
                                 "network addresses of (node-a, 29500) "
                                 "cannot be retrieved (gai error: -2 - Name or service not known).";
} // namespace

/// The lines of a run's log: folded, coloured, searched and explained.
class TestLogsTab : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void theSameLineOfSeveralRanksIsOneRowUntilItIsUnfolded();
    void linesThatComeLateStandWhereTheirTimeIs();
    void onlySevereLinesAreShown();
    void wordsAreFilteredAndCounted();
    void theNextMatchIsShownAmongAllLines();
    void aMatchThatIsNotLoadedIsGoneTo();
    void aKnownErrorIsExplained();
    void beginningsOfLinesStayInSightWhileItFollows();
    void earlierLinesComeWhenTheBeginIsScrolledTo();
    void foldedRowsAndTheirTimesSurviveManyLines();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    LogView& text() const { return *find<LogView>("logText"); }
    void store(const std::vector<NewLogLine>& lines) const;
    void openLogs() const;
    QStringList rows() const {
        return text().document()->isEmpty() ? QStringList() : text().toPlainText().split('\n');
    }
    QStringList rowsWith(const QString& words) const { return rows().filter(words); }
    QPoint placeOf(const QString& words, int character) const;
    QColor colourAt(const QString& words) const;

    std::unique_ptr<WindowFixture> m_demo;
    int64_t m_nowNs = 0;
};

void TestLogsTab::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().resize(1000, 700);
    m_demo->window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&m_demo->window()));
    m_nowNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
}

void TestLogsTab::store(const std::vector<NewLogLine>& lines) const {
    const auto writer = StoreWriter::open(m_demo->engine().databasePath());
    QVERIFY(writer);
    IngestBatch batch;
    batch.run = kFinishedRun;
    batch.logLines = lines;
    QVERIFY((*writer)->ingest(batch));
}

void TestLogsTab::openLogs() const {
    m_demo->window().showRun(kFinishedRun);
    m_demo->window().runPage().showTab(RunPage::kLogs);
    QTRY_VERIFY(text().isVisible() && !text().document()->isEmpty());
}

/// Of the first row with these words, in the viewport.
QPoint TestLogsTab::placeOf(const QString& words, int character) const {
    QTextCursor cursor = text().document()->find(words);
    cursor.setPosition(cursor.block().position() + character);
    text().setTextCursor(cursor);
    text().ensureCursorVisible();
    return text().cursorRect(cursor).center();
}

QColor TestLogsTab::colourAt(const QString& words) const {
    return text().document()->find(words).charFormat().foreground().color();
}

void TestLogsTab::theSameLineOfSeveralRanksIsOneRowUntilItIsUnfolded() {
    const int64_t t = m_nowNs;
    store({{0, "alike", t},
           {0, "another", t + 1},
           {1, "alike", t + kLogSecond / 2},
           {1, "alike", t + 20 * kLogSecond}});
    openLogs();
    QTRY_COMPARE(rowsWith("alike").size(), 2);
    const QString folded = rowsWith("alike").front();
    QVERIFY2(folded.contains("[ranks 0-1]"), qPrintable(folded));
    QVERIFY2(rowsWith("alike").back().contains(":1 "), qPrintable(rowsWith("alike").back()));
    QTest::mouseClick(text().viewport(), Qt::LeftButton, {}, placeOf(folded, 16));
    QCOMPARE(rowsWith("alike").size(), 3);
    QVERIFY(rowsWith("[ranks").filter("alike").isEmpty());
    QTest::mouseClick(text().viewport(), Qt::LeftButton, {}, placeOf("alike", 16));
    QCOMPARE(rowsWith("alike").size(), 2);
    QCOMPARE(rowsWith("alike").front(), folded);
    QTest::keyClick(&text(), Qt::Key_Return);
    QCOMPARE(rowsWith("alike").size(), 3);
    find<QCheckBox>("logFold")->setChecked(false);
    QCOMPARE(rowsWith("alike").size(), 3);
    find<QCheckBox>("logFold")->setChecked(true);
    QCOMPARE(rowsWith("alike").size(), 2);
}

/// As those of a node whose link was down.
void TestLogsTab::linesThatComeLateStandWhereTheirTimeIs() {
    const int64_t t = m_nowNs;
    store({{0, "begin", t}, {0, "end", t + 10 * kLogSecond}});
    openLogs();
    QTRY_COMPARE(rowsWith("  end").size(), 1);
    store({{1, "between", t + 5 * kLogSecond}, {1, "end", t + 10 * kLogSecond + 5}});
    m_demo->window().runPage().showTab(RunPage::kRanks);
    m_demo->window().runPage().showTab(RunPage::kLogs);
    QTRY_COMPARE(rowsWith("between").size(), 1);
    const QStringList all = rows();
    QVERIFY(all.last().contains("[ranks 0-1]") && all.last().contains("end"));
    QVERIFY2(all[all.size() - 2].contains("between"), qPrintable(all[all.size() - 2]));
    QVERIFY(all[all.size() - 3].contains("begin"));
}

void TestLogsTab::onlySevereLinesAreShown() {
    store({{0, "WARNING: slow", m_nowNs}, {0, "ERROR: broken", m_nowNs + 1}});
    openLogs();
    QTRY_COMPARE(rowsWith("broken").size(), 1);
    QVERIFY(colourAt("broken") != colourAt("slow") && colourAt("slow") != colourAt("loss"));
    auto* severity = find<QComboBox>("logSeverity");
    severity->setCurrentIndex(1);
    QTRY_COMPARE(rows().size(), 2);
    severity->setCurrentIndex(2);
    QTRY_VERIFY(rows().size() == 1 && rows().front().contains("broken"));
    find<QLineEdit>("logFilter")->setText("nothing-like-it");
    QTRY_VERIFY(rows().isEmpty());
    severity->setCurrentIndex(0);
    find<QLineEdit>("logFilter")->clear();
    QTRY_VERIFY(rows().size() > 2);
}

void TestLogsTab::wordsAreFilteredAndCounted() {
    store({{0, "the needle here", m_nowNs}, {1, "a needless line", m_nowNs + 5 * kLogSecond}});
    openLogs();
    auto* field = find<QLineEdit>("logFilter");
    const auto* found = find<QLabel>("logFound");
    field->setText("needle");
    QTRY_COMPARE(rows().size(), 2);
    QTRY_COMPARE(found->text(), QString("2 matches"));
    field->setText("needle here");
    QTRY_VERIFY(rows().size() == 1 && found->text() == "1 match");
    field->setText("eedle");
    QTRY_VERIFY(rows().isEmpty() && found->text() == "0 matches");
    QVERIFY(!find<QPushButton>("logNext")->isEnabled());
    field->setText("\"eedle\"");
    QTRY_VERIFY(rows().size() == 2 && found->text() == "2 matches");
    QTRY_VERIFY(!text().extraSelections().isEmpty());
    field->clear();
    QTRY_VERIFY(!found->isVisible() && rows().size() > 2);
}

void TestLogsTab::theNextMatchIsShownAmongAllLines() {
    store({{0, "needle one", m_nowNs}, {0, "hay", m_nowNs + 1}, {0, "needle two", m_nowNs + 2}});
    openLogs();
    QTRY_COMPARE(rowsWith("needle").size(), 2);
    const auto all = rows().size();
    find<QCheckBox>("logOnly")->setChecked(false);
    auto* field = find<QLineEdit>("logFilter");
    field->setText("needle");
    QTRY_COMPARE(find<QLabel>("logFound")->text(), QString("2 matches"));
    QTRY_COMPARE(rows().size(), all);
    field->setFocus();
    const auto current = [this] { return text().textCursor().block().text(); };
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY2(current().contains("needle one"), qPrintable(current()));
    QCOMPARE(find<QLabel>("logFound")->text(), QString("1 of 2"));
    QTest::keyClick(field, Qt::Key_F3);
    QTRY_VERIFY2(current().contains("needle two"), qPrintable(current()));
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    QTRY_VERIFY2(current().contains("needle one"), qPrintable(current()));
    QVERIFY(!find<QCheckBox>("logFollow")->isChecked());
}

void TestLogsTab::aMatchThatIsNotLoadedIsGoneTo() {
    std::vector<NewLogLine> lines{{0, "the needle of old", m_nowNs}};
    for (int i = 1; i <= 6000; ++i)
        lines.push_back({0, "hay " + std::to_string(i), m_nowNs + i * kLogSecond});
    store(lines);
    openLogs();
    find<QCheckBox>("logOnly")->setChecked(false);
    QTRY_COMPARE(rowsWith("hay 6000").size(), 1);
    QVERIFY(rowsWith("needle").isEmpty());
    find<QLineEdit>("logFilter")->setText("needle");
    QTRY_COMPARE(find<QLabel>("logFound")->text(), QString("1 match"));
    QTest::mouseClick(find<QPushButton>("logNext"), Qt::LeftButton);
    QTRY_VERIFY(text().textCursor().block().text().contains("needle of old"));
    QVERIFY(rowsWith("hay 6000").isEmpty());
    find<QCheckBox>("logFollow")->setChecked(true);
    QTRY_COMPARE(rowsWith("hay 6000").size(), 1);
}

void TestLogsTab::aKnownErrorIsExplained() {
    store({{0, kUnknownHost, m_nowNs}, {0, "hay", m_nowNs + 1}});
    openLogs();
    QTRY_COMPARE(rowsWith("cannot be retrieved").size(), 1);
    auto* panel = find<QWidget>("logExplain");
    QVERIFY(!panel->isVisible());
    placeOf("cannot be retrieved", 40);
    QTRY_VERIFY(panel->isVisible());
    QVERIFY2(panel->accessibleName().contains("has no address on this node"),
             qPrintable(panel->accessibleName()));
    QTest::mouseClick(find<QPushButton>("closeLogExplain"), Qt::LeftButton);
    QVERIFY(!panel->isVisible());
    const QPoint place = placeOf("cannot be retrieved", 44);
    Q_EMIT text().customContextMenuRequested(place);
    auto* what = text().findChild<QAction*>("explainLine");
    QVERIFY(what);
    panel->hide();
    what->trigger();
    QVERIFY(panel->isVisible());
    QTRY_VERIFY(QApplication::activePopupWidget());
    QApplication::activePopupWidget()->close();
    placeOf("hay", 0);
    QTRY_VERIFY(!panel->isVisible());
}

void TestLogsTab::beginningsOfLinesStayInSightWhileItFollows() {
    std::vector<NewLogLine> lines;
    for (int i = 0; i < 100; ++i)
        lines.push_back({0, std::to_string(i) + std::string(400, 'x'), m_nowNs + i});
    store(lines);
    openLogs();
    QTRY_VERIFY(text().horizontalScrollBar()->maximum() > 0);
    const auto isAtEnd = [this] {
        return text().verticalScrollBar()->value() == text().verticalScrollBar()->maximum();
    };
    QTRY_VERIFY(isAtEnd());
    QCOMPARE(text().horizontalScrollBar()->value(), 0);
    // Nothing is cut, as the options stand in a row of their own.
    for (const char* name : {"logOnly", "logFold", "logWrap", "logFollow"}) {
        const auto* box = find<QCheckBox>(name);
        QVERIFY2(box->width() >= box->sizeHint().width(), name);
    }
}

void TestLogsTab::earlierLinesComeWhenTheBeginIsScrolledTo() {
    std::vector<NewLogLine> lines;
    for (int i = 0; i < 6000; ++i)
        lines.push_back({0, "line " + std::to_string(i) + ";", m_nowNs + i * kLogSecond});
    store(lines);
    openLogs();
    QTRY_COMPARE(rowsWith("line 5999;").size(), 1);
    QVERIFY(rowsWith("line 0;").isEmpty());
    find<QCheckBox>("logFollow")->setChecked(false);
    const QString first = rows().front();
    text().verticalScrollBar()->setValue(0);
    QTRY_COMPARE(rowsWith("line 0;").size(), 1);
    QVERIFY(rows().indexOf(first) > 900);
    // What was in sight still is.
    QCOMPARE(text().cursorForPosition({4, 4}).block().text(), first);
}

void TestLogsTab::foldedRowsAndTheirTimesSurviveManyLines() {
    std::vector<LogLine> lines;
    LogView view;
    for (int64_t i = 0; i < 120'000; ++i) {
        lines.push_back({i + 1, static_cast<int>(i % 2), m_nowNs + i / 2 * kLogSecond,
                         "line " + std::to_string(i / 2), true, Severity::kInfo, "node-a"});
        if (lines.size() == 5000)
            view.add(std::exchange(lines, {}), true);
    }
    QVERIFY(view.document()->blockCount() <= 55'000);
    QVERIFY(view.document()->lastBlock().text().endsWith("line 59999"));
    QVERIFY(view.document()->firstBlock().text().contains("[ranks 0-1]"));
    const int64_t first = *view.firstTime();
    QVERIFY(view.pointAt(view.idAt(first)));
    QCOMPARE(view.textCursor().blockNumber(), 0);
    view.add({{1'000'000, 5, first - 1, "before all", true, Severity::kInfo, "node-b"}}, false);
    QVERIFY(view.document()->firstBlock().text().endsWith("before all"));
    QVERIFY(view.pointAt(view.idAt(first)));
    QCOMPARE(view.textCursor().blockNumber(), 1);
}

QTEST_MAIN(TestLogsTab)
#include "tst_logs_tab.moc"
