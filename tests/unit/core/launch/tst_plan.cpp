// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/plan.h"
#include "app/core/launch/staged_tree.h"
#include "app/core/node/chosen_gpus.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
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
    void everyNodeGetsTheSameRendezvousAndItsOwnAddress();
    void nodesOfAnAttemptShareANonceOfItsOwn();
    void theEnvironmentOfANodeIsItsRanksAndTheSpecsWins();
    void chosenGpusAreSeenInTheirOrderAndByUuid();
    void aChosenGpuThatIsGoneIsNamedWithWhatIsThere();
    void autoTakesCudaOnlyWhenEveryNodeHasGpus();
    void cudaOnANodeWithoutGpuIsRefusedByName();
    void ranksDefaultToOnePerGpuElseOne();
    void impossibleRanksNameTheNode_data();
    void impossibleRanksNameTheNode();
    void whatGoesOnFromACheckpointIsAskedForLess();
    void aRunOwnsItsCheckpointFolder();
    void stagedDataReplacesPaths();
    void whatIsLookedAtAheadIsWhatIsSent();
    void newIdsAreValidAndDiffer_data();
    void newIdsAreValidAndDiffer();
};

void TestPlan::ranksAreNumberedNodeByNode() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 2), placed("b", 4, 0, 3)};
    const auto plans = makePlans({}, nodes, {2, 3}, "cpu", {"10.0.0.1", 29500}, {"/a", "/b"},
                                 {"run-1", "run", 2, "/ckpt", true});
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

void TestPlan::everyNodeGetsTheSameRendezvousAndItsOwnAddress() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 1), placed("b", 4, 0, 1)};
    const auto plans =
        makePlans({}, nodes, {1, 1}, "cpu",
                  {"10.0.0.1",
                   29500,
                   {{"ens5", "10.0.0.1", 24, true, -1}, {"eth9", "10.0.0.2", 24, true, -1}}},
                  {"/a", "/b"}, {"run-1", "run", 1, ""});
    QCOMPARE(plans[1].masterAddr, plans[0].masterAddr);
    QCOMPARE(plans[1].masterPort, 29500);
    QCOMPARE(plans[0].interface, std::string("ens5"));
    QCOMPARE(plans[1].interface, std::string("eth9"));
    QCOMPARE(plans[0].address, std::string("10.0.0.1"));
    QCOMPARE(plans[1].address, std::string("10.0.0.2"));
    QCOMPARE(plans[1].bundle, std::string("/b"));
}

void TestPlan::nodesOfAnAttemptShareANonceOfItsOwn() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 1), placed("b", 4, 0, 1)};
    const auto planned = [&] {
        return makePlans({}, nodes, {1, 1}, "cpu", {"10.0.0.1", 29500}, {"/a", "/b"},
                         {"run-1", "run", 1, ""});
    };
    const auto first = planned(), second = planned();
    QCOMPARE(first[0].storeNonce.size(), size_t(32));
    QCOMPARE(first[0].storeNonce, first[1].storeNonce);
    QVERIFY(first[0].storeNonce != second[0].storeNonce);
    QVERIFY(parseNodePlan(toToml(first[1]), "plan.toml"));
}

void TestPlan::theEnvironmentOfANodeIsItsRanksAndTheSpecsWins() {
    std::vector<PlacedNode> nodes = {placed("a", 4, 0, 1), placed("b", 4, 0, 1)};
    nodes[1].node.environment = {"NCCL_DEBUG=INFO", "OMP_NUM_THREADS=3"};
    RunSpec spec;
    spec.launch.environment = {"NCCL_DEBUG=WARN"};
    const auto plans = makePlans(spec, nodes, {1, 1}, "cpu", {"10.0.0.1", 29500}, {"/a", "/b"},
                                 {"run-1", "run", 1, ""});
    QCOMPARE(plans[0].environment, std::vector<std::string>{"NCCL_DEBUG=WARN"});
    QCOMPARE(plans[1].environment,
             (std::vector<std::string>{"OMP_NUM_THREADS=3", "NCCL_DEBUG=WARN"}));
}

void TestPlan::chosenGpusAreSeenInTheirOrderAndByUuid() {
    const auto environmentOf = [](const PlacedNode& chosen, const char* device) {
        return makePlans({}, {chosen}, {1}, device, {}, {"/a"}, {"run-1", "run", 1, ""})[0]
            .environment;
    };
    PlacedNode all = placed("a", 4, 3, 0);
    for (size_t at = 0; at < 3; ++at)
        all.report.gpus[at] = {"Fake", 1, "GPU-" + std::to_string(at), 0};
    QVERIFY(environmentOf(all, "cuda").empty());
    PlacedNode chosen = all;
    chosen.node.gpus = {"GPU-2", "0"};
    chosen.report = usedPart(chosen.node, all.report);
    QCOMPARE(chosen.report.gpus.size(), size_t{2});
    QCOMPARE(environmentOf(chosen, "cuda"),
             std::vector<std::string>{"CUDA_VISIBLE_DEVICES=GPU-2,GPU-0"});
    QVERIFY(environmentOf(chosen, "cpu").empty());
    QCOMPARE(*countRanks({}, {chosen}, "cuda"), std::vector<int>{2});
    // A driver that tells no UUIDs: numbers, and the order in which it was that numbered them.
    PlacedNode numbered = placed("a", 4, 3, 0);
    numbered.node.gpus = {"2", "1"};
    numbered.report = usedPart(numbered.node, numbered.report);
    QCOMPARE(
        environmentOf(numbered, "cuda"),
        (std::vector<std::string>{"CUDA_VISIBLE_DEVICES=2,1", "CUDA_DEVICE_ORDER=PCI_BUS_ID"}));
}

void TestPlan::aChosenGpuThatIsGoneIsNamedWithWhatIsThere() {
    PlacedNode chosen = placed("a", 4, 2, 0);
    chosen.report.gpus[0].name = chosen.report.gpus[1].name = "NVIDIA H200";
    chosen.node.gpus = {"1", "3"};
    QCOMPARE(missingGpus(chosen.node, chosen.report),
             std::string("GPU 3 was chosen to train on, and the node has only 0 (NVIDIA H200) and "
                         "1 (NVIDIA H200)"));
    QCOMPARE(fixOfMissingGpus(chosen.node, chosen.report),
             std::string("correct the choice with Edit, or with ringmaster nodes edit a --gpus 1"));
    chosen.node.gpus = {"1"};
    QCOMPARE(missingGpus(chosen.node, chosen.report), std::string());
    chosen.node.gpus = {"GPU-1"};
    QVERIFY(missingGpus(chosen.node, NodeReport()).ends_with(" has none"));
    QVERIFY(fixOfMissingGpus(chosen.node, NodeReport()).ends_with(" nodes edit a --gpus all"));
}

void TestPlan::autoTakesCudaOnlyWhenEveryNodeHasGpus() {
    const RunSpec spec;
    const auto deviceOf = [&spec](const std::vector<PlacedNode>& nodes) {
        return chooseTarget(spec, nodes, [](const Runtime&) { return true; })->device;
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

void TestPlan::whatGoesOnFromACheckpointIsAskedForLess() {
    const std::vector<PlacedNode> nodes = {placed("a", 4, 0, 2), placed("b", 4, 0, 1)};
    PlanRequest attempt;
    QVERIFY(!Beginning::of(attempt, true).resumes);
    attempt.startFrom = "/c/step-000000010";
    Beginning resumes = Beginning::of(attempt, true);
    RunSpec spec;
    spec.train.batchSize = 2;
    spec.train.accumulation = 1;
    spec.launch.minNodes = 1; // two ranks take 4, of steps of 6
    QVERIFY(!placeRanks(spec, nodes));
    QCOMPARE(placeRanks(spec, nodes, resumes).value_or(PlacedRanks()),
             (PlacedRanks{{"cpu", "cpu"}, {2, 1}}));
    spec.train.globalBatch = 6;
    QVERIFY(!placeRanks(spec, nodes, resumes)); // it says how large they are
    spec.launch.minNodes = 0;
    spec.train.globalBatch = 7;
    QVERIFY(!placeRanks(spec, nodes, resumes));
    QVERIFY(placeRanks(spec, nodes, {false, {}, false})); // only the sizes of a model are wanted
    spec.train.globalBatch = 0;
    resumes.steps = StepsBefore{8, 4, true};
    const auto before = placeRanks(spec, nodes, resumes);
    QVERIFY(!before);
    QVERIFY2(before.error().message.find("made by 4 ranks") != std::string::npos,
             before.error().message.c_str());
    // Precision, on GPUs that do not have it.
    std::vector<PlacedNode> old = {placed("a", 4, 1, 0)};
    old[0].report.gpus[0].computeCapability = 75;
    spec.train.precision = "bfloat16";
    resumes.steps.reset();
    const auto isHere = [](const Runtime&) { return true; };
    QVERIFY(!placeRanks(spec, old, {}, isHere));
    QVERIFY(placeRanks(spec, old, resumes, isHere));
    // Before a launch that may find something to go on from.
    QVERIFY(!placeRanks(spec, old, Beginning::of(spec), isHere));
    spec.checkpoint.onExisting = "resume";
    QVERIFY(placeRanks(spec, old, Beginning::of(spec), isHere));
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
    spec.data.train = {"/home/me/pictures/", "/mnt/pictures", "/home/me/a.txt"};
    spec.data.stage = true;
    const RunSpec there = specForNode(spec, "run-1", "/node/data/abc");
    // Each by itself, as folders of pictures hold a folder for each class.
    QCOMPARE(there.data.train, (std::vector<std::string>{"/node/data/abc/train/pictures",
                                                         "/node/data/abc/train/2/pictures",
                                                         "/node/data/abc/train/a.txt"}));
    QVERIFY(there.data.validation.empty());
    QVERIFY(!there.data.stage);
    QVERIFY(there.data.tokenizerFile.empty() && there.model.startFrom.empty());
    spec.data.tokenizerFile = "/home/me/gpt2/tokenizer.json";
    spec.model.startFrom = "/home/me/gpt2";
    const RunSpec named = specForNode(spec, "run-1", "/node/data/abc");
    QCOMPARE(named.data.tokenizerFile, std::string("/node/data/abc/tokenizer"));
    QCOMPARE(named.model.startFrom, std::string("/node/data/abc/start_from"));
}

/// The names of what is sent are those that specForNode() gives the ranks; a picture that two
/// folders lead to is read, and sent, twice.
void TestPlan::whatIsLookedAtAheadIsWhatIsSent() {
    const QTemporaryDir dir;
    const auto write = [&](const QString& name) {
        QVERIFY(QDir().mkpath(QFileInfo(dir.filePath(name)).path()));
        QFile file(dir.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("x") == 1);
    };
    write("all/cat/a.png");
    write("held/cat/b.png");
    write("own/net.safetensors");
    QVERIFY(QDir().mkpath(dir.filePath("some/cat")));
    QVERIFY(QFile::link(dir.filePath("all/cat/a.png"), dir.filePath("some/cat/c.png")));
    QVERIFY(QFile::link(dir.filePath("all/cat/a.png"), dir.filePath("all/cat/more.png")));
    QVERIFY(QFile::link("net.safetensors", dir.filePath("own/model.safetensors")));
    RunSpec spec;
    spec.model.type = "resnet18";
    spec.data.stage = true;
    for (const char* folder : {"all", "some"})
        spec.data.train.push_back(dir.filePath(folder).toStdString());
    spec.data.validation = {dir.filePath("held").toStdString()};
    spec.model.startFrom = dir.filePath("own").toStdString();
    const auto tree = stagedTree(spec);
    QVERIFY2(tree, tree ? "" : tree.error().message.c_str());
    std::vector<std::string> names;
    for (const LocalTree::File& file : tree->files)
        names.push_back(file.path);
    QCOMPARE(names, (std::vector<std::string>{"train/all/cat/a.png", "train/all/cat/more.png",
                                              "train/some/cat/c.png", "validation/held/cat/b.png",
                                              "start_from/model.safetensors",
                                              "start_from/net.safetensors"}));
    spec.data.validation = {dir.filePath("nowhere").toStdString()};
    QVERIFY(!stagedTree(spec));
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
