// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/requirement.h"
#include "tests/torture/scene.h"
#include "tests/torture/seeds.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace rm;
using namespace rm::torture;

namespace {

constexpr double kSlower = 3; ///< a machine that others use, too, may be so for a while

double medianStepNs(const Told& told, size_t from) {
    std::vector<int64_t> steps;
    for (size_t i = from + 1; i < told.size(); ++i)
        steps.push_back(told[i].wallNs - told[i - 1].wallNs);
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
        qInfo("%s", m_scene->tellAndClean().constData());
    m_scene->dropApp();
    QVERIFY(setRate(QString()));
    QTRY_COMPARE_WITH_TIMEOUT(bed().strayProcesses(), QString(), 20000);
}

void tst_torture_links::f8SlowLinkHoldsUpNoRank() {
    m_random = test::randomOfRow();
    const QString rate = QString("%1kbit").arg(std::lround(64 * std::exp2(random(0, 400) / 100.0)));
    const QString run = m_scene->launch();
    QVERIFY(m_scene->waitForToldStep(run, 100));
    QVERIFY(setRate(rate));
    const auto slowFrom = static_cast<size_t>(m_scene->toldStep(run));
    QVERIFY(m_scene->waitForToldStep(run, int64_t(slowFrom) + random(50, 100)));
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
    const Told told = m_scene->told(run).at(0);
    const double before = medianStepNs({told.begin(), told.begin() + long(slowFrom)}, 0);
    const double slow = medianStepNs(told, slowFrom);
    QVERIFY2(slow < kSlower * before, qPrintable(QString("%1 after %2").arg(slow).arg(before)));
    qInfo("%s: steps of %.1f ms after %.1f, a pause obeyed in %lld ms, answered in %lld",
          qPrintable(rate), slow / 1e6, before / 1e6, obeyedMs, answeredMs);
}

QTEST_GUILESS_MAIN(tst_torture_links)
#include "tst_torture_links.moc"
