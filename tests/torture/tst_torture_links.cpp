// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_summary.h"
#include "tests/support/requirement.h"
#include "tests/torture/chaos_proxy.h"
#include "tests/torture/scene.h"
#include "tests/torture/seeds.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace rm;
using namespace rm::torture;

namespace {

constexpr int kProxyPort = 2300;
constexpr double kSlower = 3; ///< a machine that others use, too, may be so for a while

double medianStepNs(const OracleSteps& recorded, size_t from) {
    std::vector<int64_t> steps;
    for (size_t i = from + 1; i < recorded.size(); ++i)
        steps.push_back(recorded[i].wallNs - recorded[i - 1].wallNs);
    std::ranges::sort(steps);
    return steps.empty() ? 0 : static_cast<double>(steps[steps.size() / 2]);
}

} // namespace

/// Faults of the link between the app and the nodes that are more than a cut.
class tst_torture_links : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void f8SlowLinkHoldsUpNoRank_data() { test::addSeeds(); }
    void f8SlowLinkHoldsUpNoRank();
    void f9MistreatedConnectionsLoseAndDoubleNothing_data() { test::addSeeds(); }
    void f9MistreatedConnectionsLoseAndDoubleNothing();

private:
    int64_t random(int64_t first, int64_t last) {
        return std::uniform_int_distribution<int64_t>(first, last)(m_random);
    }
    const Cli& cli() const { return m_scene->cli(); }
    Testbed& bed() const { return m_scene->bed(); }
    bool setRate(const QString& rate) {
        return bed().lab().setManagementRate(0, rate) && bed().lab().setManagementRate(1, rate);
    }

    std::unique_ptr<Scene> m_scene;
    std::mt19937_64 m_random;
};

void tst_torture_links::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto scene = Scene::create();
    QVERIFY2(scene, scene ? "" : scene.error().message.c_str());
    m_scene = std::move(*scene);
}

void tst_torture_links::cleanup() {
    if (!m_scene)
        return;
    if (QTest::currentTestFailed())
        qInfo("%s", m_scene->reportAndClean().constData());
    m_scene->dropApp();
    QVERIFY(setRate(QString()));
    m_scene->use(bed().laptop());
    QTRY_COMPARE_WITH_TIMEOUT(bed().strayProcesses(), QString(), 20000);
}

void tst_torture_links::f8SlowLinkHoldsUpNoRank() {
    m_random = test::randomOfRow();
    const QString rate = QString("%1kbit").arg(std::lround(64 * std::exp2(random(0, 400) / 100.0)));
    const QString run = m_scene->launch();
    QVERIFY(m_scene->waitForOracleStep(run, 100));
    QVERIFY(setRate(rate));
    const auto slowFrom = static_cast<size_t>(m_scene->oracleStep(run));
    QVERIFY(m_scene->waitForOracleStep(run, int64_t(slowFrom) + random(50, 100)));
    QElapsedTimer waited;
    waited.start();
    const auto pause = cli().start({"pause", run});
    const auto hasEnded = [this] {
        return bed().processesNamed(0, "ringmaster-trainer") +
                   bed().processesNamed(1, "ringmaster-trainer") ==
               0;
    };
    QVERIFY(QTest::qWaitFor(hasEnded, 20000));
    const qint64 obeyedMs = waited.elapsed();
    QVERIFY2(pause->waitForFinished(60000), pause->readAllStandardError());
    QVERIFY2(pause->exitCode() == 0, pause->readAllStandardError());
    const qint64 answeredMs = waited.elapsed();
    QVERIFY(m_scene->app().waitForFinished(60000));
    QCOMPARE(m_scene->summary(run).state, RunStateKind::kPaused);
    m_scene->resume(run);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
    const OracleSteps recorded = m_scene->recorded(run).at(0);
    const double before = medianStepNs({recorded.begin(), recorded.begin() + long(slowFrom)}, 0);
    const double slow = medianStepNs(recorded, slowFrom);
    QVERIFY2(slow < kSlower * before, qPrintable(QString("%1 after %2").arg(slow).arg(before)));
    qInfo("%s: steps of %.1f ms after %.1f, a pause obeyed in %lld ms, answered in %lld",
          qPrintable(rate), slow / 1e6, before / 1e6, obeyedMs, answeredMs);
}

void tst_torture_links::f9MistreatedConnectionsLoseAndDoubleNothing() {
    m_random = test::randomOfRow();
    const Cli other(bed().path("chaos"), bed().lab().laptop());
    std::array<std::unique_ptr<ChaosProxy>, NetworkLab::kNodes> proxies;
    for (int node = 0; node < NetworkLab::kNodes; ++node) {
        const SshServer& server = bed().server(node);
        const std::string near = "10.231." + std::to_string(node + 1) + ".1";
        auto proxy = ChaosProxy::start(bed().lab().laptop().toStdString(), {near, kProxyPort},
                                       {server.address().toStdString(), server.port()},
                                       static_cast<uint32_t>(m_random()));
        QVERIFY2(proxy, proxy ? "" : proxy.error().message.c_str());
        proxies[static_cast<size_t>(node)] = std::move(*proxy);
        const QString place = QString("%1:%2").arg(near.c_str()).arg(kProxyPort);
        const CliResult added =
            other.run(bed().addCommand(node, bed().server(node).fingerprint(), place));
        QVERIFY2(added.exitCode == 0, added.whole());
    }
    m_scene->use(other);
    const QString run = m_scene->launch(1000000);
    QVERIFY(m_scene->waitForOracleStep(run, 20));
    for (const auto& proxy : proxies)
        proxy->setHostile(true);
    using End = ChaosProxy::End;
    const auto hasSeenAll = [&] {
        return std::ranges::all_of(proxies, [](const auto& proxy) {
            return proxy->ended(End::kClosed) > 0 && proxy->ended(End::kReset) > 0 &&
                   proxy->ended(End::kSilent) > 0;
        });
    };
    QVERIFY(QTest::qWaitFor(hasSeenAll, 120000));
    const int64_t step = m_scene->oracleStep(run);
    QVERIFY(m_scene->waitForOracleStep(run, step + 20));
    for (const auto& proxy : proxies)
        proxy->setHostile(false);
    // What was silenced is found out, and connected to again.
    const int64_t calm = m_scene->oracleStep(run);
    QTRY_VERIFY_WITH_TIMEOUT(m_scene->stepOfAll(run) > calm, 60000);
    QTRY_VERIFY_WITH_TIMEOUT(m_scene->summary(run).lostNodes.empty(), 60000);
    const CliResult stopped = cli().run({"stop", run}, 120000);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(m_scene->app().waitForFinished(60000));
    QCOMPARE(m_scene->summary(run).state, RunStateKind::kStopped);
    QCOMPARE(m_scene->summary(run).attempt, 1);
    QCOMPARE(m_scene->flawOfPart(run), QByteArray());
    for (const auto& proxy : proxies)
        qInfo("%d closed, %d reset, %d silent", proxy->ended(End::kClosed),
              proxy->ended(End::kReset), proxy->ended(End::kSilent));
    m_scene->dropApp();
}

QTEST_GUILESS_MAIN(tst_torture_links)
#include "tst_torture_links.moc"
