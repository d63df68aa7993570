// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the contrast of every text of the window as it is drawn, light and dark.
#include "app/ui/compare/compare_page.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "app/ui/widgets/label.h"
#include "tests/gui/support/contrast.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QPlainTextEdit>
#include <QTest>
#include <QVBoxLayout>

#include <functional>
#include <memory>

using namespace rm;
using namespace rm::test;

class TestContrast : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void contrastIsAsWcagHasIt();
    void aFaintTextIsFound();
    void everyTextCanBeRead_data();
    void everyTextCanBeRead();

private:
    struct Page {
        const char* name;
        std::function<void()> open;
        std::function<bool()> isThere; ///< what it shows
    };
    std::vector<Page> pages();
    void openTab(RunPage::Tab tab);
    bool isFilled(const char* view) const;

    std::unique_ptr<WindowFixture> m_demo;
};

void TestContrast::initTestCase() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().resize(1280, 800);
}

void TestContrast::cleanup() {
    Theme::instance().setMode(Theme::Mode::kLight);
}

void TestContrast::contrastIsAsWcagHasIt() {
    QCOMPARE(contrastOf(Qt::black, Qt::white), 21.0);
    QCOMPARE(contrastOf(Qt::white, Qt::white), 1.0);
    QVERIFY(std::abs(contrastOf(QColor("#767676"), Qt::white) - 4.54) < 0.01);
}

void TestContrast::aFaintTextIsFound() {
    QWidget page;
    auto* column = new QVBoxLayout(&page);
    auto* good = makeLabel("good", "strong");
    auto* faint = makeLabel("faint", "strong");
    faint->setStyleSheet("color: " + colours().faint.name());
    column->addWidget(good);
    column->addWidget(faint);
    page.setStyleSheet("background: " + colours().card.name());
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    const QStringList found = faintTexts(page);
    QCOMPARE(found.size(), 1);
    QVERIFY2(found.front().contains("faint"), qPrintable(found.front()));
}

void TestContrast::openTab(RunPage::Tab tab) {
    m_demo->window().showRun(kRunningRun);
    m_demo->window().runPage().showTab(tab);
}

bool TestContrast::isFilled(const char* name) const {
    const auto* view = m_demo->window().findChild<QAbstractItemView*>(name);
    return view && view->model()->rowCount() > 0;
}

std::vector<TestContrast::Page> TestContrast::pages() {
    const auto always = [] { return true; };
    MainWindow& window = m_demo->window();
    return {
        {"welcome", [&] { window.showWelcome(); }, always},
        {"runs", [&] { window.showRuns(); }, [this] { return isFilled("runsTable"); }},
        {"new run", [&] { window.showNewRun(); }, always},
        {"nodes", [&] { window.showNodes(); }, always},
        {"compare",
         [&] {
             window.compare({kFinishedRun, kPausedRun});
         },
         [this] { return isFilled("comparedSettings"); }},
        {"charts", [this] { openTab(RunPage::kCharts); },
         [&] {
             const auto* loss = window.findChild<LineChart*>("chartLoss");
             return loss && !loss->curves().empty() && isFilled("events");
         }},
        {"ranks", [this] { openTab(RunPage::kRanks); }, [this] { return isFilled("ranksTable"); }},
        {"logs", [this] { openTab(RunPage::kLogs); },
         [&] { return window.findChild<QPlainTextEdit*>("logText")->blockCount() > 10; }},
        {"checkpoints", [this] { openTab(RunPage::kCheckpoints); },
         [this] { return isFilled("checkpointsTable"); }},
        {"spec", [this] { openTab(RunPage::kSpec); }, always}};
}

void TestContrast::everyTextCanBeRead_data() {
    QTest::addColumn<size_t>("at");
    for (size_t at = 0; at < pages().size(); ++at)
        QTest::newRow(pages()[at].name) << at;
}

void TestContrast::everyTextCanBeRead() {
    QFETCH(size_t, at);
    const Page page = pages()[at];
    page.open();
    QTRY_VERIFY_WITH_TIMEOUT(page.isThere(), 20'000);
    for (const Theme::Mode mode : {Theme::Mode::kLight, Theme::Mode::kDark}) {
        Theme::instance().setMode(mode);
        QStringList faint;
        const auto isReadable = [&] {
            faint = faintTexts(m_demo->window());
            return faint.isEmpty();
        };
        QTRY_VERIFY2(isReadable(), // once the page is laid out and its plots are drawn
                     qPrintable(modeName(mode) + ":\n" + faint.join('\n')));
    }
}

QTEST_MAIN(TestContrast)
#include "tst_contrast.moc"
