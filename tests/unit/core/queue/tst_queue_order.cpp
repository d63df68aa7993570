// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/queue_order.h"

#include <QTest>

namespace {

using namespace rm;

QueueEntry entry(const char* run, std::vector<QueuedNode> nodes, int wanted = 0) {
    return {run, {std::move(nodes), wanted, false}, {}};
}

/// "x on a, b; y on c"
QString started(const std::vector<QueueEntry>& queue, const BusyNodes& busy,
                const std::string& cluster = {}) {
    QStringList runs;
    for (const QueueStart& start :
         startable(queue, busy, [&](const std::string& node) { return node == cluster; })) {
        QStringList nodes;
        for (const QueuedNode& node : start.nodes)
            nodes << QString::fromStdString(node.node);
        runs << start.entry.run + " on " + nodes.join(", ");
    }
    return runs.join("; ");
}

class TestQueueOrder : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void runsStartInTheirOrder() {
        const auto queue = {entry("x", {{"a"}, {"b"}}), entry("y", {{"c"}}), entry("z", {{"a"}})};
        QCOMPARE(started(queue, {}), "x on a, b; y on c");
        QCOMPARE(started(queue, {{"b", "gpt"}}), "y on c");
        QCOMPARE(started(queue, {{"c", "gpt"}}), "x on a, b");
        QCOMPARE(started({}, {}), "");
    }

    void aRunOfTwoNodesIsNotOvertakenForEver() {
        const auto queue = {entry("two", {{"a"}, {"b"}}), entry("one", {{"a"}}),
                            entry("any", {{"a"}, {"c"}}, 1)};
        QCOMPARE(started(queue, {{"b", "gpt"}}), "any on c");
    }

    void aRunTakesTheNodesThatAreFreeFirst() {
        const auto any = [](const char* run) { return entry(run, {{"a"}, {"b"}, {"c"}}, 1); };
        QCOMPARE(started({any("x"), any("y"), any("z"), any("w")}, {}), "x on a; y on b; z on c");
        QCOMPARE(started({any("x"), any("y")}, {{"a", "gpt"}}), "x on b; y on c");
        QCOMPARE(started({entry("x", {{"a"}, {"b"}, {"c"}}, 2)}, {{"a", "gpt"}}), "x on b, c");
        QCOMPARE(started({entry("x", {{"a"}, {"b"}, {"c"}}, 9)}, {}), "x on a, b, c");
    }

    void aClusterHasAQueueOfItsOwn() {
        QCOMPARE(started({entry("x", {{"slurm"}}), entry("y", {{"slurm"}})}, {{"slurm", "gpt"}},
                         "slurm"),
                 "x on slurm; y on slurm");
    }

    void aRunWithoutNodesNeverStarts() { QCOMPARE(started({entry("x", {})}, {}), ""); }

    void liveRunsMakeTheirNodesBusy() {
        RunSummary live, ended, waiting;
        live.name = "live";
        live.state = RunStateKind::kPreparing;
        live.nodes = {{0, "a", 1, 0}, {1, "b", 1, 1}};
        ended.state = RunStateKind::kPaused;
        ended.nodes = {{0, "c", 1, 0}};
        waiting.state = RunStateKind::kWaiting;
        waiting.nodes = {{0, "d", 1, 0}};
        QCOMPARE(busyNodes({live, ended, waiting}),
                 (BusyNodes{{"a", "live trains on a"}, {"b", "live trains on b"}}));
        live.lostNodes = {{"b", 1, "no answer"}};
        QCOMPARE(busyNodes({live})["a"], std::string("live trains on a"));
        QCOMPARE(busyNodes({live})["b"],
                 std::string("live has b, which cannot be reached; if it is gone for good: "
                             "ringmaster declare-lost live b"));
    }

    void aRunSaysWhatItWaitsFor() {
        std::vector<QueueEntry> queue = {entry("x", {{"a"}, {"b"}}),
                                         entry("y", {{"a"}, {"b"}, {"c"}}, 2)};
        queue[1].why = "c is away";
        QCOMPARE(waitWords(queue, {{"b", trainsOn("gpt", "b")}}, "x"),
                 std::string("number 1 of 2 in the queue, for a and b; gpt trains on b"));
        QCOMPARE(waitWords(queue, {}, "y"),
                 std::string("number 2 of 2 in the queue, for 2 of a, b and c; c is away"));
        QCOMPARE(waitWords(queue, {}, "z"), std::string());
    }
};

} // namespace

QTEST_GUILESS_MAIN(TestQueueOrder)
#include "tst_queue_order.moc"
