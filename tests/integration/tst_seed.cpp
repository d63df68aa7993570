// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QTest>

#include <algorithm>

using namespace rm;

/// Makes what the nodes of other tests begin with (Testbed::Options::seeded).
class tst_seed : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void nodesGetTheTrainerOnce();
    void stepsTakeTheTimeThatPacesThem();
    void aSeededNodeGetsNothingMore();

private:
    CliResult train(const QString& label, const Testbed::Options& options);

    std::vector<double> m_stepMs; ///< of the newest run
};

/// A few steps on the first node.
CliResult tst_seed::train(const QString& label, const Testbed::Options& options) {
    const auto bed = Testbed::create(label, options);
    if (!bed)
        return {-1, {}, QByteArray::fromStdString(bed.error().message)};
    if (const auto added = (*bed)->addNodes((*bed)->laptop()); !added)
        return {-1, {}, QByteArray::fromStdString(added.error().message)};
    const Cli& laptop = (*bed)->laptop();
    CliResult run = laptop.run(
        {"run", (*bed)->writeSpec("seed", {.steps = 5}), "--wait", "--node", "node-a:1"}, 120000);
    m_stepMs.clear();
    if (const auto newest = newestRun(laptop.database()))
        for (const Point& point : pointsOf(laptop.database(), newest->id, "train/step_ms", 0))
            m_stepMs.push_back(point.value);
    return run;
}

void tst_seed::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    QVERIFY2(!qEnvironmentVariableIsEmpty("RINGMASTER_BUILD"), "ctest sets RINGMASTER_BUILD");
}

void tst_seed::nodesGetTheTrainerOnce() {
    QVERIFY(QDir(Testbed::seedHome()).removeRecursively());
    const CliResult run = train("seed", {.keptHome = Testbed::seedHome()});
    QVERIFY2(run.exitCode == 0 && run.err.contains("Sent trainer"), run.whole());
    // What belongs to that node alone.
    const QDir data(Testbed::seedFolder());
    for (const QFileInfo& own :
         data.entryInfoList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot))
        if (!QStringList{"agents", "blobs", "bundles"}.contains(own.fileName()))
            QVERIFY(own.isDir() ? QDir(own.filePath()).removeRecursively()
                                : QFile::remove(own.filePath()));
    QVERIFY(!data.isEmpty());
}

void tst_seed::aSeededNodeGetsNothingMore() {
    RM_NEEDS("overlay", SeededFolder::whyNot().isEmpty(), SeededFolder::whyNot());
    const CliResult run = train("seeded", {.seeded = true});
    QVERIFY2(run.exitCode == 0 && !run.err.contains("Sent trainer"), run.whole());
}

void tst_seed::stepsTakeTheTimeThatPacesThem() {
    QCOMPARE(m_stepMs.size(), size_t(5));
    QVERIFY(std::ranges::min(m_stepMs) >= kPaceMs);
}

QTEST_GUILESS_MAIN(tst_seed)
#include "tst_seed.moc"
