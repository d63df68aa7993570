// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <cstdlib>

using namespace rm;

namespace {

constexpr int kTracedSteps = 60;
constexpr int64_t kAheadNs = 1'000'000'000; ///< the clock of rank 1, as the environment has it
constexpr int64_t kMostErrorNs = 100'000;
constexpr int kLimitMs = 120000;

} // namespace

/// A trace of two nodes. Both have the clock of this machine, so what the environment shifts it by
/// is the truth that the alignment has to find.
class tst_trace_nodes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void clocksOfTwoNodesAreAlignedAndTheTraceIsWritten();

private:
    const Cli& cli() const { return m_bed->laptop(); }

    std::unique_ptr<Testbed> m_bed;
};

void tst_trace_nodes::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("traces",
                               {.environment = {"RINGMASTER_TRACE_SKEW=1:1000"}, .seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_trace_nodes::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_trace_nodes::clocksOfTwoNodesAreAlignedAndTheTraceIsWritten() {
    const QString spec = m_bed->writeSpec("traced", {.steps = 100000, .checkpointEvery = 0});
    const CliResult started =
        cli().run({"run", spec, "--json", "--node", "node-a:1", "--node", "node-b:1"}, kLimitMs);
    QVERIFY2(started.exitCode == 0, started.whole());
    const QString run = started.json().object()["id"].toString();
    const QString file = m_bed->path("trace.json");
    const CliResult traced =
        cli().run({"trace", run, "--steps", QString::number(kTracedSteps), "--out", file, "--json"},
                  kLimitMs);
    QVERIFY2(traced.exitCode == 0, traced.whole());
    const QJsonObject answer = traced.json().object();
    const int64_t first = answer["first_step"].toInteger();
    QCOMPARE(answer["last_step"].toInteger(), first + kTracedSteps - 1);
    QCOMPARE(answer["done_ranks"].toInt(), 2);
    const QJsonArray ranks = answer["ranks"].toArray();
    QCOMPARE(ranks.size(), 2);
    QCOMPARE(ranks[0]["node"].toString(), QString("node-a"));
    QCOMPARE(ranks[1]["node"].toString(), QString("node-b"));
    const QJsonValue clock = ranks[1]["clock"];
    QVERIFY(clock["collectives"].toInt() >= kTracedSteps);
    const int64_t off = clock["offset_ns"].toInteger() - kAheadNs;
    qInfo("misplaced by %lld ns, estimated %lld ns, at most %lld ns", static_cast<long long>(off),
          static_cast<long long>(clock["estimated_error_ns"].toInteger()),
          static_cast<long long>(clock["largest_error_ns"].toInteger()));
    QVERIFY2(std::abs(off) <= clock["largest_error_ns"].toInteger() + 1,
             qPrintable(QString::number(off)));
    // On idle processors it is below that; beside other tests as far as the trace itself says.
    const int64_t estimated = clock["estimated_error_ns"].toInteger();
    QVERIFY2(std::abs(off) < std::max(kMostErrorNs, 3 * estimated),
             qPrintable(QString::number(off)));
    QCOMPARE(answer["waits"].toArray().size(), kTracedSteps);

    QFile json(file);
    QVERIFY(json.open(QIODevice::ReadOnly));
    const QJsonDocument written = QJsonDocument::fromJson(json.readAll());
    QVERIFY(written["traceEvents"].toArray().size() > 2 * kTracedSteps);

    const CliResult list = cli().run({"trace", run, "--list", "--json"});
    QCOMPARE(list.json().array().size(), 1);
    QCOMPARE(list.json().array().at(0)["first_step"].toInteger(), first);
    const CliResult again = cli().run({"trace", run, "--stored", "0"});
    QVERIFY2(again.exitCode == 0, again.whole());
    QVERIFY2(again.out.contains("aligned by the ends of"), again.whole());
    const CliResult asked = cli().run(
        {"sql", "--csv",
         "SELECT count(*) FROM trace_slices WHERE run = '" + run + "' AND kind = 'step'"});
    QVERIFY2(asked.out.contains(QByteArray::number(2 * kTracedSteps)), asked.whole());
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    const CliResult late = cli().run({"trace", run});
    QVERIFY2(late.exitCode != 0, late.whole());
}

QTEST_GUILESS_MAIN(tst_trace_nodes)
#include "tst_trace_nodes.moc"
