// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/runs_feed.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace rm;
using namespace rm::test;

/// Runs are deleted with a way back, unless they train.
class TestRunsPage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void aDeletedRunIsGoneAndUndoBringsItBack();
    void theUndoIsOfTheRunThatTheToastNames();
    void aRunThatTrainsIsNotDeleted();
    void withoutTheDatabaseNothingIsDeleted();
    void aDoubleClickEditsTagsAndNotes_data();
    void aDoubleClickEditsTagsAndNotes();
    void newsOfRunsLeavesAnEditorAlone();
    void aDoubleClickElsewhereOpensTheRun();
    void onlyRunsThatHaveNotEndedAreLive();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    QAbstractItemModel& rows() const { return *find<QAbstractItemView>("runsTable")->model(); }
    QStringList ids() const;
    void choose(const QString& run) const;
    void click(const char* button) const;
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

QStringList TestRunsPage::ids() const {
    QStringList ids;
    for (int row = 0; row < rows().rowCount(); ++row)
        ids << rows().index(row, 0).data(kIdRole).toString();
    return ids;
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
    QVERIFY(!isStored(kFinishedRun));
    QCOMPARE(toast(), QString("gpt-tiny deleted"));
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
    click("toastAction");
    QTRY_VERIFY(ids().contains(kFailedRun));
    QVERIFY(!ids().contains(kFinishedRun));
}

void TestRunsPage::aRunThatTrainsIsNotDeleted() {
    for (const QString& run : {kRunningRun, kPreparingRun}) {
        choose(run);
        click("deleteRun");
        QVERIFY2(toast().contains("stop or pause it"), qPrintable(toast()));
        QVERIFY(!find<QWidget>("toastAction")->isVisible());
        QVERIFY(isStored(run));
    }
    QCOMPARE(ids().size(), 6);
}

void TestRunsPage::withoutTheDatabaseNothingIsDeleted() {
    openWindow(WindowFixture::Access::kRead);
    choose(kFinishedRun);
    click("deleteRun");
    QVERIFY2(toast().contains("another Ringmaster"), qPrintable(toast()));
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
    QVERIFY(m_demo->engine().setNotes(kRunningRun, "goes on"));
    QVERIFY(changed.wait());
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

QTEST_MAIN(TestRunsPage)
#include "tst_runs_page.moc"
