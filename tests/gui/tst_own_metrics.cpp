// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/ingest/node_ingest.h"
#include "app/core/store/store_writer.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_page.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "tests/gui/support/window_fixture.h"
#include "trainer/train/telemetry/telemetry.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kSteps = 40;
const QString kRun = "routed-000001";

/// What somebody who trains adds to their step, and all that they write for it.
void logRouting(Telemetry& telemetry, int64_t step, int rank) {
    telemetry.log({.name = "router/entropy", .unit = "nats", .description = "Of the routes."},
                  2.0 / static_cast<double>(step) + rank);
    telemetry.log({.name = "router/dropped", .scope = MetricScope::kRun},
                  static_cast<double>(step));
}

/// The journal of a rank, written as training writes it.
Result<std::string> journalOf(const QTemporaryDir& folder, int rank) {
    const std::string path = folder.filePath(QString("rank-%1.rmj").arg(rank)).toStdString();
    auto writer = JournalWriter::open(path);
    if (!writer)
        return tl::unexpected(writer.error());
    {
        Telemetry telemetry(std::move(*writer), rank);
        telemetry.append(AttemptStarted{1, rank, 2, 0, wallNowNs(), {}});
        telemetry.flush();
        for (int64_t step = 1; step <= kSteps; ++step) {
            telemetry.push(metric::kTrainLoss, 1.0F / static_cast<float>(step));
            logRouting(telemetry, step, rank);
            telemetry.endStep(step);
        }
    }
    return readFile(path, size_t{1} << 24);
}

/// The bytes of both ranks' journals take the way that those of a node take.
Result<void> train(StoreWriter& store) {
    if (auto made =
            store.createRun({kRun, "routed", "name = \"routed\"\n", {{0, "node-a", 2, 0}}, {}, 0});
        !made)
        return made;
    const QTemporaryDir folder;
    NodeIngest ingest(kRun, 0, {{0, 2}}, {});
    for (const int rank : {0, 1}) {
        const auto journal = journalOf(folder, rank);
        if (!journal)
            return tl::unexpected(journal.error());
        const auto bytes = std::as_bytes(std::span<const char>(*journal));
        const std::string name = "journal/rank-0000" + std::to_string(rank) + ".rmj";
        if (auto taken = ingest.onSlice({name, 0, {bytes.begin(), bytes.end()}}); !taken)
            return taken;
    }
    const auto batch = ingest.take();
    return batch ? store.ingest(*batch) : fail(ErrorCode::kInternal, "nothing was decoded");
}

} // namespace

/// A metric that nobody but the run knows.
class TestOwnMetrics : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void whatARunLogsHasAChart();
    void itsChartsAreGoneWithTheRun();
    void chartsOutOfSightAreReadWhenTheyComeIntoIt();
    void chartsInSightFromTheStartAreRead();

private:
    LineChart* chart(const char* name) const {
        return m_demo->window().runPage().findChild<LineChart*>(name);
    }
    std::unique_ptr<WindowFixture> m_demo;
};

void TestOwnMetrics::initTestCase() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Fill([](StoreWriter& store) {
        const auto trained = train(store);
        return trained
                   ? store.createRun({"plain-000002", "plain", "", {{0, "node-a", 1, 0}}, {}, 0})
                   : trained;
    }));
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().resize(1440, 900);
}

void TestOwnMetrics::whatARunLogsHasAChart() {
    m_demo->window().showRun(kRun);
    m_demo->window().runPage().showTab(RunPage::kCharts);
    QTRY_VERIFY(chart("chartRouterEntropy"));
    auto* scroll = m_demo->window().runPage().findChild<QScrollArea*>("chartsScroll");
    scroll->ensureWidgetVisible(chart("chartRouterEntropy"));
    QTRY_COMPARE(chart("chartRouterEntropy")->curves().size(), size_t(2)); // one a rank
    const std::vector<Curve>& curves = chart("chartRouterEntropy")->curves();
    QCOMPARE(chart("chartRouterEntropy")->accessibleName(), QString("router/entropy (nats)"));
    QCOMPARE(curves[0].y.size(), kSteps);
    QCOMPARE(curves[0].y.front(), 2.0);
    QCOMPARE(curves[1].y.front(), 3.0);
    QTRY_COMPARE(chart("chartRouterDropped")->curves().size(), size_t(1));
    QCOMPARE(chart("chartRouterDropped")->curves()[0].y.back(), double(kSteps));
    QVERIFY(m_demo->window().runPage().findChild<QLabel*>("moreCharts")->isVisible());
}

void TestOwnMetrics::chartsOutOfSightAreReadWhenTheyComeIntoIt() {
    m_demo->window().resize(1000, 700);
    auto* scroll = m_demo->window().runPage().findChild<QScrollArea*>("chartsScroll");
    m_demo->window().showRun("plain-000002");
    scroll->verticalScrollBar()->setValue(0);
    m_demo->window().showRun(kRun);
    QTRY_VERIFY(chart("chartRouterEntropy"));
    QTRY_VERIFY(!chart("chartLoss")->curves().empty());
    QVERIFY(chart("chartRouterEntropy")->visibleRegion().isEmpty());
    QVERIFY(chart("chartRouterEntropy")->curves().empty());
    const auto isRead = [&] { // the page may be laid out anew meanwhile
        scroll->ensureWidgetVisible(chart("chartRouterEntropy"));
        return chart("chartRouterEntropy")->curves().size() == 2;
    };
    QTRY_VERIFY(isRead());
}

void TestOwnMetrics::chartsInSightFromTheStartAreRead() {
    m_demo->window().resize(1440, 2600);
    m_demo->window().showRun("plain-000002");
    QTRY_VERIFY(!chart("chartRouterEntropy"));
    m_demo->window().showRun(kRun);
    QTRY_VERIFY(chart("chartRouterEntropy"));
    QTRY_COMPARE(chart("chartRouterEntropy")->curves().size(), size_t(2));
}

void TestOwnMetrics::itsChartsAreGoneWithTheRun() {
    m_demo->window().showRun("plain-000002");
    QTRY_VERIFY(!chart("chartRouterEntropy") && !chart("chartRouterDropped"));
    QVERIFY(!m_demo->window().runPage().findChild<QLabel*>("moreCharts")->isVisible());
    QVERIFY(chart("chartLoss"));
}

QTEST_MAIN(TestOwnMetrics)
#include "tst_own_metrics.moc"
