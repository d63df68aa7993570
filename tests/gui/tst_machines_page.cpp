// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/machines/machine_card.h"
#include "app/ui/machines/machines_page.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/widgets/fold.h"
#include "app/ui/widgets/label.h"
#include "shared/io/clock.h"
#include "tests/gui/support/demo_machines.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"
#include "tests/unit/core/engine/fake_engine.h"

#include <QAbstractItemModel>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

/// Tells of demoMachines() beside an empty database.
struct LookingEngine : FakeEngine {
    QString database;
    QString databasePath() const override { return database; }
};

} // namespace

/// The page on which nodes are looked at live.
class TestMachinesPage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void aCardHasALineForEachGpu();
    void aMachineWithoutGpusHasALineOfItsCpu();
    void onlyWhatNeedsALookIsColoured();
    void aMachineThatIsAwaySaysWhyAndWhatToDo();
    void twoEntriesOfOneMachineSaySo();
    void theHeaderCountsEachMachineOnce();
    void theArrowsLeadToEveryLine();
    void chartsAreOfTheSelectedLine();
    void aChartShowsAnotherFigure();
    void processesOfTheSelectedMachineAreAskedForWhenTheyAreSeen();
    void nothingIsAskedWhileThePageIsHidden();
    void itLooksFiveTimesAsOftenOnRequest();
    void aNodeThatIsAddedGetsACard();
    void everyControlHasANameAndIsReachable();

private:
    MachineCard* card(const std::string& node) const;
    DeviceLine* line(const std::string& node, size_t at) const;
    QString textOf(const MachineCard* card, const char* label) const;
    MachinesPage& page() const { return m_window->machinesPage(); }

    std::unique_ptr<WindowFixture> m_fixture;
    std::unique_ptr<LookingEngine> m_engine;
    std::unique_ptr<MainWindow> m_window;
};

void TestMachinesPage::init() {
    m_fixture = std::make_unique<WindowFixture>(WindowFixture::Content::kEmpty);
    QVERIFY2(m_fixture->isGood(), qPrintable(m_fixture->problem()));
    for (const char* name : {"node-a", "node-b", "node-c", "node-d", "node-e", "node-f", "node-g"})
        QVERIFY(m_fixture->fleet().add({name, false, "10.0.0.1", "trainer", 0, {}}));
    m_engine = std::make_unique<LookingEngine>();
    m_engine->database = m_fixture->engine().databasePath();
    m_engine->machines = demoMachines(wallNowNs());
    m_window = std::make_unique<MainWindow>(*m_engine, m_fixture->fleet(), m_fixture->paths());
    m_window->resize(1440, 900);
    m_window->show();
    m_window->showMachines();
    QTRY_COMPARE(card("node-a")->lines().size(), size_t(4));
}

void TestMachinesPage::cleanup() {
    m_window.reset();
    m_engine.reset();
    m_fixture.reset();
}

MachineCard* TestMachinesPage::card(const std::string& node) const {
    for (auto* each : m_window->findChildren<MachineCard*>("machineCard"))
        if (each->node() == node)
            return each;
    return nullptr;
}

DeviceLine* TestMachinesPage::line(const std::string& node, size_t at) const {
    return card(node)->lines().at(at);
}

QString TestMachinesPage::textOf(const MachineCard* card, const char* label) const {
    const auto* found = card->findChild<QLabel*>(label);
    return found->isVisibleTo(card) ? found->text() : QString();
}

void TestMachinesPage::aCardHasALineForEachGpu() {
    const DeviceFigures figures = line("node-a", 1)->figures();
    QCOMPARE(figures.gpu, 1);
    QVERIFY(figures.use.startsWith("9") && figures.use.endsWith("%"));
    QVERIFY2(figures.memory.startsWith("13.1 / 16"), qPrintable(figures.memory));
    QCOMPARE(figures.heat, QString("73°"));
    QVERIFY2(figures.power.endsWith(" W"), qPrintable(figures.power));
    QCOMPARE(figures.owner, QString("translation · rank 1"));
    QCOMPARE(figures.history.size(), kHistoryParts);
    QVERIFY(std::ranges::all_of(figures.history.mid(1),
                                [](double share) { return share > 0.8 && share <= 1; }));
    QCOMPARE(line("node-c", 0)->figures().owner, QString("python · alice"));
    QCOMPARE(line("node-c", 1)->figures().owner, QString("free"));
    QCOMPARE(textOf(card("node-c"), "machineChip"), QString("3 free"));
    QCOMPARE(textOf(card("node-b"), "machineChip"), QString("Busy"));
    QCOMPARE(textOf(card(kLocalNodeName), "machineChip"), QString("Free"));
    const QString foot = textOf(card("node-a"), "machineFoot");
    for (const char* part : {"CPU 1", "of 64", "61.0 GiB of 480.0 GiB", "ens5"})
        QVERIFY2(foot.contains(part), qPrintable(foot));
}

void TestMachinesPage::aMachineWithoutGpusHasALineOfItsCpu() {
    QCOMPARE(card("node-d")->lines().size(), size_t(1));
    const DeviceFigures figures = line("node-d", 0)->figures();
    QCOMPARE(figures.gpu, -1);
    QVERIFY(figures.use.endsWith("%") && figures.heat.isEmpty() && figures.power.isEmpty());
    QVERIFY2(figures.memory.startsWith("21.0 / 64"), qPrintable(figures.memory));
    QCOMPARE(figures.owner, QString("gpt · rank 0"));
}

void TestMachinesPage::onlyWhatNeedsALookIsColoured() {
    QVERIFY(line("node-a", 3)->figures().heatAttention == Attention::kBad);
    for (const size_t other : {0, 1, 2})
        QVERIFY(line("node-a", other)->figures().heatAttention == Attention::kNone);
    QCOMPARE(textOf(card("node-a"), "machineChip"), QString("1 warning"));
    QCOMPARE(textOf(card("node-a"), "machineWarnings"), QString("GPU 3: slowed by heat"));
    QCOMPARE(textOf(card("node-b"), "machineWarnings"), QString());
}

void TestMachinesPage::aMachineThatIsAwaySaysWhyAndWhatToDo() {
    QVERIFY(card("node-f")->lines().empty() && card("node-g")->lines().empty());
    QCOMPARE(textOf(card("node-f"), "machineChip"), QString("Unreachable"));
    const QString away = textOf(card("node-f"), "machineProblem");
    QVERIFY2(away.contains("nobody answered") && away.contains("machine is on"), qPrintable(away));
    QCOMPARE(textOf(card("node-g"), "machineChip"), QString("Needs you"));
    QVERIFY(textOf(card("node-g"), "machineProblem").contains("page Nodes"));
}

void TestMachinesPage::twoEntriesOfOneMachineSaySo() {
    QVERIFY(textOf(card("node-d"), "machineSame").contains("node-e"));
    QVERIFY(textOf(card("node-e"), "machineSame").contains("node-d"));
    QCOMPARE(textOf(card("node-a"), "machineSame"), QString());
}

void TestMachinesPage::theHeaderCountsEachMachineOnce() {
    const auto said = [this](const QString& text) {
        return std::ranges::any_of(page().findChildren<QLabel*>(), [&](const QLabel* label) {
            return label->text().contains(text) || label->toolTip().contains(text);
        });
    };
    QVERIFY(said("7 machines"));
    QVERIFY(said("13 GPUs"));
    QVERIFY(said("9 busy"));
}

void TestMachinesPage::theArrowsLeadToEveryLine() {
    m_window->activateWindow();
    page().focusSelected();
    QTRY_VERIFY(line(kLocalNodeName, 0)->hasFocus());
    QTest::keyClick(m_window->focusWidget(), Qt::Key_Down);
    QVERIFY(line("node-a", 0)->hasFocus());
    QTest::keyClick(m_window->focusWidget(), Qt::Key_Down);
    QVERIFY(line("node-a", 1)->hasFocus());
    QTest::keyClick(m_window->focusWidget(), Qt::Key_Right);
    QVERIFY(line("node-b", 0)->hasFocus());
    QTest::keyClick(m_window->focusWidget(), Qt::Key_Left);
    QVERIFY(line("node-a", 3)->hasFocus());
    QTest::keyClick(m_window->focusWidget(), Qt::Key_End);
    QVERIFY(line("node-e", 0)->hasFocus());
    QTest::keyClick(m_window->focusWidget(), Qt::Key_Home);
    QVERIFY(line(kLocalNodeName, 0)->hasFocus());
}

void TestMachinesPage::chartsAreOfTheSelectedLine() {
    QTest::mouseClick(line("node-b", 1), Qt::LeftButton);
    const auto* use = m_window->findChild<LineChart*>("machineChart1");
    const auto* power = m_window->findChild<LineChart*>("machineChart2");
    QCOMPARE(use->curves().size(), size_t(2)); // beside it the median of the others
    QVERIFY(use->curves()[0].y.size() > 200);
    const auto isLow = [](const LineChart* chart) { // it does little, for whatever reason
        return chart->curves()[0].y.back() < 0.8 * chart->curves()[1].y.back();
    };
    QTRY_VERIFY(isLow(use) && isLow(power));
    const auto* title = m_window->findChild<QLabel*>("selectedMachine");
    QVERIFY2((title->text() + title->toolTip()).contains("GPU 1 of node-b"),
             qPrintable(title->text()));
    QTest::mouseClick(line("node-d", 0), Qt::LeftButton);
    QVERIFY(use->curves()[0].y.back() > 0.4 && use->curves()[0].y.back() < 0.7); // 9 of 16 cores
}

void TestMachinesPage::aChartShowsAnotherFigure() {
    QTest::mouseClick(line("node-a", 0), Qt::LeftButton);
    auto* choice = m_window->findChild<QComboBox*>("machineFigure2");
    const auto* chart = m_window->findChild<LineChart*>("machineChart2");
    for (int at = 0; at < choice->count(); ++at) {
        choice->setCurrentIndex(at);
        Q_EMIT choice->activated(at);
        QVERIFY2(!chart->curves().empty() && !chart->curves().front().y.isEmpty(),
                 qPrintable(choice->currentText()));
    }
}

void TestMachinesPage::processesOfTheSelectedMachineAreAskedForWhenTheyAreSeen() {
    const auto asksForAll = [this](const char* node) {
        return std::ranges::any_of(m_engine->looks.back().questions,
                                   [node](const MachineQuestion& question) {
                                       return question.node == node && question.allProcesses;
                                   });
    };
    QVERIFY(!asksForAll(kLocalNodeName));
    m_window->findChild<Fold*>("machineProcesses")->setOpen(true);
    QTest::mouseClick(line("node-d", 0), Qt::LeftButton);
    QTRY_VERIFY(asksForAll("node-d"));
    const auto* rows = m_window->findChild<QTableView*>("processesTable")->model();
    QCOMPARE(rows->rowCount(), 2);
    QCOMPARE(rows->index(0, 0).data().toString(), QString("77"));
    QCOMPARE(rows->index(0, 6).data().toString(), QString("gpt · rank 0"));
    QCOMPARE(rows->index(1, 6).data().toString(), QString("–"));
}

void TestMachinesPage::nothingIsAskedWhileThePageIsHidden() {
    QVERIFY(page().isLooking() && m_engine->left.empty());
    const std::string by = m_engine->looks.back().by;
    m_window->showRuns();
    QVERIFY(!page().isLooking());
    QCOMPARE(m_engine->left.size(), size_t(1));
    QCOMPARE(m_engine->left.front(), by);
    const size_t before = m_engine->looks.size();
    m_window->showMachines();
    QVERIFY(page().isLooking());
    QTRY_VERIFY(m_engine->looks.size() > before);
    m_window->hide();
    QTRY_COMPARE(m_engine->left.size(), size_t(2));
}

void TestMachinesPage::itLooksFiveTimesAsOftenOnRequest() {
    QCOMPARE(m_engine->looks.back().intervalMs, 1000);
    page().fastButton()->click();
    QTRY_COMPARE(m_engine->looks.back().intervalMs, 200);
    page().fastButton()->click();
    QTRY_COMPARE(m_engine->looks.back().intervalMs, 1000);
}

void TestMachinesPage::aNodeThatIsAddedGetsACard() {
    QVERIFY(!card("node-z"));
    QVERIFY(m_fixture->fleet().add({"node-z", false, "10.0.0.2", "trainer", 0, {}}));
    QTRY_VERIFY(card("node-z"));
    QCOMPARE(card("node-a")->lines().size(), size_t(4)); // what was known stays
    QCOMPARE(textOf(card("node-z"), "machineChip"), QString("Connecting"));
}

void TestMachinesPage::everyControlHasANameAndIsReachable() {
    const QStringList nameless = namelessControls(page());
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
    const QStringList unreachable = unreachableControls(*m_window);
    QVERIFY2(unreachable.isEmpty(), qPrintable(unreachable.join('\n')));
    QVERIFY(line("node-a", 0)->accessibleName().contains("node-a"));
    QVERIFY(line("node-a", 0)->accessibleDescription().contains("rank 0"));
}

QTEST_MAIN(TestMachinesPage)
#include "tst_machines_page.moc"
