// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/engine.h"
#include "app/core/store/store_reader.h"
#include "app/ui/new_run/new_run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr const char* kBusyNode = "node-a"; ///< on which the demo trains

constexpr const char* kQueuedSpec = "name = \"mine\"\n"
                                    "[data]\n"
                                    "train = [\"/usr/share/common-licenses/BSD\"]\n"
                                    "[train]\n"
                                    "steps = 100\n";

} // namespace

/// Runs that wait for free nodes, in a real window over a real queue. Their node trains another
/// run, so that none of them starts.
class TestQueue : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void settingsThatVaryPutASweepIntoTheQueue();
    void aMistakeInASettingIsNamedAndQueuesNothing();
    void theButtonsMoveARun();
    void aDraggedRunStandsWhereItWasDropped();
    void whatIsTakenOutNeverTrains();

private:
    template <class T>
    T* find(const QString& name) const {
        return m_demo->window().findChild<T*>(name);
    }
    void click(const char* name) const { find<QAbstractButton>(name)->click(); }
    QDialog* askQueue() const;
    void enqueueThree() const;
    QStringList listed() const;
    QStringList stored() const;

    std::unique_ptr<WindowFixture> m_demo;
};

void TestQueue::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo,
                                             WindowFixture::Access::kWrite);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    Node node;
    node.name = kBusyNode;
    node.sshHost = "a.invalid";
    QVERIFY(m_demo->fleet().add(node));
    m_demo->window().resize(1440, 900);
}

/// The dialog behind "Queue..." of New run, with the busy node alone.
QDialog* TestQueue::askQueue() const {
    m_demo->window().showNewRun();
    const NewRunPage& page = m_demo->window().newRunPage();
    page.findChild<QPlainTextEdit*>("specToml")->setPlainText(kQueuedSpec);
    const auto place = [&](const QString& node) {
        return page.findChild<QCheckBox*>("place." + node);
    };
    const auto* queue = page.findChild<QPushButton*>("queueRun");
    if (!QTest::qWaitFor([&] { return place(kBusyNode) && place(kLocalNodeName); }))
        return nullptr;
    place(kBusyNode)->setChecked(true);
    place(kLocalNodeName)->setChecked(false);
    if (!QTest::qWaitFor([&] { return queue->isEnabled(); }, 20'000))
        return nullptr;
    click("queueRun");
    return find<QDialog>("enqueueDialog");
}

/// The names of the runs in the dialog of the queue, from the top.
QStringList TestQueue::listed() const {
    QStringList names;
    const auto* list = find<QListWidget>("queueList");
    for (int row = 0; list && row < list->count(); ++row)
        names << list->item(row)->text().section('\n', 0, 0);
    return names;
}

/// The same of the database.
QStringList TestQueue::stored() const {
    QStringList names;
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    for (const QueueEntry& entry : (*reader)->queue())
        names << (*reader)->run(entry.run).value_or(RunSummary()).name;
    return names;
}

void TestQueue::enqueueThree() const {
    QVERIFY(askQueue());
    find<QPlainTextEdit>("sweepAxes")->setPlainText("seed = 1, 2, 3");
    QTRY_VERIFY(find<QPushButton>("enqueueConfirm")->isEnabled());
    click("enqueueConfirm");
    QTRY_VERIFY(!find<QDialog>("enqueueDialog"));
    QTRY_COMPARE(stored().size(), 3);
    m_demo->window().showRuns();
    click("showQueue");
    QTRY_COMPARE(listed(), stored());
}

void TestQueue::settingsThatVaryPutASweepIntoTheQueue() {
    QVERIFY(askQueue());
    find<QPlainTextEdit>("sweepAxes")->setPlainText("lr = 1e-4..1e-2/3\nbatch_size = 4, 8");
    const auto* preview = find<QLabel>("sweepPreview");
    QTRY_VERIFY2(preview->text().startsWith("6 runs:\nmine"), qPrintable(preview->text()));
    find<QSpinBox>("sweepSamples")->setValue(2);
    QTRY_VERIFY2(preview->text().startsWith("2 runs:\nmine"), qPrintable(preview->text()));
    QTRY_VERIFY(find<QPushButton>("enqueueConfirm")->isEnabled());
    click("enqueueConfirm");
    QTRY_VERIFY(!find<QDialog>("enqueueDialog"));
    QTRY_COMPARE(stored().size(), 2);
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    const auto queue = (*reader)->queue();
    const RunSummary first = (*reader)->run(queue[0].run).value();
    const RunSummary second = (*reader)->run(queue[1].run).value();
    QCOMPARE(first.state, RunStateKind::kWaiting);
    QVERIFY(!first.sweep.isEmpty() && first.sweep == second.sweep);
    QVERIFY((*reader)->specToml(first.id) != (*reader)->specToml(second.id));
    // What it waits for stands in the dialog: who has its node.
    m_demo->window().showRuns();
    click("showQueue");
    QTRY_COMPARE(listed(), stored());
    const QString words = find<QListWidget>("queueList")->item(0)->text();
    QVERIFY2(words.contains(kBusyNode) && words.contains("translation en–it"), qPrintable(words));
}

void TestQueue::aMistakeInASettingIsNamedAndQueuesNothing() {
    QDialog* dialog = askQueue();
    QVERIFY(dialog);
    const auto* preview = find<QLabel>("sweepPreview");
    const auto* confirm = find<QPushButton>("enqueueConfirm");
    for (const auto& [typed, complaint] : {std::pair("no_such_setting = 1, 2", "no_such_setting"),
                                           {"lr = quick", "quick"},
                                           {"lr", "lr"}}) {
        find<QPlainTextEdit>("sweepAxes")->setPlainText(typed);
        QTRY_VERIFY2(preview->text().contains(complaint), qPrintable(preview->text()));
        QVERIFY(!confirm->isEnabled());
    }
    find<QPlainTextEdit>("sweepAxes")->setPlainText(QString()); // one run, without a sweep
    QTRY_VERIFY2(preview->text().startsWith("1 run:\nmine"), qPrintable(preview->text()));
    dialog->reject();
    QTRY_VERIFY(!find<QDialog>("enqueueDialog"));
    QVERIFY(stored().isEmpty());
}

void TestQueue::theButtonsMoveARun() {
    enqueueThree();
    const QStringList before = listed();
    auto* list = find<QListWidget>("queueList");
    const auto* up = find<QPushButton>("queueUp");
    const auto* down = find<QPushButton>("queueDown");
    list->setCurrentRow(0);
    QVERIFY(!up->isEnabled() && down->isEnabled());
    click("queueDown");
    const QStringList moved{before[1], before[0], before[2]};
    QTRY_COMPARE(stored(), moved);
    QTRY_COMPARE(listed(), moved);
    QCOMPARE(list->currentRow(), 1); // the choice goes with the run
    click("queueDown");
    QTRY_COMPARE(listed(), (QStringList{before[1], before[2], before[0]}));
    QVERIFY(up->isEnabled() && !down->isEnabled());
    click("queueUp");
    QTRY_COMPARE(listed(), moved);
    QTRY_COMPARE(stored(), moved);
}

void TestQueue::aDraggedRunStandsWhereItWasDropped() {
    enqueueThree();
    const QStringList before = listed();
    auto* list = find<QListWidget>("queueList");
    const auto drag = [list](int from, int to) { // as a drop within the list does
        return list->model()->moveRow({}, from, {}, to > from ? to + 1 : to);
    };
    QVERIFY(drag(2, 0));
    const QStringList up{before[2], before[0], before[1]};
    QTRY_COMPARE(stored(), up);
    QTRY_COMPARE(listed(), up);
    QVERIFY(drag(0, 1));
    QTRY_COMPARE(stored(), (QStringList{before[0], before[2], before[1]}));
    QTRY_COMPARE(listed(), stored());
    list->setCurrentRow(0);
    QVERIFY(!find<QPushButton>("queueUp")->isEnabled());
    QVERIFY(drag(0, 2));
    QTRY_VERIFY(find<QPushButton>("queueUp")->isEnabled());
    QTRY_COMPARE(stored(), (QStringList{before[2], before[1], before[0]}));
    QTRY_COMPARE(listed(), stored());
}

void TestQueue::whatIsTakenOutNeverTrains() {
    enqueueThree();
    const QStringList before = listed();
    auto* list = find<QListWidget>("queueList");
    list->setCurrentRow(1);
    const QString run = list->currentItem()->toolTip();
    click("queueOut");
    QTRY_COMPARE(listed(), (QStringList{before[0], before[2]}));
    QCOMPARE(stored(), listed());
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    const RunSummary out = (*reader)->run(run).value();
    QCOMPARE(out.state, RunStateKind::kStopped);
    QCOMPARE(out.trainedSteps(), int64_t(0));
    for (int left = 2; left > 0; --left) {
        list->setCurrentRow(0);
        click("queueOut");
        QTRY_COMPARE(listed().size(), left - 1);
    }
    QVERIFY(!find<QPushButton>("queueOut")->isEnabled());
    QTRY_VERIFY(stored().isEmpty());
}

QTEST_MAIN(TestQueue)
#include "tst_queue.moc"
