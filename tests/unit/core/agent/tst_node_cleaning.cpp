// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/node_cleaning.h"
#include "app/core/fleet/node_comparison.h"

#include <QTest>

using namespace rm;

namespace {

DeployedItem trainer(const std::string& keptFor) {
    return {"bundles", "a", 300, 0, keptFor, {}};
}

DeployedItem runOf(const std::string& id) {
    return {"runs", id, 20, 0, "its run", {}};
}

CleanedNode nodeOf(const std::string& name, std::vector<DeployedItem> items,
                   const std::string& homeId, const std::string& stateId) {
    return {name, DeployedReport{"/h", std::move(items), {}, homeId, stateId}};
}

int64_t bytesOf(const std::vector<CleanedNode>& nodes) {
    int64_t bytes = 0;
    for (const CleanedNode& node : nodes)
        if (node.report)
            bytes += neededBytes(*node.report) + unneededBytes(*node.report);
    return bytes;
}

} // namespace

class tst_node_cleaning : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSharedFolderCountsOnceByWhoKeepsMostOfIt() {
        std::vector<CleanedNode> nodes{
            nodeOf("a", {trainer(""), runOf("r")}, "home", "state"),
            nodeOf("b", {trainer("a process uses it"), runOf("r")}, "home", "state"),
            nodeOf("c", {trainer("")}, "another", ""),
            {"gone", fail(ErrorCode::kUnavailable, "no route")}};
        reportSharedOnce(nodes);
        QCOMPARE(nodes[0].reportedBy, std::string("b"));
        QVERIFY(nodes[1].reportedBy.empty() && nodes[2].reportedBy.empty() &&
                nodes[3].reportedBy.empty());
        QCOMPARE(nodes[0].sharers, std::vector<std::string>{"b"});
        QCOMPARE(nodes[1].sharers, std::vector<std::string>{"a"});
        QVERIFY(nodes[2].sharers.empty() && nodes[0].report->items.empty());
        QCOMPARE(unneededBytes(*nodes[1].report), 0);
        QCOMPARE(bytesOf(nodes), 300 + 20 + 300);
    }

    void runsOfAnotherRingmasterAreToldWithWhoStartedThem() {
        DeployedItem mine{"runs", "mine", 20, 0, {}, {}, {}, "me@laptop"},
            other{"runs", "other", 20, 0, {}, {}, {}, "you@box"}, old{"runs", "old", 20, 0, {}, {}},
            kept{"runs", "kept", 20, 0, "runs are kept", {}};
        const KnownRuns known{{"mine", KnownRun::kEnded}};
        QCOMPARE(otherRunMark(mine, known), std::string());
        QCOMPARE(otherRunMark(trainer(""), known), std::string());
        QCOMPARE(otherRunMark(other, known),
                 std::string("of another Ringmaster, started by you@box"));
        QCOMPARE(otherRunMark(kept, known), std::string("of another Ringmaster"));
        const auto going =
            otherRunsThatGo({"/h", {mine, other, old, kept, trainer("")}, {}}, known);
        QCOMPARE(going, (std::vector<std::string>{"other, started by you@box", "old"}));
    }

    void runsOfFoldersOfTheirOwnAreToldByEach() {
        std::vector<CleanedNode> nodes{nodeOf("a", {trainer(""), runOf("r")}, "home", "state-a"),
                                       nodeOf("b", {trainer(""), runOf("s")}, "home", "state-b")};
        reportSharedOnce(nodes);
        QVERIFY(nodes[0].reportedBy.empty());
        QCOMPARE(nodes[1].reportedBy, std::string("a"));
        QCOMPARE(nodes[1].report->items.size(), size_t{1});
        QCOMPARE(nodes[1].report->items.front().name, std::string("s"));
        QCOMPARE(bytesOf(nodes), 300 + 20 + 20);
    }

    void whatTellsNoIdIsItsOwn() {
        std::vector<CleanedNode> nodes{nodeOf("a", {trainer("")}, "", ""),
                                       nodeOf("b", {trainer("")}, "", "")};
        reportSharedOnce(nodes);
        QVERIFY(nodes[0].reportedBy.empty() && nodes[1].reportedBy.empty());
        QCOMPARE(bytesOf(nodes), 600);
    }
};

QTEST_APPLESS_MAIN(tst_node_cleaning)
#include "tst_node_cleaning.moc"
