// SPDX-License-Identifier: GPL-3.0-or-later
// What must not happen in the thread of the window: a query of the database, or a wait for the
// disk.
#include "app/ui/compare/compare_page.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "shared/io/file.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QLineEdit>
#include <QMutex>
#include <QPlainTextEdit>
#include <QTest>
#include <QThread>

#include <dlfcn.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <memory>

using namespace rm;
using namespace rm::test;

namespace {

std::atomic<bool> isWatching = false;
std::atomic<int> syncs = 0;
QMutex mutex;
QStringList queries;

bool isGuiThread() {
    return isWatching && qApp && QThread::currentThread() == qApp->thread();
}

int onStatement(unsigned, void*, void* statement, void*) {
    if (isGuiThread()) {
        const QMutexLocker lock(&mutex);
        queries << QString::fromUtf8(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
    }
    return 0;
}

/// SQLite calls it for each connection that is opened.
int watchConnection(sqlite3* connection, char**, const void*) {
    return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, &onStatement, nullptr);
}

int countedSync(const char* name, int file) {
    if (isGuiThread())
        ++syncs;
    using Sync = int (*)(int);
    return reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, name))(file);
}

} // namespace

// In place of the C library's, for all of this program.
extern "C" int fsync(int file) {
    return countedSync("fsync", file);
}
extern "C" int fdatasync(int file) {
    return countedSync("fdatasync", file);
}

class TestGuiThread : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void aQueryAndASyncHereAreSeen();
    void noPageReadsTheDatabaseHere();
    void noChoiceOfAPersonReadsTheDatabaseHere();

private:
    template <class Widget>
    Widget* find(const char* name) const {
        return m_demo->window().findChild<Widget*>(name);
    }
    bool isFilled(const char* view) const {
        return find<QAbstractItemView>(view)->model()->rowCount() > 0;
    }
    bool hasCurves(const char* name) const {
        const auto* chart = find<LineChart>(name);
        return chart && !chart->curves().empty();
    }
    static void expectNone();

    std::unique_ptr<WindowFixture> m_demo;
};

void TestGuiThread::initTestCase() {
    QCOMPARE(sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watchConnection)), SQLITE_OK);
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().resize(1440, 900);
}

void TestGuiThread::cleanup() {
    isWatching = false;
    queries.clear();
    syncs = 0;
}

void TestGuiThread::expectNone() {
    const QMutexLocker lock(&mutex);
    QVERIFY2(queries.isEmpty(), qPrintable(queries.join('\n')));
    QCOMPARE(syncs.load(), 0);
}

void TestGuiThread::aQueryAndASyncHereAreSeen() {
    isWatching = true;
    const auto reader = StoreReader::open(m_demo->engine().databasePath());
    QVERIFY(reader);
    QVERIFY(!(*reader)->runs().empty());
    QVERIFY(writeFileAtomically((m_demo->paths().state + "/synced").toStdString(), "text"));
    const QMutexLocker lock(&mutex);
    QVERIFY(!queries.isEmpty());
    QVERIFY(syncs > 0);
}

void TestGuiThread::noPageReadsTheDatabaseHere() {
    isWatching = true;
    MainWindow& window = m_demo->window();
    window.showRuns();
    QTRY_VERIFY_WITH_TIMEOUT(isFilled("runsTable"), 20'000);
    window.showRun(kRunningRun);
    window.runPage().showTab(RunPage::kCharts);
    QTRY_VERIFY_WITH_TIMEOUT(hasCurves("chartLoss") && isFilled("events"), 20'000);
    window.runPage().showTab(RunPage::kRanks);
    QTRY_VERIFY_WITH_TIMEOUT(isFilled("ranksTable"), 20'000);
    window.runPage().showTab(RunPage::kLogs);
    QTRY_VERIFY_WITH_TIMEOUT(find<QPlainTextEdit>("logText")->blockCount() > 10, 20'000);
    window.runPage().showTab(RunPage::kCheckpoints);
    QTRY_VERIFY_WITH_TIMEOUT(isFilled("checkpointsTable"), 20'000);
    window.runPage().showTab(RunPage::kSpec);
    window.showRun(kFinishedRun);
    window.runPage().showTab(RunPage::kSamples);
    QTRY_VERIFY_WITH_TIMEOUT(isFilled("samplesList"), 20'000);
    window.compare({kFinishedRun, kPausedRun});
    QTRY_VERIFY_WITH_TIMEOUT(isFilled("comparedSettings"), 20'000);
    QTRY_VERIFY_WITH_TIMEOUT(hasCurves("compared.train/loss"), 20'000);
    window.showMachines();
    QTRY_VERIFY_WITH_TIMEOUT(find<QWidget>("machineCard")->isVisible(), 20'000);
    window.showNodes();
    window.showNewRun();
    expectNone();
}

void TestGuiThread::noChoiceOfAPersonReadsTheDatabaseHere() {
    MainWindow& window = m_demo->window();
    window.showRun(kRunningRun);
    window.runPage().showTab(RunPage::kCharts);
    QTRY_VERIFY_WITH_TIMEOUT(hasCurves("chartLoss"), 20'000);
    isWatching = true;
    auto* loss = find<LineChart>("chartLoss");
    Q_EMIT loss->zoomRequested(loss->view().low, loss->view().high / 2);
    Q_EMIT loss->pointed(loss->view().high / 4, std::nullopt);
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kRelative));
    QTRY_VERIFY_WITH_TIMEOUT(loss->view().map.axis == XAxis::kRelative && hasCurves("chartLoss"),
                             20'000);
    window.showRuns();
    QTRY_VERIFY_WITH_TIMEOUT(isFilled("runsTable"), 20'000);
    const auto rows = [this] { return find<QAbstractItemView>("runsTable")->model()->rowCount(); };
    const int all = rows();
    find<QLineEdit>("runsFilter")->setText("loss < 1");
    QTRY_VERIFY_WITH_TIMEOUT(rows() > 0 && rows() < all, 20'000);
    find<QLineEdit>("runsFilter")->clear();
    QTRY_COMPARE_WITH_TIMEOUT(rows(), all, 20'000);
    expectNone();
    find<QComboBox>("chartsAxis")->setCurrentIndex(static_cast<int>(XAxis::kStep));
}

QTEST_MAIN(TestGuiThread)
#include "tst_gui_thread.moc"
