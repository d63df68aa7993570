// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

using namespace rm;
using namespace rm::test;

/// Runs are renamed, and deleted with a way back, unless they train.
class TestRunsPage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void aDeletedRunIsGoneAndUndoBringsItBack();
    void theUndoIsOfTheRunThatTheToastNames();
    void theKeyForUndoBringsARunBack();
    void afterADeleteNothingIsSelected();
    void whatIsWrongWithAFilterIsToldBelowIt();
    void aFilterIsThereAtTheNextStart();
    void theQueueMovesNothing();
    void theKeyboardBeginsInTheTable();
    void theMenuSorts();
    void buttonsOfTheColumnsAreNotCut();
    void aRunThatTrainsIsNotDeleted();
    void withoutTheDatabaseNothingIsDeleted();
    void aDoubleClickEditsTagsAndNotes_data();
    void aDoubleClickEditsTagsAndNotes();
    void newsOfRunsLeavesAnEditorAlone();
    void aDoubleClickElsewhereOpensTheRun();
    void whoComesToTheRunsStandsInTheTable();
    void anIdIsFound();
    void onlyRunsThatHaveNotEndedAreLive();
    void f2RenamesTheRun();
    void aNameThatIsTakenIsToldInTheDialog();
    void theMenuOffersWhatTheRunAllows();
    void columnsGiveWayInANarrowWindow();
    void whenARunWasMadeIsNotCut();
    void theTrashBringsBackARun();
    void theTrashKeepsWhatIsChosen();
    void theTrashIsEmptiedOnceAPersonAgrees();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    QAbstractItemModel& rows() const { return *find<QAbstractItemView>("runsTable")->model(); }
    QStringList ids() const { return m_demo->listedRuns(); }
    void choose(const QString& run) const;
    void click(const char* button) const;
    void openTrashOfTwo() const; ///< of kFinishedRun and kFailedRun
    bool isStored(const QString& run) const;
    QString toast() const { return find<QWidget>("toast")->accessibleName(); }
    void openWindow(WindowFixture::Access access);
    void doubleClick(const QString& run, int column) const;
    QLineEdit* editor() const {
        return find<QAbstractItemView>("runsTable")->viewport()->findChild<QLineEdit*>();
    }

    std::unique_ptr<WindowFixture> m_demo;
};

void TestRunsPage::openWindow(WindowFixture::Access access) {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo, access);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().showRuns();
    QTRY_COMPARE(rows().rowCount(), 6);
}

void TestRunsPage::init() {
    openWindow(WindowFixture::Access::kWrite);
}

void TestRunsPage::choose(const QString& run) const {
    QVERIFY(ids().contains(run));
    find<QAbstractItemView>("runsTable")
        ->setCurrentIndex(rows().index(static_cast<int>(ids().indexOf(run)), 0));
}

void TestRunsPage::click(const char* button) const {
    auto* found = find<QPushButton>(button);
    QTRY_VERIFY2(found->isVisible() && found->isEnabled(), button);
    QTest::mouseClick(found, Qt::LeftButton);
}

bool TestRunsPage::isStored(const QString& run) const {
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    return reader && std::ranges::any_of((*reader)->runs(),
                                         [&](const RunSummary& each) { return each.id == run; });
}

void TestRunsPage::aDeletedRunIsGoneAndUndoBringsItBack() {
    const QStringList before = ids();
    choose(kFinishedRun);
    click("deleteRun");
    QTRY_VERIFY(!ids().contains(kFinishedRun));
    QCOMPARE(ids().size(), 5);
    QVERIFY(find<QAbstractItemView>("runsTable")->currentIndex().isValid()); // the one in its place
    QVERIFY(!isStored(kFinishedRun));
    QTRY_COMPARE(toast(), QString("gpt-tiny deleted"));
    click("toastAction");
    QTRY_COMPARE(ids(), before);
    QVERIFY(isStored(kFinishedRun));
    QVERIFY(!find<QWidget>("toast")->isVisible());
}

void TestRunsPage::theUndoIsOfTheRunThatTheToastNames() {
    choose(kFinishedRun);
    click("deleteRun");
    QTRY_COMPARE(ids().size(), 5);
    choose(kFailedRun);
    click("deleteRun");
    QTRY_COMPARE(ids().size(), 4);
    QTRY_COMPARE(toast(), QString("gpt 2×8 wide deleted"));
    click("toastAction");
    QTRY_VERIFY(ids().contains(kFailedRun));
    QVERIFY(!ids().contains(kFinishedRun));
}

void TestRunsPage::theKeyForUndoBringsARunBack() {
    choose(kFinishedRun);
    click("deleteRun");
    QTRY_COMPARE(toast(), QString("gpt-tiny deleted"));
    QTRY_VERIFY(!ids().contains(kFinishedRun));
    QTest::keyClick(find<QAbstractItemView>("runsTable"), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(ids().contains(kFinishedRun));
    QVERIFY(!find<QWidget>("toast")->isVisible());
}

void TestRunsPage::afterADeleteNothingIsSelected() {
    auto* table = find<QAbstractItemView>("runsTable");
    table->setFocus();
    choose(kFinishedRun);
    const int row = table->currentIndex().row();
    QTest::keyClick(table, Qt::Key_Delete, Qt::ControlModifier);
    QTRY_COMPARE(ids().size(), 5);
    QVERIFY(!table->selectionModel()->hasSelection());
    QCOMPARE(table->currentIndex().row(), std::min(row, 4));
    QVERIFY(table->hasFocus());
    QVERIFY(!find<QPushButton>("deleteRun")->isEnabled());
}

void TestRunsPage::whatIsWrongWithAFilterIsToldBelowIt() {
    auto* filter = find<QLineEdit>("runsFilter");
    const auto* problem = find<QLabel>("runsFilterProblem");
    filter->setText("zzz");
    QTRY_COMPARE(ids().size(), 0);
    filter->setText("zzz <"); // unfinished
    QVERIFY(problem->isVisible() && !problem->text().isEmpty());
    QTRY_COMPARE(ids().size(), 6);
    QVERIFY(find<QAbstractItemView>("runsTable")->isVisible());
    filter->setText("gpt");
    QTRY_COMPARE(ids().size(), 4);
    QVERIFY(!problem->isVisible());
    filter->setText("gpt loss <");
    QVERIFY(problem->isVisible());
    QCOMPARE(ids().size(), 4);
}

void TestRunsPage::aFilterIsThereAtTheNextStart() {
    find<QLineEdit>("runsFilter")->setText("gpt");
    QTRY_COMPARE(ids().size(), 4);
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths());
    QCOMPARE(again.findChild<QLineEdit*>("runsFilter")->text(), QString("gpt"));
    QTRY_COMPARE(again.findChild<QAbstractItemView*>("runsTable")->model()->rowCount(), 4);
}

void TestRunsPage::theQueueMovesNothing() {
    m_demo->window().resize(1000, 700);
    const auto placeOf = [this](const char* name) {
        return find<QWidget>(name)->mapTo(&m_demo->window(), QPoint());
    };
    auto* queue = find<QPushButton>("showQueue");
    queue->hide();
    QCoreApplication::processEvents(); // what the layouts have posted
    const QPoint table = placeOf("runsTable"), columns = placeOf("chooseColumns");
    queue->show();
    QCoreApplication::processEvents();
    QCOMPARE(placeOf("runsTable"), table);
    QCOMPARE(placeOf("chooseColumns"), columns);
    // And the actions are beside the title.
    const auto* create = find<QPushButton>("newRun");
    QVERIFY(create->parentWidget()->height() < 2 * create->height());
}

void TestRunsPage::theKeyboardBeginsInTheTable() {
    MainWindow again(m_demo->engine(), m_demo->fleet(), m_demo->paths());
    again.show();
    again.showRuns();
    QVERIFY(QTest::qWaitForWindowActive(&again));
    QTRY_VERIFY(again.findChild<QAbstractItemView*>("runsTable")->hasFocus());
}

void TestRunsPage::theMenuSorts() {
    auto* table = find<QTableView>("runsTable");
    const auto sortBy = [&](const QString& title) {
        Q_EMIT table->customContextMenuRequested(table->visualRect(rows().index(0, 0)).center());
        QTRY_VERIFY(find<QMenu>("sortMenu"));
        for (QAction* action : find<QMenu>("sortMenu")->actions())
            if (action->text() == title)
                action->trigger();
        find<QMenu>("runMenu")->close();
        QTRY_VERIFY(!find<QMenu>("runMenu"));
    };
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        sortBy("Step");
        QCOMPARE(table->horizontalHeader()->sortIndicatorSection(),
                 static_cast<int>(RunsModel::kStep));
        QCOMPARE(table->horizontalHeader()->sortIndicatorOrder(), order);
    }
}

void TestRunsPage::buttonsOfTheColumnsAreNotCut() {
    click("chooseColumns");
    QTRY_VERIFY(find<QPushButton>("resetColumns") &&
                find<QPushButton>("resetColumns")->isVisible());
    for (const char* button : {"tickDiffering", "tickNone", "resetColumns", "showColumns"})
        QTRY_VERIFY2(find<QPushButton>(button)->width() >=
                         find<QPushButton>(button)->sizeHint().width(),
                     button);
}

/// Not on "Delete", where Return would do more than open the chosen run.
void TestRunsPage::whoComesToTheRunsStandsInTheTable() {
    choose(kFinishedRun);
    for (const int page : {Qt::Key_2, Qt::Key_1})
        QTest::keyClick(&m_demo->window(), static_cast<Qt::Key>(page), Qt::ControlModifier);
    QVERIFY(find<QAbstractItemView>("runsTable")->hasFocus());
    QTest::keyClick(find<QAbstractItemView>("runsTable"), Qt::Key_Return);
    QVERIFY(ids().contains(kFinishedRun));
}

/// Warnings name runs by their ids.
void TestRunsPage::anIdIsFound() {
    find<QLineEdit>("runsFilter")->setText(kFailedRun);
    QTRY_COMPARE(ids(), QStringList(kFailedRun));
    find<QLineEdit>("runsFilter")->setText("no such id");
    QTRY_COMPARE(ids().size(), 0);
}

void TestRunsPage::aRunThatTrainsIsNotDeleted() {
    const auto* remove = find<QPushButton>("deleteRun");
    for (const QString& run : {kRunningRun, kPreparingRun}) {
        choose(run);
        QVERIFY(!remove->isEnabled());
        QVERIFY2(remove->toolTip().contains("stop or pause it first"),
                 qPrintable(remove->toolTip()));
        // Another window may show it as it was.
        const auto deleted = m_demo->engine().ask(DeletedRequest{run, true});
        QTRY_VERIFY(deleted.isFinished());
        QVERIFY(!deleted.result() &&
                deleted.result().error().message.find("stop or pause it") != std::string::npos);
        QVERIFY(isStored(run));
    }
    choose(kFinishedRun);
    QVERIFY(remove->isEnabled() && remove->toolTip().isEmpty());
    QCOMPARE(ids().size(), 6);
}

void TestRunsPage::withoutTheDatabaseNothingIsDeleted() {
    openWindow(WindowFixture::Access::kRead);
    choose(kFinishedRun);
    click("deleteRun");
    QTRY_VERIFY2(toast().contains("another Ringmaster"), qPrintable(toast()));
    QCOMPARE(ids().size(), 6);
}

void TestRunsPage::doubleClick(const QString& run, int column) const {
    auto* table = find<QAbstractItemView>("runsTable");
    const auto cell = rows().index(static_cast<int>(ids().indexOf(run)), column);
    table->scrollTo(cell);
    const QPoint at = table->visualRect(cell).center();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, at);
}

void TestRunsPage::aDoubleClickEditsTagsAndNotes_data() {
    QTest::addColumn<int>("column");
    QTest::newRow("tags") << static_cast<int>(RunsModel::kTags);
    QTest::newRow("notes") << static_cast<int>(RunsModel::kNotes);
}

void TestRunsPage::aDoubleClickEditsTagsAndNotes() {
    QFETCH(int, column);
    for (const QString& run : {kFinishedRun, kPausedRun}) {
        doubleClick(run, column);
        QVERIFY(editor());
        QVERIFY(!m_demo->window().runPage().isVisible());
        editor()->setText("mine");
        QTest::keyClick(editor(), Qt::Key_Return);
        QTRY_COMPARE(rows().index(static_cast<int>(ids().indexOf(run)), column).data().toString(),
                     QString("mine"));
        QTRY_VERIFY(!editor());
    }
}

void TestRunsPage::newsOfRunsLeavesAnEditorAlone() {
    doubleClick(kFinishedRun, RunsModel::kNotes);
    QVERIFY(editor());
    editor()->setText("half a sent");
    QSignalSpy changed(&m_demo->window().runs(), &RunsFeed::changed);
    const auto noted = m_demo->engine().ask(NotesRequest{kRunningRun, "goes on"});
    QVERIFY(changed.wait());
    QTRY_VERIFY(noted.isFinished() && noted.result());
    QVERIFY(editor());
    QCOMPARE(editor()->text(), QString("half a sent"));
}

void TestRunsPage::aDoubleClickElsewhereOpensTheRun() {
    doubleClick(kFinishedRun, RunsModel::kName);
    QTRY_VERIFY(m_demo->window().runPage().isVisible());
    QCOMPARE(m_demo->window().runPage().run(), kFinishedRun);
}

void TestRunsPage::onlyRunsThatHaveNotEndedAreLive() {
    QStringList live;
    for (const auto* button : m_demo->window().findChildren<QPushButton*>("railLiveRun"))
        live << button->accessibleName();
    QCOMPARE(live,
             QStringList({"gpt-tiny seed 7, Preparing", "translation en–it, Running · attempt 2"}));
}

void TestRunsPage::f2RenamesTheRun() {
    choose(kFinishedRun);
    QTest::keyClick(find<QWidget>("runsTable"), Qt::Key_F2);
    QTRY_VERIFY(find<QLineEdit>("newName"));
    auto* name = find<QLineEdit>("newName");
    QCOMPARE(name->text(), QString("gpt-tiny"));
    name->clear();
    QVERIFY(!find<QPushButton>("renameConfirm")->isEnabled());
    name->setText(" baseline, lr 5e-4 ");
    QTest::keyClick(name, Qt::Key_Return);
    const auto shown = [&] {
        return rows().index(static_cast<int>(ids().indexOf(kFinishedRun)), 0).data().toString();
    };
    QTRY_COMPARE(shown(), QString("baseline, lr 5e-4"));
    QTRY_VERIFY(!find<QLineEdit>("newName"));
}

void TestRunsPage::aNameThatIsTakenIsToldInTheDialog() {
    m_demo->window().showRun(kFinishedRun);
    click("renameRun");
    QTRY_VERIFY(find<QLineEdit>("newName"));
    find<QLineEdit>("newName")->setText("gpt 16×512");
    click("renameConfirm");
    auto* problem = find<QLabel>("renameProblem");
    QTRY_VERIFY(problem->isVisible());
    QVERIFY2(problem->text().contains(kPausedRun), qPrintable(problem->text()));
    QVERIFY(find<QPushButton>("renameConfirm")->isEnabled());
    find<QLineEdit>("newName")->setText("gpt 16×512, again");
    click("renameConfirm");
    QTRY_COMPARE(m_demo->window().runPage().name(), QString("gpt 16×512, again"));
}

void TestRunsPage::theMenuOffersWhatTheRunAllows() {
    auto* table = find<QAbstractItemView>("runsTable");
    for (const QString& run : {kFinishedRun, kRunningRun}) {
        const auto cell = rows().index(static_cast<int>(ids().indexOf(run)), 0);
        Q_EMIT table->customContextMenuRequested(table->visualRect(cell).center());
        QTRY_VERIFY(find<QMenu>("runMenu"));
        QStringList offered;
        for (const QAction* action : find<QMenu>("runMenu")->actions())
            if (action->isEnabled() && !action->isSeparator())
                offered << action->text().section('\t', 0, 0);
        QCOMPARE(offered, run == kFinishedRun
                              ? QStringList({"Open", "Star", "Tags", "Rename", "Archive",
                                             "Clean nodes", "Delete", "Sort by"})
                              : QStringList({"Open", "Star", "Tags", "Rename", "Stop", "Sort by"}));
        find<QMenu>("runMenu")->close();
        QTRY_VERIFY(!find<QMenu>("runMenu"));
    }
}

void TestRunsPage::columnsGiveWayInANarrowWindow() {
    const auto* table = find<QTableView>("runsTable");
    const auto shown = [&](int column) { return !table->isColumnHidden(column); };
    const auto fits = [&] { return table->horizontalScrollBar()->maximum() == 0; };
    m_demo->window().resize(1600, 1000);
    QTRY_VERIFY(fits() && shown(RunsModel::kCreated));
    const bool hadParents = shown(RunsModel::kParent);
    m_demo->window().resize(1000, 700);
    QTRY_VERIFY(fits() && !shown(RunsModel::kCreated));
    for (const int column :
         {RunsModel::kName, RunsModel::kState, RunsModel::kStep, RunsModel::kLoss, RunsModel::kBest,
          RunsModel::kTags, RunsModel::kNotes})
        QVERIFY(shown(column));
    const QString reported = rows().index(0, RunsModel::kName).data(Qt::ToolTipRole).toString();
    QVERIFY2(reported.contains("rank"), qPrintable(reported));
    m_demo->window().resize(1600, 1000);
    QTRY_VERIFY(fits() && shown(RunsModel::kCreated));
    QCOMPARE(shown(RunsModel::kParent), hadParents);
}

/// Nor is its title, with the arrow by which the list is sorted.
void TestRunsPage::whenARunWasMadeIsNotCut() {
    const auto* table = find<QTableView>("runsTable");
    const QAbstractItemView* view = table; // whose hints are public
    const QFontMetrics metrics = table->fontMetrics();
    for (const QSize& window : {QSize(1280, 800), QSize(1366, 768)}) {
        m_demo->window().resize(window);
        QTRY_COMPARE(table->horizontalScrollBar()->maximum(), 0);
        QVERIFY(!table->isColumnHidden(RunsModel::kCreated));
        const int room = table->columnWidth(RunsModel::kCreated);
        QVERIFY2(room >= view->sizeHintForColumn(RunsModel::kCreated),
                 qPrintable(QString::number(room)));
        QVERIFY(room >= table->horizontalHeader()->sectionSizeHint(RunsModel::kCreated));
        QVERIFY(room > metrics.horizontalAdvance("59 min ago") + 8);
    }
}

void TestRunsPage::theTrashBringsBackARun() {
    QVERIFY(!find<QPushButton>("showTrash")->isVisible());
    choose(kFinishedRun);
    click("deleteRun");
    QTRY_COMPARE(ids().size(), 5);
    click("showTrash");
    QTRY_VERIFY(find<QAbstractItemView>("trashTable"));
    const auto& trash = *find<QAbstractItemView>("trashTable")->model();
    QCOMPARE(trash.rowCount(), 1);
    QCOMPARE(trash.index(0, 0).data().toString(), QString("gpt-tiny"));
    click("restoreRun");
    QTRY_COMPARE(ids().size(), 6);
    QTRY_VERIFY(find<QLabel>("trashEmpty")->isVisible());
    QVERIFY(!find<QPushButton>("emptyTrash")->isEnabled());
    click("closeTrash");
    QTRY_VERIFY(!find<QWidget>("trashDialog"));
    QVERIFY(!find<QPushButton>("showTrash")->isVisible());
}

void TestRunsPage::openTrashOfTwo() const {
    for (const QString& run : {kFinishedRun, kFailedRun}) {
        const auto before = ids().size();
        choose(run);
        click("deleteRun");
        QTRY_COMPARE(ids().size(), before - 1);
    }
    click("showTrash");
}

void TestRunsPage::theTrashKeepsWhatIsChosen() {
    openTrashOfTwo();
    QTRY_VERIFY(find<QAbstractItemView>("trashTable"));
    auto* trash = find<QAbstractItemView>("trashTable");
    QCOMPARE(trash->model()->rowCount(), 2);
    trash->setCurrentIndex(trash->model()->index(1, 0));
    const QString chosen = trash->currentIndex().data(kIdRole).toString();
    // Another run goes to the trash meanwhile, above the chosen one.
    const auto deleted = m_demo->engine().ask(DeletedRequest{kPausedRun, true});
    QTRY_VERIFY(deleted.isFinished());
    QVERIFY(deleted.result());
    QTRY_COMPARE(trash->model()->rowCount(), 3);
    QCOMPARE(trash->currentIndex().data(kIdRole).toString(), chosen);
}

void TestRunsPage::theTrashIsEmptiedOnceAPersonAgrees() {
    openTrashOfTwo();
    click("emptyTrash");
    QTRY_VERIFY(find<QWidget>("emptyTrashDialog"));
    QCOMPARE(find<QWidget>("emptyTrashDialog")->windowTitle(), QString("Forget 2 runs for good?"));
    QVERIFY(StoreReader::open(m_demo->engine().databasePath()).value()->run(kFailedRun));
    click("emptyTrashConfirm");
    QTRY_VERIFY(find<QLabel>("trashEmpty")->isVisible());
    QVERIFY(!StoreReader::open(m_demo->engine().databasePath()).value()->run(kFailedRun));
    QCOMPARE(ids().size(), 4);
}

QTEST_MAIN(TestRunsPage)
#include "tst_runs_page.moc"
