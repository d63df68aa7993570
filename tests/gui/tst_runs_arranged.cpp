// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/saved_filters.h"
#include "app/core/store/store_reader.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/runs/bulk_answer.h"
#include "app/ui/runs/runs_actions.h"
#include "app/ui/runs/runs_layout.h"
#include "app/ui/widgets/table.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAction>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTest>

using namespace rm;
using namespace rm::test;

/// What a person does with many runs: marks, tags and stops several at once, puts them in groups,
/// keeps filters and the arrangement of the columns.
class TestRunsArranged : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void aClickOnTheStarMarksTheRun();
    void severalAreStarredWithOneUndo();
    void anArchivedRunIsOutOfTheWay();
    void theFilterFindsArchivedRuns();
    void thoseThatRefuseAreNamed();
    void reasonsAreToldOnceEach();
    void tagsOfSeveralAreChangedAtOnce();
    void stoppingSeveralAsksOnce();
    void whatWaitsIsTakenOutOfTheQueue();
    void runsAreGroupedUnderHeaders();
    void groupsFoldByKeysAndStaySo();
    void groupsHaveTheMeansOfTheirNumbers();
    void groupsHaveTheRangesOfSettings();
    void groupsKeepTheirPlaces();
    void anySettingMakesGroups();
    void aHeaderIsNoRun();
    void aHeaderStandsForItsRuns();
    void columnsOfAPersonStay();
    void emptyColumnsGiveWayToCutOnes();
    void columnsWithoutRoomAreScrolled();
    void columnsStayAsTheyWereArranged();
    void columnsThatAreUnknownKeepTheOrder();
    void whatHasNoRoomIsNamed();
    void aFilterIsKeptUnderAName();
    void thousandsOfRunsAreGroupedAndFiltered();
    void aRunThatFinishesLeavesItsFoldedGroup();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    Table* table() const { return find<Table>("runsTable"); }
    QAbstractItemModel& rows() const { return *table()->model(); }
    QStringList ids() const { return m_demo->listedRuns(); }
    QStringList titles() const; ///< of headers
    int rowOf(const QString& run) const;
    int headerRow(const QString& begin) const;
    void choose(const QStringList& runs) const;
    void press(Qt::Key key) const { QTest::keyClick(table(), key, Qt::ControlModifier); }
    void click(const char* button) const;
    void clickAt(int row, int column) const;
    void chooseInMenu(const char* button, const char* menu, const QString& text) const;
    void groupBy(const QString& words) const { chooseInMenu("groupRuns", "groupMenu", words); }
    RunSummary stored(const QString& run) const;
    QString toast() const { return find<QWidget>("toast")->accessibleName(); }

    std::unique_ptr<WindowFixture> m_demo;
};

void TestRunsArranged::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo,
                                             WindowFixture::Access::kWrite);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->openRuns();
    QVERIFY(QTest::qWaitForWindowActive(&m_demo->window())); // keys go to the active one
    QTRY_COMPARE(ids().size(), 6);
}

QStringList TestRunsArranged::titles() const {
    QStringList titles;
    for (int row = 0; row < rows().rowCount(); ++row)
        if (rows().index(row, 0).data(kHeaderRole).isValid())
            titles << rows().index(row, 0).data().toString();
    return titles;
}

int TestRunsArranged::rowOf(const QString& run) const {
    for (int row = 0; row < rows().rowCount(); ++row)
        if (rows().index(row, 0).data(kIdRole).toString() == run)
            return row;
    return -1;
}

int TestRunsArranged::headerRow(const QString& begin) const {
    for (int row = 0; row < rows().rowCount(); ++row)
        if (rows().index(row, 0).data(kHeaderRole).isValid() &&
            rows().index(row, 0).data().toString().startsWith(begin))
            return row;
    return -1;
}

void TestRunsArranged::choose(const QStringList& runs) const {
    std::vector<int> places;
    for (const QString& run : runs)
        places.push_back(rowOf(run));
    table()->setFocus();
    table()->selectRows(places);
}

void TestRunsArranged::click(const char* button) const {
    auto* found = find<QPushButton>(button);
    QVERIFY2(found, button);
    QTRY_VERIFY2(found->isVisible() && found->isEnabled(), button);
    QTest::mouseClick(found, Qt::LeftButton);
}

void TestRunsArranged::clickAt(int row, int column) const {
    const QModelIndex cell = rows().index(row, column);
    table()->scrollTo(cell);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, table()->visualRect(cell).center());
}

/// Also what lies in a submenu.
void TestRunsArranged::chooseInMenu(const char* button, const char* menu,
                                    const QString& text) const {
    click(button);
    QTRY_VERIFY(find<QMenu>(menu));
    QStringList path = text.split(" > ");
    QMenu* open = find<QMenu>(menu);
    while (!path.isEmpty()) {
        const QString wanted = path.takeFirst();
        const auto actions = open->actions();
        const auto it = std::ranges::find(actions, wanted, &QAction::text);
        QVERIFY2(it != actions.end() && (*it)->isEnabled(), qPrintable(wanted));
        if (!path.isEmpty())
            open = (*it)->menu();
        else
            (*it)->trigger();
    }
    find<QMenu>(menu)->close();
    QTRY_VERIFY(!find<QMenu>(menu));
}

RunSummary TestRunsArranged::stored(const QString& run) const {
    return StoreReader::open(m_demo->engine().databasePath()).value()->run(run).value();
}

void TestRunsArranged::aClickOnTheStarMarksTheRun() {
    clickAt(rowOf(kFailedRun), RunsModel::kStar);
    QTRY_VERIFY(stored(kFailedRun).isStarred);
    const auto star = [&](const QString& run) {
        return rows().index(rowOf(run), RunsModel::kStar);
    };
    QTRY_VERIFY(star(kFailedRun).data(kStarRole).toBool());
    QVERIFY(!star(kFinishedRun).data(kStarRole).toBool());
    QCOMPARE(star(kFailedRun).data(Qt::AccessibleTextRole).toString(), QString("starred"));
    table()->sortByColumn(RunsModel::kStar, Qt::AscendingOrder);
    QCOMPARE(ids().front(), kFailedRun); // starred first
    clickAt(rowOf(kFailedRun), RunsModel::kStar);
    QTRY_VERIFY(!stored(kFailedRun).isStarred);
    // It is the first column, as narrow as a sign.
    QCOMPARE(table()->horizontalHeader()->visualIndex(RunsModel::kStar), 0);
    QVERIFY(table()->columnWidth(RunsModel::kStar) < 48);
}

void TestRunsArranged::severalAreStarredWithOneUndo() {
    choose({kFailedRun, kFinishedRun, kRunningRun});
    press(Qt::Key_D);
    QTRY_COMPARE(toast(), QString("3 runs starred"));
    QVERIFY(stored(kFailedRun).isStarred && stored(kRunningRun).isStarred);
    find<QLineEdit>("runsFilter")->setText("starred:yes");
    QTRY_COMPARE(ids().size(), 3);
    click("toastAction");
    QTRY_VERIFY(!stored(kFailedRun).isStarred && !stored(kFinishedRun).isStarred &&
                !stored(kRunningRun).isStarred);
    QTRY_COMPARE(ids().size(), 0);
}

void TestRunsArranged::anArchivedRunIsOutOfTheWay() {
    QVERIFY(!find<QPushButton>("showArchived")->isVisible());
    choose({kFinishedRun, kFailedRun});
    press(Qt::Key_E);
    QTRY_COMPARE(ids().size(), 4);
    QVERIFY(!ids().contains(kFinishedRun) && stored(kFinishedRun).isArchived);
    QTRY_COMPARE(toast(), QString("2 runs archived"));
    click("showArchived");
    QTRY_COMPARE(ids(), (QStringList{kFinishedRun, kFailedRun}));
    choose({kFailedRun});
    press(Qt::Key_E);
    QTRY_COMPARE(ids(), QStringList{kFinishedRun});
    click("showArchived");
    QTRY_COMPARE(ids().size(), 5);
    choose({kFailedRun});
    press(Qt::Key_E);
    QTRY_COMPARE(toast(), QString("gpt 2×8 wide archived"));
    click("toastAction");
    QTRY_VERIFY(ids().contains(kFailedRun));
}

void TestRunsArranged::theFilterFindsArchivedRuns() {
    const auto archived = m_demo->engine().ask(ArchiveRequest{kFinishedRun, true});
    QTRY_VERIFY(archived.isFinished());
    QTRY_COMPARE(ids().size(), 5);
    find<QLineEdit>("runsFilter")->setText("gpt archived:yes");
    QTRY_COMPARE(ids(), QStringList{kFinishedRun});
    find<QLineEdit>("runsFilter")->setText("gpt");
    QTRY_VERIFY(!ids().contains(kFinishedRun) && ids().size() == 3);
}

void TestRunsArranged::thoseThatRefuseAreNamed() {
    choose({kFinishedRun, kRunningRun});
    press(Qt::Key_Delete);
    QTRY_VERIFY2(toast().startsWith("1 of 2 runs deleted; translation en–it: it is running"),
                 qPrintable(toast()));
    QTRY_VERIFY(!ids().contains(kFinishedRun) && ids().contains(kRunningRun));
    click("toastAction");
    QTRY_VERIFY(ids().contains(kFinishedRun));
    choose({kRunningRun}); // nothing of which can be archived
    const auto* archive = find<QAction>("archiveRuns");
    QVERIFY(!archive->isEnabled());
    QVERIFY2(archive->toolTip().contains("stop or pause it first"), qPrintable(archive->toolTip()));
}

void TestRunsArranged::reasonsAreToldOnceEach() {
    BulkAnswer answer;
    answer.add("a", "archive a-1", {});
    for (const char* run : {"b", "c"})
        answer.add(run, std::string("archive ") + run,
                   fail(ErrorCode::kInvalid, std::string("archive ") + run + ": it is running"));
    answer.add("d", "archive d", fail(ErrorCode::kNotFound, "the disk is full"));
    const BulkWords words{"%1 archived", "%1 runs archived", "%1 of %2 runs archived"};
    QCOMPARE(bulkText(answer, words),
             QString("1 of 4 runs archived; b, c: it is running; d: the disk is full"));
    BulkAnswer one;
    one.add("a", "archive a", {});
    QCOMPARE(bulkText(one, words), QString("a archived"));
}

void TestRunsArranged::tagsOfSeveralAreChangedAtOnce() {
    choose({kFinishedRun, kRunningRun});
    press(Qt::Key_T);
    QTRY_VERIFY(find<QListWidget>("tagList"));
    auto* tags = find<QListWidget>("tagList");
    QCOMPARE(find<QDialog>("tagsDialog")->windowTitle(), QString("Tags of 2 runs"));
    const auto item = [&](const char* tag) {
        return tags->findItems(tag, Qt::MatchExactly).front();
    };
    QCOMPARE(item("wmt")->checkState(), Qt::PartiallyChecked); // stays with whom it is
    item("baseline")->setCheckState(Qt::Unchecked);
    item("first try")->setCheckState(Qt::Checked);
    find<QLineEdit>("newTags")->setText("paper, ");
    click("tagsConfirm");
    QTRY_COMPARE(stored(kRunningRun).tags, (QStringList{"wmt", "paper", "first try"}));
    QTRY_COMPARE(stored(kFinishedRun).tags, (QStringList{"first try", "paper"}));
    QTRY_COMPARE(toast(), QString("Tags of 2 runs changed"));
    click("toastAction");
    QTRY_COMPARE(stored(kRunningRun).tags, (QStringList{"wmt", "baseline"}));
    QTRY_COMPARE(stored(kFinishedRun).tags, QStringList{"first try"});
}

void TestRunsArranged::stoppingSeveralAsksOnce() {
    choose({kFinishedRun, kRunningRun, kPreparingRun});
    find<QAction>("stopRuns")->trigger();
    QTRY_VERIFY(find<QDialog>("stopRunsDialog"));
    QCOMPARE(find<QDialog>("stopRunsDialog")->windowTitle(), QString("Stop 2 runs?"));
    QStringList texts;
    for (const QLabel* label : find<QDialog>("stopRunsDialog")->findChildren<QLabel*>())
        texts << label->text();
    const QString text = texts.join(' ');
    QVERIFY2(text.contains("gpt-tiny seed 7") && text.contains("translation en–it") &&
                 text.contains("1 of those chosen has ended already"),
             qPrintable(text));
    find<QDialog>("stopRunsDialog")->reject();
    QTRY_VERIFY(!find<QDialog>("stopRunsDialog"));
    choose({kFinishedRun});
    QVERIFY(!find<QAction>("stopRuns")->isEnabled());
}

/// Also a run that has paused and waits to go on.
void TestRunsArranged::whatWaitsIsTakenOutOfTheQueue() {
    RunSummary waiting = stored(kPreparingRun), paused = stored(kPausedRun);
    waiting.state = RunStateKind::kWaiting;
    waiting.queuePlace = 1;
    paused.queuePlace = 2;
    auto* actions = m_demo->window().findChild<RunsActions*>();
    const auto* stop = find<QAction>("stopRuns");
    actions->offer({paused});
    QVERIFY(stop->isEnabled());
    QCOMPARE(stop->text(), QString("Take out of the queue"));
    for (const char* other : {"archiveRuns", "cleanChosen", "deleteRuns"}) {
        QVERIFY2(!find<QAction>(other)->isEnabled(), other);
        QVERIFY(find<QAction>(other)->toolTip().contains("waits in the queue"));
    }
    const auto ask = [&](const std::vector<RunSummary>& runs) {
        actions->offer(runs);
        find<QAction>("stopRuns")->trigger();
        auto* dialog = find<QDialog>("stopRunsDialog");
        QStringList texts{dialog->windowTitle()};
        for (const QLabel* label : dialog->findChildren<QLabel*>())
            texts << label->text();
        const bool offersPause = dialog->findChild<QPushButton*>("stopRunsPause");
        dialog->reject();
        return std::pair(texts.join(' '), offersPause);
    };
    const auto [queued, pausesQueued] = ask({waiting, paused});
    QVERIFY2(queued.contains("Take 2 runs out of the queue?") && !queued.contains("checkpoint"),
             qPrintable(queued));
    QVERIFY(!pausesQueued);
    QTRY_VERIFY(!find<QDialog>("stopRunsDialog"));
    const auto [both, pausesBoth] = ask({waiting, stored(kRunningRun)});
    QVERIFY2(both.contains("translation en–it ends at its next step") &&
                 both.contains("gpt-tiny seed 7 waits in the queue"),
             qPrintable(both));
    QVERIFY(pausesBoth);
}

void TestRunsArranged::runsAreGroupedUnderHeaders() {
    groupBy("State");
    QTRY_COMPARE(titles().size(), 5);
    QCOMPARE(ids().size(), 6);
    QVERIFY(titles().contains("Finished · 2 runs") && titles().contains("Failed · 1 run"));
    const int header = headerRow("Finished");
    QCOMPARE(QSet<QString>({rows().index(header + 1, 0).data(kIdRole).toString(),
                            rows().index(header + 2, 0).data(kIdRole).toString()}),
             QSet<QString>({kFinishedRun, kPicturesRun}));
    clickAt(header, RunsModel::kName);
    QTRY_COMPARE(ids().size(), 4);
    QVERIFY(!ids().contains(kFinishedRun));
    QCOMPARE(rows().index(headerRow("Finished"), 0).data(kHeaderRole).toBool(), false);
    clickAt(headerRow("Finished"), RunsModel::kName);
    QTRY_COMPARE(ids().size(), 6);
    find<QLineEdit>("runsFilter")->setText("state:finished");
    QTRY_COMPARE(titles(), QStringList("Finished · 2 runs"));
    find<QLineEdit>("runsFilter")->clear();
    groupBy("No groups");
    QTRY_VERIFY(titles().isEmpty() && ids().size() == 6);
}

void TestRunsArranged::groupsFoldByKeysAndStaySo() {
    groupBy("State");
    QTRY_COMPARE(titles().size(), 5);
    table()->setFocus();
    table()->selectRows({headerRow("Finished")});
    QTest::keyClick(table(), Qt::Key_Left);
    QTRY_COMPARE(ids().size(), 4);
    QTest::keyClick(table(), Qt::Key_Left); // it is folded away
    QCOMPARE(ids().size(), 4);
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths());
    again.show();
    again.showRuns();
    const auto* kept = again.findChild<Table*>("runsTable")->model();
    QTRY_COMPARE(kept->rowCount(), 4 + 5);
    QTest::keyClick(table(), Qt::Key_Right);
    QTRY_COMPARE(ids().size(), 6);
    QTest::keyClick(table(), Qt::Key_Return);
    QTRY_COMPARE(ids().size(), 4);
    groupBy("Unfold all");
    QTRY_COMPARE(ids().size(), 6);
    groupBy("Fold all");
    QTRY_COMPARE(ids().size(), 0);
    QCOMPARE(titles().size(), 5);
}

void TestRunsArranged::groupsHaveTheMeansOfTheirNumbers() {
    groupBy("State");
    QTRY_VERIFY(headerRow("Finished") >= 0);
    const auto cell = rows().index(headerRow("Finished"), RunsModel::kStep);
    QCOMPARE(cell.data().toString(), QString("1\u202F800")); // of 600 and 3,000
    const QString tip = cell.data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.contains("Mean of 2 runs") && tip.contains("from 600 to 3\u202F000") &&
                 tip.contains("standard deviation"),
             qPrintable(tip));
    const auto alone = rows().index(headerRow("Failed"), RunsModel::kStep);
    QCOMPARE(alone.data(Qt::ToolTipRole).toString(), QString("Of 1 run"));
    QVERIFY(rows().index(headerRow("Failed"), RunsModel::kNotes).data().toString().isEmpty());
}

void TestRunsArranged::groupsHaveTheRangesOfSettings() {
    RunsModel model;
    RunsFilter shown;
    shown.setSourceModel(&model);
    std::vector<RunSummary> runs(2);
    runs[0].id = "a";
    runs[1].id = "b";
    const RunValues::Table values{{"a", {{"optimizer.lr", "0.003162"}, {"seed", "1"}}},
                                  {"b", {{"optimizer.lr", "0.003162"}, {"seed", "1337"}}}};
    model.setRuns(runs);
    model.setKeys({"optimizer.lr", "seed"});
    model.setValues(values);
    shown.setFilter({}, values);
    shown.setGroupKey("state");
    int header = 0;
    while (header < shown.rowCount() && !shown.index(header, 0).data(kHeaderRole).toBool())
        ++header;
    QCOMPARE(shown.index(header, RunsModel::kColumnCount).data().toString(), QString("0.003162"));
    const QModelIndex seed = shown.index(header, RunsModel::kColumnCount + 1);
    QCOMPARE(seed.data().toString(), QString("1 … 1337"));
    QCOMPARE(seed.data(Qt::ToolTipRole).toString(), QString("From 1 to 1337 in 2 runs"));
}

void TestRunsArranged::groupsKeepTheirPlaces() {
    groupBy("State");
    QTRY_COMPARE(titles().size(), 5);
    const QStringList byValue = titles();
    QVERIFY(byValue.front().startsWith("Failed"));
    for (const auto order : {Qt::DescendingOrder, Qt::AscendingOrder}) {
        table()->sortByColumn(RunsModel::kStep, order);
        QCOMPARE(titles(), byValue);
        const int header = headerRow("Finished"); // of 600 and 3,000 steps
        QCOMPARE(rows().index(header + 1, 0).data(kIdRole).toString(),
                 order == Qt::AscendingOrder ? kFinishedRun : kPicturesRun);
    }
    table()->sortByColumn(RunsModel::kState, Qt::DescendingOrder);
    QCOMPARE(titles(), QStringList(byValue.rbegin(), byValue.rend()));
    QVERIFY(rows().index(0, 0).data(kHeaderRole).isValid()); // it comes first
}

void TestRunsArranged::anySettingMakesGroups() {
    chooseInMenu("groupRuns", "groupMenu", "Another setting or metric");
    QTRY_VERIFY(find<QLineEdit>("groupKey"));
    find<QLineEdit>("groupKey")->setText("learning_rat");
    click("groupConfirm");
    QVERIFY(find<QDialog>("groupDialog")->isVisible()); // it says what is wrong
    find<QLineEdit>("groupKey")->setText("train.steps");
    click("groupConfirm");
    QTRY_VERIFY(titles().contains("steps = 600 · 2 runs"));
    QCOMPARE(find<QPushButton>("groupRuns")->text(), QString("By train.steps"));
}

void TestRunsArranged::aHeaderIsNoRun() {
    groupBy("State");
    QTRY_COMPARE(titles().size(), 5);
    table()->selectAll();
    find<QAction>("starRuns")->trigger();
    QTRY_COMPARE(toast(), QString("6 runs starred"));
    table()->selectRows({headerRow("Finished")});
    QTest::keyClick(table(), Qt::Key_F2); // nothing is renamed
    QVERIFY(!find<QDialog>("renameDialog"));
}

void TestRunsArranged::aHeaderStandsForItsRuns() {
    groupBy("State");
    QTRY_COMPARE(titles().size(), 5);
    table()->selectRows({headerRow("Finished")});
    QVERIFY(find<QPushButton>("deleteRun")->isEnabled());
    find<QAction>("starRuns")->trigger();
    QTRY_COMPARE(toast(), QString("2 runs starred"));
    QTRY_VERIFY(rows().index(rowOf(kFinishedRun), RunsModel::kStar).data(kStarRole).toBool() &&
                rows().index(rowOf(kPicturesRun), RunsModel::kStar).data(kStarRole).toBool());
    // Of a group with runs that are selected themselves it is these alone.
    table()->selectRows({headerRow("Finished"), headerRow("Finished") + 1});
    find<QAction>("starRuns")->trigger();
    QTRY_VERIFY2(toast().contains("has no star any more"), qPrintable(toast()));
    groupBy("Fold all");
    QTRY_COMPARE(ids().size(), 0);
    table()->selectAll();
    find<QAction>("archiveRuns")->trigger();
    QTRY_VERIFY2(toast().contains("of 6 runs archived"), qPrintable(toast()));
}

void TestRunsArranged::columnsOfAPersonStay() {
    QHeaderView* header = table()->horizontalHeader();
    header->moveSection(header->visualIndex(RunsModel::kNodes), 2);
    m_demo->window().resize(1000, 700);
    QTRY_VERIFY(table()->isColumnHidden(RunsModel::kCreated));
    for (const int column : {RunsModel::kNodes, RunsModel::kStep, RunsModel::kBest})
        QVERIFY(!table()->isColumnHidden(column));
    QVERIFY(find<QLabel>("runsLeftOut")->isVisible());
}

void TestRunsArranged::emptyColumnsGiveWayToCutOnes() {
    QStandardItemModel model(1, 3);
    model.setItem(0, 0, new QStandardItem(QString(40, 'm')));
    Table small("small", "small");
    small.setModel(&model);
    small.setColumnWidths({60, 100, 0});
    small.resize(60 + 100 + 400, 200);
    small.show();
    QVERIFY(QTest::qWaitForWindowExposed(&small));
    const QAbstractItemView* view = &small; // whose hints are public
    const int whole = view->sizeHintForColumn(0);
    small.resize(whole + 50, 200);
    small.setEmptyColumns({1, 2});
    small.fitToContents({{0, 100}});
    QVERIFY(small.isColumnHidden(1) && small.isColumnHidden(2));
    QCOMPARE(small.columnWidth(0), whole);
    small.resize(whole + 400, 200);
    QTRY_VERIFY(!small.isColumnHidden(1) && !small.isColumnHidden(2));
    QCOMPARE(small.columnWidth(0), whole);
}

void TestRunsArranged::columnsWithoutRoomAreScrolled() {
    QStandardItemModel model(1, 4);
    Table small("small", "small");
    small.setModel(&model);
    small.setColumnWidths({200, 200, 200, 0});
    small.setLeastLeft(72);
    small.resize(300, 200);
    small.show();
    QVERIFY(QTest::qWaitForWindowExposed(&small));
    QTRY_VERIFY(small.horizontalScrollBar()->maximum() > 0);
    QCOMPARE(small.columnWidth(3), 72);
    small.resize(900, 200);
    QTRY_COMPARE(small.horizontalScrollBar()->maximum(), 0);
    QVERIFY(small.columnWidth(3) > 200); // it takes what is left again
}

void TestRunsArranged::columnsStayAsTheyWereArranged() {
    QHeaderView* header = table()->horizontalHeader();
    header->moveSection(header->visualIndex(RunsModel::kTags), 2);
    header->resizeSection(RunsModel::kLoss, 133);
    table()->sortByColumn(RunsModel::kLoss, Qt::AscendingOrder);
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths());
    again.resize(1440, 900);
    again.show();
    again.showRuns();
    auto* kept = again.findChild<Table*>("runsTable");
    QTRY_COMPARE(kept->model()->rowCount(), 6);
    QCOMPARE(kept->horizontalHeader()->visualIndex(RunsModel::kTags), 2);
    QCOMPARE(kept->columnWidth(RunsModel::kLoss), 133);
    QCOMPARE(kept->horizontalHeader()->sortIndicatorSection(), static_cast<int>(RunsModel::kLoss));
    QCOMPARE(kept->horizontalHeader()->sortIndicatorOrder(), Qt::AscendingOrder);
    click("chooseColumns");
    QTRY_VERIFY(find<QPushButton>("resetColumns"));
    click("resetColumns");
    QVERIFY(header->visualIndex(RunsModel::kTags) > 2);
    QVERIFY(table()->columnWidth(RunsModel::kLoss) != 133);
}

void TestRunsArranged::columnsThatAreUnknownKeepTheOrder() {
    const QStringList now{"star", "name", "loss", "lr", "notes"};
    QCOMPARE(orderedColumns(now, {}), now);
    QCOMPARE(orderedColumns(now, {"loss", "star", "name", "notes", "gone"}),
             (QStringList{"loss", "lr", "star", "name", "notes"}));
    QCOMPARE(orderedColumns(now, {"notes", "lr"}),
             (QStringList{"star", "name", "loss", "notes", "lr"}));
}

void TestRunsArranged::whatHasNoRoomIsNamed() {
    const auto* said = find<QLabel>("runsLeftOut");
    m_demo->window().resize(1600, 900);
    QTRY_VERIFY(!said->isVisible());
    m_demo->window().resize(760, 700);
    QTRY_VERIFY(said->isVisible());
    QVERIFY2(said->text().contains("Nodes") && !said->text().contains("Branch of"), // none is one
             qPrintable(said->text()));
}

void TestRunsArranged::aFilterIsKeptUnderAName() {
    auto* filter = find<QLineEdit>("runsFilter");
    filter->setText("gpt step >= 600");
    QTRY_COMPARE(ids().size(), 3);
    chooseInMenu("runFilters", "filtersMenu", "Save this filter");
    QTRY_VERIFY(find<QLineEdit>("filterName"));
    find<QLineEdit>("filterName")->setText("long & good");
    click("filterNameConfirm");
    QTRY_VERIFY(!find<QDialog>("filterNameDialog"));
    QCOMPARE(savedFilters(m_demo->paths()),
             (std::vector<SavedFilter>{{"long & good", "gpt step >= 600"}}));
    filter->clear();
    QTRY_COMPARE(ids().size(), 6);
    chooseInMenu("runFilters", "filtersMenu", "long && good");
    QCOMPARE(filter->text(), QString("gpt step >= 600"));
    QTRY_COMPARE(ids().size(), 3);
    chooseInMenu("runFilters", "filtersMenu", "Rename > long && good");
    QTRY_VERIFY(find<QLineEdit>("filterName"));
    find<QLineEdit>("filterName")->setText("mine");
    click("filterNameConfirm");
    QTRY_VERIFY(!find<QDialog>("filterNameDialog"));
    filter->setText("@mine"); // as in the terminal
    QTRY_COMPARE(ids().size(), 3);
    filter->setText("@yours");
    QVERIFY(filter->property("invalid").toBool());
    QVERIFY2(filter->toolTip().contains("these are kept: mine"), qPrintable(filter->toolTip()));
    chooseInMenu("runFilters", "filtersMenu", "Delete > mine");
    QVERIFY(savedFilters(m_demo->paths()).empty());
    click("toastAction");
    QCOMPARE(savedFilters(m_demo->paths()).size(), size_t(1));
}

void TestRunsArranged::thousandsOfRunsAreGroupedAndFiltered() {
    RunsModel model;
    RunsFilter shown;
    shown.setSourceModel(&model);
    std::vector<RunSummary> runs;
    for (int at = 0; at < 5000; ++at) {
        RunSummary run;
        run.id = QString::number(at);
        run.name = QString("run %1").arg(at);
        run.state = at % 5 == 0 ? RunStateKind::kFailed : RunStateKind::kFinished;
        run.loss = at;
        run.createdNs = at;
        run.tags = {QString("t%1").arg(at % 50)};
        run.isArchived = at % 2 == 1;
        runs.push_back(run);
    }
    model.setRuns(runs);
    shown.sort(RunsModel::kLoss, Qt::DescendingOrder);
    shown.setGroupKey("tag");
    QCOMPARE(shown.rowCount(), 2500 + 25);
    QCOMPARE(shown.runsInSight(), 2500);
    QVERIFY(shown.isHeader(0));
    QCOMPARE(shown.index(0, 0).data().toString(), QString("t0 · 100 runs"));
    QCOMPARE(shown.index(1, 0).data().toString(), QString("run 4950"));
    shown.setFilter(*parseRunFilter("archived:yes state:failed"));
    QCOMPARE(shown.runsInSight(), 500);
    shown.foldAll(true);
    QCOMPARE(shown.rowCount(), 5);
    runs.pop_back(); // news while groups are folded
    model.setRuns(runs);
    shown.regroup();
    QCOMPARE(shown.rowCount(), 5);
    runs[0].isArchived = true; // the same rows, another group
    model.setRuns(runs);
    shown.regroup();
    QCOMPARE(shown.runsInSight(), 501);
}

/// The groups have the same places before and after, and other values.
void TestRunsArranged::aRunThatFinishesLeavesItsFoldedGroup() {
    RunsModel model;
    RunsFilter shown;
    shown.setSourceModel(&model);
    RunSummary run;
    run.id = "a";
    const auto become = [&](RunStateKind state) {
        run.state = state;
        model.setRuns({run});
        shown.regroup();
    };
    shown.sort(RunsModel::kName, Qt::AscendingOrder);
    shown.setGroupKey("state");
    shown.setFolded({"running"});
    become(RunStateKind::kRunning);
    QCOMPARE(shown.rowCount(), 1);
    become(RunStateKind::kFinished);
    QCOMPARE(shown.rowCount(), 2);
    QVERIFY(shown.index(0, 0).data(kHeaderRole).toBool());
    become(RunStateKind::kRunning);
    QCOMPARE(shown.rowCount(), 1);
    QVERIFY(!shown.index(0, 0).data(kHeaderRole).toBool());
}

QTEST_MAIN(TestRunsArranged)
#include "tst_runs_arranged.moc"
