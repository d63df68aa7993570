// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/runtime.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/plan.h"
#include "app/core/node/chosen_gpus.h"
#include "trainer/agent/probe/gpus.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

const char* const kP4000 = "535.183.01;61;Quadro P4000";
const char* const kV100 = "550.127.05;70;Tesla V100-SXM2-32GB";
const char* const kH200 = "580.65.06;90;NVIDIA H200";
const char* const kH100OnOldDriver = "535.183.01;90;NVIDIA H100";
const char* const kB200 = "580.65.06;100;NVIDIA B200";
const char* const kB200OnOldDriver = "570.86.15;100;NVIDIA B200";
const char* const kH200AndDisplay = "580.65.06;90;NVIDIA H200;35;NVIDIA GeForce GT 710";
const char* const kK80 = "470.256.02;37;Tesla K80";

/// What the agent's probe tells of a node with two such GPUs.
NodeReport nodeWith(const char* nvml) {
    qputenv("RINGMASTER_FAKE_NVML", nvml);
    const auto gpus =
        openNvmlGpus((qgetenv("RINGMASTER_BUILD") + "/tests/libfake_nvml.so").constData());
    qunsetenv("RINGMASTER_FAKE_NVML");
    NodeReport report;
    report.cores = 8;
    report.driver = gpus->driver();
    report.gpus = gpus->list();
    return report;
}

std::vector<PlacedNode> nodesWith(const std::vector<const char*>& kinds) {
    std::vector<PlacedNode> nodes;
    for (size_t i = 0; i < kinds.size(); ++i) {
        PlacedNode placed;
        placed.node.name = "node-" + std::to_string(i + 1);
        placed.report = kinds[i] ? nodeWith(kinds[i]) : NodeReport();
        nodes.push_back(std::move(placed));
    }
    return nodes;
}

/// Whatever is set up beside this test.
bool isAnyHere(const Runtime&) {
    return true;
}

std::string checkRow(const PlacedNode& placed) {
    for (const CheckRow& row : rowsOf(placed.report))
        if (row.title == "GPUs and driver")
            return row.evidence + "; " + row.cause;
    return {};
}

CheckRow gpuRowOf(const char* nvml) {
    for (const CheckRow& row : rowsOf(nodeWith(nvml)))
        if (row.title == "GPUs and driver")
            return row;
    return {};
}

} // namespace

/// Which torch computes on which GPUs, from what NVML tells to the plan and the words of the check.
class tst_runtimes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theNewestThatServesAllNodesIsChosen_data();
    void theNewestThatServesAllNodesIsChosen();
    void gpusThatStayIdleAreToldWithTheNodeThatHasNone();
    void oneThatIsHereIsTakenBeforeANewerOne();
    void moreRanksThanGpusTrainOnCpusUnlessGpusAreAskedFor();
    void whatNoRuntimeServesIsRefusedByName();
    void aSpecMayNameTheRuntime();
    void bfloat16IsRefusedWhereItIsMissing();
    void aNodeWithoutARuntimeIsReadyOnItsCpu();
    void theCheckSaysWhatIsToBeSetUp();
    void whatWasNotFoundOutStandsInNoWay();
    void aDisplayCardThatIsNotChosenStandsInNoWay();
};

void tst_runtimes::theNewestThatServesAllNodesIsChosen_data() {
    using Kinds = std::vector<const char*>;
    QTest::addColumn<Kinds>("kinds");
    QTest::addColumn<QString>("device");
    QTest::addColumn<QString>("runtime");
    QTest::newRow("H200") << Kinds{kH200, kH200} << "cuda"
                          << "cuda13";
    QTest::newRow("P4000") << Kinds{kP4000} << "cuda"
                           << "cuda12";
    QTest::newRow("V100") << Kinds{kV100, kV100} << "cuda"
                          << "cuda12";
    QTest::newRow("H100, old driver") << Kinds{kH100OnOldDriver} << "cuda"
                                      << "cuda12";
    QTest::newRow("P4000 and H200") << Kinds{kP4000, kH200} << "cuda"
                                    << "cuda12";
    QTest::newRow("B200") << Kinds{kB200} << "cuda"
                          << "cuda13";
    QTest::newRow("B200, old driver") << Kinds{kB200OnOldDriver} << "cpu"
                                      << "cpu";
    QTest::newRow("K80") << Kinds{kK80} << "cpu"
                         << "cpu";
    QTest::newRow("K80 and H200") << Kinds{kK80, kH200} << "cpu"
                                  << "cpu";
    QTest::newRow("H200 and none") << Kinds{kH200, nullptr} << "cpu"
                                   << "cpu";
}

void tst_runtimes::theNewestThatServesAllNodesIsChosen() {
    QFETCH(std::vector<const char*>, kinds);
    const auto nodes = nodesWith(kinds);
    const auto target = chooseTarget(RunSpec(), nodes, isAnyHere);
    QVERIFY2(target, target ? "" : target.error().message.c_str());
    QTEST(QString::fromStdString(target->device), "device");
    QTEST(QString::fromStdString(target->runtime), "runtime");

    const auto ranks = countRanks(RunSpec(), nodes, target->device);
    QVERIFY(ranks);
    const std::vector<std::string> bundles(nodes.size(), "/" + target->runtime);
    for (const NodePlan& plan : makePlans(RunSpec(), nodes, *ranks, target->device, {}, bundles,
                                          {"run-1", "run", 1, ""})) {
        QCOMPARE(plan.device, target->device);
        QCOMPARE(plan.localRanks, int64_t{target->device == "cuda" ? 2 : 1});
    }
    if (nodes.size() == 1) { // of several, each check tells what that node alone could run
        CheckContext context;
        context.isHere = isAnyHere;
        const auto rows = rowsOf(nodes[0].report, context);
        const auto row = std::ranges::find(rows, "gpus", &CheckRow::id);
        QVERIFY2(target->device == "cuda" ? row->evidence.ends_with("; runtime " + target->runtime)
                                          : row->cause.starts_with("it trains on its CPU, as its"),
                 (row->evidence + " | " + row->cause).c_str());
    }
}

/// Which GPUs stay idle, why, and what to do; empty: none do.
static std::string wordsOf(const IdleGpus& idle) {
    return idle.which.empty() ? std::string() : idle.which + ": " + idle.why + "; " + idle.fix;
}

void tst_runtimes::gpusThatStayIdleAreToldWithTheNodeThatHasNone() {
    RunSpec spec;
    const auto reported = [&spec](const std::vector<const char*>& kinds) {
        return wordsOf(chooseTarget(spec, nodesWith(kinds), isAnyHere)->idle);
    };
    QCOMPARE(reported({kH200, kK80}),
             "node-1: 2 x NVIDIA H200, 1000 B, sm_90: node-2 cannot train on GPUs, as " +
                 whyNoRuntime(nodeWith(kK80)) + "; leave node-2 out");
    QCOMPARE(reported({kK80, kK80}), std::string()); // nothing lets these train
    QCOMPARE(reported({kP4000, kH200}), std::string());
    // Also on one node.
    QCOMPARE(
        reported({kB200OnOldDriver}),
        std::string(
            "node-1: 2 x NVIDIA B200, 1000 B, sm_100: node-1 cannot train on GPUs, as its driver "
            "570.86.15 is older than 580; install a driver of 580 or later there"));
    const std::string beside = reported({kH200AndDisplay});
    QVERIFY2(beside.find("node-1: 1 x NVIDIA H200, ") != std::string::npos, beside.c_str());
    QVERIFY2(beside.ends_with("; take only the GPUs that a runtime serves, with Edit or ringmaster "
                              "nodes edit node-1 --gpus 0"),
             beside.c_str());
    // By the numbers that they have among all of the node.
    Node node;
    node.name = "a";
    node.gpus = {"1", "2"};
    NodeReport whole = nodeWith(kH200AndDisplay);
    whole.gpus.push_back(whole.gpus.front());
    const std::string third = chooseTarget(spec, {placeNode(node, whole, 0)}, isAnyHere)->idle.fix;
    QVERIFY2(third.ends_with(" nodes edit a --gpus 2"), third.c_str());
    spec.launch.device = "cpu"; // as a person asked
    QCOMPARE(reported({kH200, kK80}), std::string());
}

void tst_runtimes::oneThatIsHereIsTakenBeforeANewerOne() {
    const auto with = [](const std::string& here) {
        const auto isHere = [&here](const Runtime& runtime) {
            return here.find(runtime.name) != std::string::npos;
        };
        return chooseTarget(RunSpec(), nodesWith({kH200}), isHere);
    };
    QCOMPARE(with("cuda12")->runtime, std::string("cuda12"));
    QCOMPARE(with("cuda13")->runtime, std::string("cuda13"));
    QCOMPARE(with("cuda12 cuda13")->runtime, std::string("cuda13"));
    // As the check says of such a node.
    QCOMPARE(with("")->device, std::string("cpu"));
    QCOMPARE(wordsOf(with("")->idle), std::string("node-1: 2 x NVIDIA H200, 1000 B, sm_90: this "
                                                  "computer lacks the runtime cuda13; set that up "
                                                  "on this computer: packaging/run --cuda13"));
}

void tst_runtimes::moreRanksThanGpusTrainOnCpusUnlessGpusAreAskedFor() {
    RunSpec spec;
    std::vector<PlacedNode> nodes = nodesWith({kP4000});
    nodes[0].report.gpus.resize(1);
    spec.launch.ranks = 2; // as a recipe may say
    const auto target = chooseTarget(spec, nodes, isAnyHere);
    QVERIFY(target);
    QCOMPARE(target->device, std::string("cpu"));
    QCOMPARE(target->idle.why,
             std::string("node-1 has 1 GPU for 2 ranks, and each rank needs its own"));
    spec.launch.device = "cuda";
    QVERIFY(!countRanks(spec, nodes, chooseTarget(spec, nodes, isAnyHere)->device));
    spec.launch.ranks = 1;
    spec.launch.device = "auto";
    QCOMPARE(chooseTarget(spec, nodes, isAnyHere)->device, std::string("cuda"));
}

void tst_runtimes::whatNoRuntimeServesIsRefusedByName() {
    RunSpec spec;
    spec.launch.device = "cuda";
    const auto without = chooseTarget(spec, nodesWith({kH200, kK80}));
    QVERIFY(!without);
    QCOMPARE(without.error().code, ErrorCode::kInvalid);
    QCOMPARE(without.error().message,
             std::string("launch on node-2: launch.device is \"cuda\", but its Tesla K80 is sm_37, "
                         "and the oldest for cuda12 is sm_50; take \"auto\" or \"cpu\""));
    // Each has one, but none is both's.
    const auto mixed = chooseTarget(RunSpec(), nodesWith({kP4000, kB200}));
    QVERIFY(!mixed);
    const QByteArray words = QByteArray::fromStdString(mixed.error().message);
    QVERIFY2(words.contains("nodes: cuda13 does not run on node-1, as its Quadro P4000 is sm_61"),
             words);
    QVERIFY2(words.contains("sm_75; cuda12 does not run on node-2, as its NVIDIA B200 is sm_100"),
             words);
    QVERIFY2(!words.contains("launch.runtime"), words);
}

void tst_runtimes::aSpecMayNameTheRuntime() {
    RunSpec spec;
    spec.launch.runtime = "cuda12";
    QCOMPARE(chooseTarget(spec, nodesWith({kH200}))->runtime, std::string("cuda12"));
    spec.launch.runtime = "cuda13";
    const auto refused = chooseTarget(spec, nodesWith({kV100}));
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("cuda13 does not run on node-1") != std::string::npos);
    QVERIFY2(
        refused.error().message.ends_with("; set launch.runtime to \"auto\" or \"cuda12\", leave "
                                          "that node out, or set launch.device to \"cpu\""),
        refused.error().message.c_str());
    spec.launch.device = "cpu";
    QCOMPARE(chooseTarget(spec, nodesWith({kV100}))->runtime, std::string("cpu"));
}

void tst_runtimes::bfloat16IsRefusedWhereItIsMissing() {
    RunSpec spec;
    spec.train.precision = "bfloat16";
    QVERIFY(checkPrecision(spec, nodesWith({kH200})));
    const auto refused = checkPrecision(spec, nodesWith({kH200, kV100}));
    QVERIFY(!refused);
    const QByteArray words = QByteArray::fromStdString(refused.error().message);
    QVERIFY2(words.contains("node-2") && words.contains("sm_70") && words.contains("float16"),
             words);
    spec.train.precision = "float16";
    QVERIFY(checkPrecision(spec, nodesWith({kH200, kV100})));
}

void tst_runtimes::aNodeWithoutARuntimeIsReadyOnItsCpu() {
    const auto verify = [](const char* kind, const char* why) {
        const CheckRow row = gpuRowOf(kind);
        QCOMPARE(row.state, CheckRow::State::kWarning);
        QCOMPARE(row.cause, std::string("it trains on its CPU, as its ") + why);
        NodeCheck check;
        check.ready = true; // as nothing is bad
        check.rows = rowsOf(nodeWith(kind));
        QVERIFY(isReadyOnItsCpu(check));
    };
    verify(kK80, "Tesla K80 is sm_37, and the oldest for cuda12 is sm_50");
    verify("470.256.02;61;Quadro P4000", "driver 470.256.02 is older than 525");
    verify("470.256.02;90;NVIDIA H100", "driver 470.256.02 is older than 525");
    verify(kB200OnOldDriver, "driver 570.86.15 is older than 580");
}

void tst_runtimes::theCheckSaysWhatIsToBeSetUp() {
    // Nothing is installed beside this program, which has no folder.
    QVERIFY(gpuRowOf(kP4000).fix.ends_with(": packaging/run --cuda12"));
    const CheckRow row = gpuRowOf(kH200);
    QCOMPARE(row.evidence, std::string("2 x NVIDIA H200, 1000 B, sm_90; driver 580.65.06"));
    QCOMPARE(row.cause, std::string("it trains on its CPU, as this computer lacks the runtime "
                                    "cuda13"));
    QCOMPARE(row.fix, std::string("set that up on this computer: packaging/run --cuda13"));
}

void tst_runtimes::whatWasNotFoundOutStandsInNoWay() {
    NodeReport report = nodeWith(kH200);
    report.driver.clear();
    for (GpuReport& gpu : report.gpus)
        gpu.computeCapability = 0; // an agent of a release before this
    for (const Runtime& runtime : gpuRuntimes())
        QCOMPARE(obstacleTo(runtime, report), std::string());
}

/// All GPUs count where none was chosen, so that the card of a screen keeps the node on its CPU.
void tst_runtimes::aDisplayCardThatIsNotChosenStandsInNoWay() {
    std::vector<PlacedNode> nodes = nodesWith({kH200AndDisplay});
    QCOMPARE(chooseTarget(RunSpec(), nodes, isAnyHere)->device, std::string("cpu"));
    QVERIFY(checkRow(nodes[0]).find("its NVIDIA GeForce GT 710 is sm_35") != std::string::npos);

    PlacedNode& chosen = nodes[0];
    chosen.node.gpus = {"0"};
    chosen.report = usedPart(chosen.node, chosen.report);
    const auto target = chooseTarget(RunSpec(), nodes, isAnyHere);
    QCOMPARE(target->device, std::string("cuda"));
    QCOMPARE(target->runtime, std::string("cuda13"));
    QCOMPARE(*countRanks(RunSpec(), nodes, "cuda"), std::vector<int>{1});
    QVERIFY(checkRow(chosen).find("GT 710") == std::string::npos);
    RunSpec spec;
    spec.train.precision = "bfloat16";
    QVERIFY(checkPrecision(spec, nodes));
    // CUDA would number the fastest first; a UUID means the same to it and to NVML.
    const auto plan = makePlans(spec, nodes, {1}, "cuda", {}, {"/a"}, {"run-1", "run", 1, ""})[0];
    QCOMPARE(plan.environment, std::vector<std::string>{"CUDA_VISIBLE_DEVICES=GPU-aaaa"});
}

QTEST_APPLESS_MAIN(tst_runtimes)
#include "tst_runtimes.moc"
