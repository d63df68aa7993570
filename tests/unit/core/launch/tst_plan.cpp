// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/plan.h"

#include <QTest>

using namespace rm;

namespace {

PlacedNode placed(const char* name, int cores, int gpus, int ranks) {
    PlacedNode node;
    node.node.name = name;
    node.report.cores = cores;
    node.report.gpus.resize(static_cast<size_t>(gpus));
    node.ranks = ranks;
    return node;
}

} // namespace

class TestPlan : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void ranksAreNumberedNodeByNode();
    void everyNodeGetsTheSameRendezvousAndItsOwnInterface();
    void nodesOfAnAttemptShareANonceOfItsOwn();
    void autoTakesCudaOnlyWhenEveryNodeHasGpus();
    void cudaOnANodeWithoutGpuIsRefusedByName();
    void ranksDefaultToOnePerGpuElseOne();
    void impossibleRanksNameTheNode_data();
    void impossibleRanksNameTheNode();
    void aRunOwnsItsCheckpointFolder();
    void stagedDataReplacesPaths();
    void newIdsAreValidAndDiffer_data();
    void newIdsAreValidAndDiffer();
};

void TestPlan::ranksAreNumberedNodeByNode() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 2), placed("b", 4, 0, 3)};
    const auto plans = makePlans({}, nodes, {2, 3}, "cpu", {"10.0.0.1", 29500, {"ens5", "ens6"}},
                                 {"/a", "/b"}, {"run-1", "run", 2, "/ckpt", true});
    QCOMPARE(plans.size(), size_t(2));
    QCOMPARE(plans[0].firstRank, 0);
    QCOMPARE(plans[1].firstRank, 2);
    QCOMPARE(plans[1].localRanks, 3);
    QCOMPARE(plans[0].worldSize, 5);
    QCOMPARE(plans[1].worldSize, 5);
    QCOMPARE(plans[1].attempt, 2);
    QCOMPARE(plans[1].startFrom, std::string("/ckpt"));
    QVERIFY(plans[1].startFromIsExact);
}

void TestPlan::everyNodeGetsTheSameRendezvousAndItsOwnInterface() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 1), placed("b", 4, 0, 1)};
    const auto plans = makePlans({}, nodes, {1, 1}, "cpu", {"10.0.0.1", 29500, {"ens5", "eth9"}},
                                 {"/a", "/b"}, {"run-1", "run", 1, ""});
    QCOMPARE(plans[1].masterAddr, plans[0].masterAddr);
    QCOMPARE(plans[1].masterPort, 29500);
    QCOMPARE(plans[0].interface, std::string("ens5"));
    QCOMPARE(plans[1].interface, std::string("eth9"));
    QCOMPARE(plans[1].bundle, std::string("/b"));
}

void TestPlan::nodesOfAnAttemptShareANonceOfItsOwn() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 1), placed("b", 4, 0, 1)};
    const auto planned = [&] {
        return makePlans({}, nodes, {1, 1}, "cpu", {"10.0.0.1", 29500, {}}, {"/a", "/b"},
                         {"run-1", "run", 1, ""});
    };
    const auto first = planned(), second = planned();
    QCOMPARE(first[0].storeNonce.size(), size_t(32));
    QCOMPARE(first[0].storeNonce, first[1].storeNonce);
    QVERIFY(first[0].storeNonce != second[0].storeNonce);
    QVERIFY(parseNodePlan(toToml(first[1]), "plan.toml"));
}

void TestPlan::autoTakesCudaOnlyWhenEveryNodeHasGpus() {
    const RunSpec spec;
    const auto deviceOf = [&spec](const std::vector<PlacedNode>& nodes) {
        return chooseTarget(spec, nodes)->device;
    };
    QCOMPARE(deviceOf({placed("a", 4, 2, 0), placed("b", 4, 1, 0)}), std::string("cuda"));
    QCOMPARE(deviceOf({placed("a", 4, 2, 0), placed("b", 4, 0, 0)}), std::string("cpu"));
}

void TestPlan::cudaOnANodeWithoutGpuIsRefusedByName() {
    RunSpec spec;
    spec.launch.device = "cuda";
    const auto device = chooseTarget(spec, {placed("a", 4, 2, 0), placed("node-b", 4, 0, 0)});
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::kInvalid);
    QVERIFY(device.error().message.find("node-b") != std::string::npos);
}

void TestPlan::ranksDefaultToOnePerGpuElseOne() {
    RunSpec spec;
    const std::vector<PlacedNode> nodes = {placed("a", 4, 3, 0)};
    QCOMPARE(*countRanks(spec, nodes, "cuda"), std::vector<int>{3});
    QCOMPARE(*countRanks(spec, nodes, "cpu"), std::vector<int>{1});
    spec.launch.ranks = 2;
    QCOMPARE(*countRanks(spec, nodes, "cuda"), std::vector<int>{2});
}

void TestPlan::impossibleRanksNameTheNode_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QString>("device");
    QTest::newRow("negative") << -1 << "cpu";
    QTest::newRow("more than any core could serve") << 1000 << "cpu";
    QTest::newRow("more than GPUs") << 3 << "cuda";
}

void TestPlan::impossibleRanksNameTheNode() {
    QFETCH(int, ranks);
    QFETCH(QString, device);
    const auto counted = countRanks({}, {placed("node-x", 2, 2, ranks)}, device.toStdString());
    QVERIFY(!counted);
    QCOMPARE(counted.error().code, ErrorCode::kInvalid);
    QVERIFY(counted.error().message.find("node-x") != std::string::npos);
    QVERIFY(counted.error().message.find(std::to_string(ranks)) != std::string::npos);
}

void TestPlan::aRunOwnsItsCheckpointFolder() {
    RunSpec spec;
    spec.checkpoint.directory = "/mnt/shared";
    QCOMPARE(specForNode(spec, "run-1", "").checkpoint.directory, std::string("/mnt/shared/run-1"));
    spec.checkpoint.directory.clear();
    QCOMPARE(specForNode(spec, "run-1", "").checkpoint.directory, std::string());
}

void TestPlan::stagedDataReplacesPaths() {
    RunSpec spec;
    spec.data.train = {"/home/me/text"};
    spec.data.stage = true;
    const RunSpec there = specForNode(spec, "run-1", "/node/data/abc");
    QCOMPARE(there.data.train, std::vector<std::string>{"/node/data/abc/train"});
    QVERIFY(there.data.validation.empty());
    QVERIFY(!there.data.stage);
    QVERIFY(there.data.tokenizerFile.empty() && there.model.startFrom.empty());
    spec.data.tokenizerFile = "/home/me/gpt2/tokenizer.json";
    spec.model.startFrom = "/home/me/gpt2";
    const RunSpec named = specForNode(spec, "run-1", "/node/data/abc");
    QCOMPARE(named.data.tokenizerFile, std::string("/node/data/abc/tokenizer"));
    QCOMPARE(named.model.startFrom, std::string("/node/data/abc/start_from"));
}

void TestPlan::newIdsAreValidAndDiffer_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("plain") << "gpt-tiny";
    QTest::newRow("spaces and signs") << "My  run! (2)";
    QTest::newRow("nothing usable") << "../..";
    QTest::newRow("other scripts") << "перевод";
    QTest::newRow("long") << QString(500, 'x');
}

void TestPlan::newIdsAreValidAndDiffer() {
    QFETCH(QString, name);
    const std::string first = newRunId(name.toStdString());
    QVERIFY2(isValidRunId(first), first.c_str());
    QVERIFY(first != newRunId(name.toStdString()));
}

QTEST_GUILESS_MAIN(TestPlan)
#include "tst_plan.moc"
