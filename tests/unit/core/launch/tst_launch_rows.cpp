// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/launch_rows.h"
#include "app/core/network/network_words.h"
#include "tests/unit/core/fleet/good_row.h"
#include "tests/unit/core/network/network_examples.h"

#include <QTest>

using namespace rm;

using State = CheckRow::State;

class LaunchRowsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSoundLaunchIsGoodInEveryRow();
    void whatIsSentMustFit();
    void checkpointsAreCountedOnTheirOwnDisk();
    void aFolderThatRankZeroCannotWriteIsAFault();
    void aFolderThatAllShareIsSaid();
    void aStateFolderThatAllShareIsSaid();
    void checkpointsThatStayForGoodAreCounted();
    void whatANodeRefusesIsARow();
    void withoutCopiesANodeIsTheOnlyPlace();
    void otherDataIsTold();
    void aPublicAddressIsTold();
    void theInterfaceOfAClusterIsNotLookedForOnItsLoginNode();
    void whatComputesIsTold();
    void idleGpusAreTold();
    void whatNoGpuOfTheLaunchDoesIsRefused();
    void stepsThatTheRanksCannotCutAreRefused();
    void ranksThatAJobHasNoPlaceForAreRefused();
    void whoUsesTheGpusIsTold();
    void runsThatLiveThereAreTold();
    void aMachineThatIsThereTwiceIsTold();
    void answersOfAgentsAreRead();
};

namespace {

constexpr int64_t kGiB = 1 << 30;

RunSpec spec() {
    RunSpec spec;
    spec.checkpoint.directory = "/share/ckpt";
    spec.data.train = {"/data"};
    return spec;
}

NodePreflight node(const std::string& name) {
    NodePreflight node;
    node.node.name = name;
    node.report.user = "me";
    node.report.interfaces = {{"ens5", "10.0.0.2", 24, true, 1000}};
    node.bytesToSend = kGiB / 2;
    node.home = {"/home/me", 50 * kGiB, 1, "", false};
    node.state = node.home;
    node.checkpoints = FolderOnNode{"/share", 500 * kGiB, 2, "", true};
    node.data = DataFingerprint{3, kGiB, "ab", true};
    return node;
}

Preflight twoNodes() {
    return {{node("a"), node("b")}};
}

/// Whatever is set up beside this test.
bool isNoneHere(const Runtime&) {
    return false;
}

bool isAnyHere(const Runtime&) {
    return true;
}

Preflight twoNodesWithGpus() {
    Preflight preflight = twoNodes();
    for (NodePreflight& each : preflight.nodes) {
        each.report.cores = 8;
        each.report.driver = "580.65.06";
        GpuReport gpu;
        gpu.name = "NVIDIA H200";
        gpu.memoryBytes = gpu.freeBytes = 140 * kGiB;
        gpu.computeCapability = 90;
        each.report.gpus = {gpu, gpu};
    }
    return preflight;
}

CheckRow rowOf(const RunSpec& spec, const Preflight& preflight, const std::string& id,
               bool (*isHere)(const Runtime&) = isNoneHere) {
    for (const CheckRow& row : launchRows(spec, preflight, isHere))
        if (row.id == id)
            return row;
    return {};
}

} // namespace

void LaunchRowsTest::aSoundLaunchIsGoodInEveryRow() {
    const auto rows = launchRows(spec(), twoNodes());
    QCOMPARE(rows.size(), size_t{5});
    for (const CheckRow& row : rows)
        QVERIFY2(row.state == State::kGood && row.cause.empty(), row.evidence.c_str());
    QCOMPARE(rowOf(spec(), twoNodes(), "launch-data").evidence,
             std::string("3 files, 1.1 GB, the same on all nodes by names, sizes and samples of "
                         "the contents"));
    QCOMPARE(launchRows(spec(), {{node("a")}}).size(), size_t{4}); // nobody to meet
    QVERIFY(launchRows(spec(), {}).empty());
}

void LaunchRowsTest::theInterfaceOfAClusterIsNotLookedForOnItsLoginNode() {
    RunSpec onInfiniBand = spec();
    onInfiniBand.launch.environment = {"GLOO_SOCKET_IFNAME=ib0"};
    Preflight preflight = {{node("login")}};
    QVERIFY(rowOf(onInfiniBand, preflight, "launch-address").state == State::kBad);
    preflight.nodes[0].node.isSlurm = true;
    QVERIFY(rowOf(onInfiniBand, preflight, "launch-address").id.empty());
}

void LaunchRowsTest::whatComputesIsTold() {
    const auto shown = [](const RunSpec& run, const Preflight& preflight) {
        const CheckRow row = rowOf(run, preflight, "launch-runtime", isAnyHere);
        return row.state == State::kGood ? row.evidence : row.evidence + row.cause;
    };
    RunSpec run = spec();
    QCOMPARE(shown(run, twoNodesWithGpus()),
             std::string("all ranks train on GPUs, by the runtime cuda13"));
    QCOMPARE(shown(run, twoNodes()), std::string("all ranks train on CPUs"));
    run.launch.device = "cpu";
    QCOMPARE(shown(run, twoNodesWithGpus()),
             std::string("all ranks train on CPUs, as launch.device = \"cpu\" says"));
}

/// On one node as on several.
void LaunchRowsTest::idleGpusAreTold() {
    Preflight preflight = twoNodesWithGpus();
    const std::string gpus = "2 x NVIDIA H200, 140.0 GiB, sm_90";
    QCOMPARE(rowOf(spec(), preflight, "launch-runtime").evidence,
             "all ranks train on CPUs, and GPUs stay idle (a: " + gpus + "; b: " + gpus + ')');
    preflight.nodes.pop_back();
    const CheckRow row = rowOf(spec(), preflight, "launch-runtime");
    QCOMPARE(row, (CheckRow{"launch-runtime", State::kWarning, "What computes",
                            "all ranks train on CPUs, and GPUs stay idle (a: " + gpus + ')',
                            "this computer lacks the runtime cuda13",
                            "set that up on this computer: packaging/run --cuda13"}));
    preflight.nodes[0].ranks = 3;
    QCOMPARE(rowOf(spec(), preflight, "launch-runtime", isAnyHere).cause,
             std::string("a has 2 GPUs for 3 ranks, and each rank needs its own"));
}

void LaunchRowsTest::whatNoGpuOfTheLaunchDoesIsRefused() {
    const auto verify = [](const RunSpec& run, const Preflight& preflight, const char* words,
                           bool (*isHere)(const Runtime&) = isAnyHere) {
        const CheckRow row = rowOf(run, preflight, "launch-runtime", isHere);
        const std::string whole = row.evidence + " | " + row.cause + " | " + row.fix;
        QVERIFY2(row.state == State::kBad && whole.find(words) != std::string::npos, whole.c_str());
    };
    RunSpec run = spec();
    run.launch.device = "cuda";
    verify(run, twoNodes(), "launch on a: launch.device is \"cuda\", but it has no");
    verify(run, twoNodesWithGpus(), "packaging/run --cuda13", isNoneHere);
    Preflight preflight = twoNodesWithGpus();
    preflight.nodes[1].ranks = 3;
    verify(run, preflight, "place 3 ranks on b: it has 2 GPUs");
    preflight.nodes[1].ranks = 0;
    preflight.nodes[1].report.gpus[0].computeCapability = 75;
    run.train.precision = "bfloat16";
    verify(run, preflight, "launch on b: train.precision is \"bfloat16\"");
    preflight.beginning =
        Beginning{true}; // what goes on keeps its precision, which has worked before
    QVERIFY(rowOf(run, preflight, "launch-runtime", isAnyHere).state == State::kGood);
}

void LaunchRowsTest::stepsThatTheRanksCannotCutAreRefused() {
    RunSpec run = spec();
    run.train.batchSize = 2;
    run.train.globalBatch = 7;
    const auto shown = [&run](const Preflight& preflight) {
        const CheckRow row = rowOf(run, preflight, "launch-runtime");
        return row.state == State::kBad && row.cause == "the launch is refused" ? row.evidence
                                                                                : std::string();
    };
    const std::string uncut = shown(twoNodes());
    QVERIFY2(uncut.starts_with("cut steps of 7 samples of train.global_batch: 2 ranks take 4 at "
                               "once, which does not divide that"),
             uncut.c_str());
    run.train.globalBatch = 8;
    QCOMPARE(shown(twoNodes()), std::string());
    run.train.globalBatch = 12;
    run.launch.minNodes = 1;
    Preflight preflight = twoNodes();
    QCOMPARE(shown(preflight), std::string()); // one rank is left, which takes 2
    preflight.nodes[0].ranks = 4;              // which take 8
    preflight.nodes[1].ranks = 2;
    const std::string afterLoss = shown(preflight);
    QVERIFY2(afterLoss.starts_with("launch with launch.min_nodes = 1 on 2 nodes: "),
             afterLoss.c_str());
}

/// Those of a cluster are on as many nodes as they need.
void LaunchRowsTest::ranksThatAJobHasNoPlaceForAreRefused() {
    Preflight preflight = {{node("login")}};
    preflight.nodes[0].node.isSlurm = true;
    preflight.nodes[0].partition =
        SlurmPartition{"main", true, true, "infinite", 2, 2, 8, 16000, 0, ""};
    preflight.nodes[0].ranks = 4;
    RunSpec run = spec();
    run.launch.ranks = 2;
    run.train.batchSize = 3;
    run.train.globalBatch = 12;
    QVERIFY(rowOf(run, preflight, "launch-runtime").state == State::kGood);
    run.train.globalBatch = 6; // which the ranks of one of its nodes could cut
    const CheckRow uncut = rowOf(run, preflight, "launch-runtime");
    QVERIFY2(uncut.state == State::kBad &&
                 uncut.evidence.find("4 ranks take 12 at once") != std::string::npos,
             uncut.evidence.c_str());
    preflight.nodes[0].ranks = 6;
    const CheckRow many = rowOf(run, preflight, "launch-runtime");
    QVERIFY2(many.state == State::kBad && many.evidence.find("that is 3 nodes, and its partition "
                                                             "main has 2") != std::string::npos,
             many.evidence.c_str());
    preflight.nodes[0].partition.reset(); // of which its problems tell
    QCOMPARE(rowOf(run, preflight, "launch-runtime").id, std::string());
    preflight.nodes.push_back(node("b"));
    const CheckRow beside = rowOf(run, preflight, "launch-runtime");
    QVERIFY2(beside.evidence.starts_with("launch on login: a run on a Slurm cluster has no other"),
             beside.evidence.c_str());
}

void LaunchRowsTest::whoUsesTheGpusIsTold() {
    Preflight preflight = twoNodesWithGpus();
    QVERIFY(rowOf(spec(), preflight, "launch-gpu-memory", isAnyHere).id.empty());
    preflight.nodes[1].report.gpus[1].freeBytes = 100 * kGiB;
    preflight.nodes[1].report.gpus[1].processes = {{4242, "anna", "python3", 40 * kGiB}};
    const CheckRow row = rowOf(spec(), preflight, "launch-gpu-memory", isAnyHere);
    QVERIFY(row.state == State::kWarning);
    QCOMPARE(row.evidence, std::string("b: GPU 1: 40.0 GiB of 140.0 GiB; GPU 1: 40.0 GiB by "
                                       "python3 of anna (pid 4242)"));
    QVERIFY2(row.fix.starts_with("ask anna when it ends, or "), row.fix.c_str());
    // By the number that nvidia-smi has, also where another that was chosen is not there, and of
    // the chosen ones alone.
    std::vector<GpuReport>& gpus = preflight.nodes[1].report.gpus;
    gpus.insert(gpus.begin() + 1, gpus[0]);
    preflight.nodes[1].node.gpus = {"0", "5", "2"};
    QVERIFY(rowOf(spec(), preflight, "launch-gpu-memory", isAnyHere)
                .evidence.starts_with("b: GPU 2: 40.0 GiB of"));
    preflight.nodes[1].node.gpus = {"1"};
    QVERIFY(rowOf(spec(), preflight, "launch-gpu-memory", isAnyHere).id.empty());
    preflight.nodes[1].node.gpus.clear();
    // A run on CPUs does not mind.
    const CheckRow onCpus = rowOf(spec(), preflight, "launch-gpu-memory");
    QVERIFY(onCpus.state == State::kGood && onCpus.cause.empty() && onCpus.fix.empty());
    QVERIFY(onCpus.evidence.find("of anna") != std::string::npos);
}

void LaunchRowsTest::runsThatLiveThereAreTold() {
    Preflight preflight = twoNodes();
    preflight.nodes[1].report.runs = {{"ended-1", "ended", 1, 0}, {"gpt-2", "gpt", 1, 2}};
    const CheckRow row = rowOf(spec(), preflight, "launch-others");
    QVERIFY(row.state == State::kWarning);
    QCOMPARE(row.evidence, std::string("gpt-2 has ranks on b"));
    preflight.nodes[1].report.runs.pop_back(); // its agent alone is left of the other
    QVERIFY(rowOf(spec(), preflight, "launch-others").id.empty());
}

void LaunchRowsTest::aMachineThatIsThereTwiceIsTold() {
    Preflight preflight = twoNodes();
    preflight.nodes[0].report.machine = preflight.nodes[1].report.machine = "boot host";
    const CheckRow row = rowOf(spec(), preflight, "launch-machines");
    QVERIFY(row.state == State::kWarning && !row.fix.empty());
    QCOMPARE(row.evidence, std::string("a, b are the same machine"));
    preflight.nodes[1].node.isSlurm = true; // its jobs train elsewhere
    QVERIFY(rowOf(spec(), preflight, "launch-machines").id.empty());
}

void LaunchRowsTest::whatIsSentMustFit() {
    Preflight preflight = twoNodes();
    preflight.nodes[1].home.freeBytes = preflight.nodes[1].state.freeBytes = kGiB / 4;
    const CheckRow row = rowOf(spec(), preflight, "launch-room");
    QVERIFY(row.state == State::kBad);
    QCOMPARE(row.evidence, std::string("b: 268 MB free at /home/me, 537 MB to be sent"));
    QCOMPARE(row.cause, std::string("what is sent does not fit there"));
    QCOMPARE(row.fix, std::string("make room on b (Clean up, or ringmaster clean --node b, removes "
                                  "what no run needs)"));
    preflight.nodes[1].bytesToSend = kGiB / 4 - 1; // leaves little to the run, which begins
    const CheckRow fits = rowOf(spec(), preflight, "launch-room");
    QVERIFY(fits.state == State::kWarning);
    QCOMPARE(fits.cause, std::string("the disk may fill up while it trains, as journals, logs and "
                                     "prepared text take some 268 MB; the run then waits for room "
                                     "with its next checkpoint"));
    preflight.nodes[1].bytesToSend = 0; // it is there
    const CheckRow there = rowOf(spec(), preflight, "launch-room");
    QVERIFY(there.state == State::kGood);
    preflight.nodes[1].home.freeBytes = preflight.nodes[1].state.freeBytes = kGiB / 8;
    const CheckRow little = rowOf(spec(), preflight, "launch-room");
    QVERIFY(little.state == State::kWarning);
    QVERIFY2(little.cause.starts_with("the disk may fill up while it trains"),
             little.cause.c_str());
}

void LaunchRowsTest::checkpointsAreCountedOnTheirOwnDisk() {
    Preflight preflight = twoNodes();
    preflight.nodes[0].checkpoints->freeBytes = 1 << 20;
    const CheckRow row = rowOf(spec(), preflight, "launch-room");
    QVERIFY(row.state == State::kWarning);
    QVERIFY2(row.evidence.starts_with("a: 1.0 MB free at /share, nothing to be sent, checkpoints "),
             row.evidence.c_str());
    QVERIFY2(row.fix.find("checkpoint.keep_last") != std::string::npos, row.fix.c_str());
    // A launch does not count what it sends, and what goes on has most checkpoints already.
    preflight.nodes[0].bytesToSend.reset();
    preflight.beginning = Beginning{true};
    const std::string ofResume = rowOf(spec(), preflight, "launch-room").evidence;
    QVERIFY2(ofResume.starts_with("a: 1.0 MB free at /share, the next checkpoint "),
             ofResume.c_str());
    // Only rank 0's node writes there.
    std::swap(preflight.nodes[0], preflight.nodes[1]);
    QVERIFY(rowOf(spec(), preflight, "launch-room").state == State::kGood);
}

void LaunchRowsTest::aFolderThatRankZeroCannotWriteIsAFault() {
    Preflight preflight = twoNodes();
    preflight.nodes[0].checkpoints->problem = "open /share/.x: Read-only file system";
    const CheckRow row = rowOf(spec(), preflight, "launch-checkpoints");
    QVERIFY(row.state == State::kBad);
    QCOMPARE(row.evidence, std::string("/share/ckpt on a: open /share/.x: Read-only file system"));
    QCOMPARE(row.cause, std::string("rank 0 cannot write checkpoints there"));
    QCOMPARE(row.fix,
             std::string("let me write there (rights, a mount that is read-only, room), or name "
                         "another folder (checkpoint.directory)"));
}

void LaunchRowsTest::aFolderThatAllShareIsSaid() {
    QCOMPARE(rowOf(spec(), twoNodes(), "launch-checkpoints"),
             goodRow("launch-checkpoints", "Checkpoints",
                     "in /share/ckpt, which all nodes have in common: whichever goes on finds "
                     "them"));
}

/// As of a home on NFS, with the folder of a run that names none.
void LaunchRowsTest::aStateFolderThatAllShareIsSaid() {
    Preflight preflight = twoNodes();
    RunSpec run = spec();
    run.checkpoint.directory.clear();
    for (NodePreflight& each : preflight.nodes) {
        each.checkpoints.reset();
        each.state.hasMark = true;
    }
    QCOMPARE(rowOf(run, preflight, "launch-checkpoints").evidence,
             std::string("in the run's folder on a, which all nodes have in common: whichever goes "
                         "on finds them"));
    QVERIFY(rowOf(run, preflight, "launch-room")
                .evidence.find("b: 53.7 GB free at /home/me, 537 MB to be sent") !=
            std::string::npos); // and no copies come to it
    preflight.nodes[1].state.hasMark = false;
    QVERIFY(rowOf(run, preflight, "launch-checkpoints").evidence.find("a copy of the newest two") !=
            std::string::npos);
    preflight.nodes[0].state.problem = "open /home/me/.x: Permission denied";
    QVERIFY(rowOf(run, preflight, "launch-checkpoints").state == State::kBad);
}

void LaunchRowsTest::checkpointsThatStayForGoodAreCounted() {
    RunSpec run = spec();
    run.train.steps = 1000;
    const std::string without = rowOf(run, twoNodes(), "launch-room").evidence;
    run.checkpoint.keepEvery = 10;
    QVERIFY(rowOf(run, twoNodes(), "launch-room").evidence != without);
    run.train.steps = 0; // epochs decide
    QVERIFY(
        rowOf(run, twoNodes(), "launch-room").evidence.find(", and one more for every 10 steps") !=
        std::string::npos);
}

void LaunchRowsTest::whatANodeRefusesIsARow() {
    Preflight preflight = twoNodes();
    preflight.nodes[1].problems = {{"data.train names /data, which is not there"}};
    QCOMPARE(rowOf(spec(), preflight, "launch-refused"),
             (CheckRow{"launch-refused", State::kBad, "What the run needs there",
                       "b: data.train names /data, which is not there", "the launch is refused",
                       "put there what is missing, or change the setting that names it"}));
    const std::string advice =
        "choose another folder, resume that run, or set checkpoint.on_existing to \"separate\"";
    preflight.nodes[1].problems = {
        {"checkpoint.directory names /c, which has checkpoints", advice}};
    const CheckRow folder = rowOf(spec(), preflight, "launch-refused");
    QCOMPARE(folder.evidence,
             std::string("b: checkpoint.directory names /c, which has checkpoints"));
    QCOMPARE(folder.fix, advice);
}

void LaunchRowsTest::withoutCopiesANodeIsTheOnlyPlace() {
    Preflight preflight = twoNodes();
    preflight.nodes[1].checkpoints->hasMark = false;
    RunSpec run = spec();
    QCOMPARE(rowOf(run, preflight, "launch-checkpoints"),
             goodRow("launch-checkpoints", "Checkpoints",
                     "in /share/ckpt on a, which the other nodes do not have; a copy of the newest "
                     "two goes to a second node"));
    run.checkpoint.copies = "off";
    const CheckRow row = rowOf(run, preflight, "launch-checkpoints");
    QVERIFY(row.state == State::kWarning);
    QCOMPARE(row.cause, std::string("if a is lost, so is all that was trained"));
    QCOMPARE(row.fix, std::string("set checkpoint.copies = \"auto\", or name a folder that all "
                                  "nodes share"));
}

void LaunchRowsTest::otherDataIsTold() {
    Preflight preflight = twoNodes();
    preflight.nodes[1].data->digest = "cd";
    CheckRow row = rowOf(spec(), preflight, "launch-data");
    QVERIFY(row.state == State::kWarning);
    QCOMPARE(row.evidence, std::string("a: 3 files, 1.1 GB; b: 3 files, 1.1 GB"));
    QVERIFY2(row.cause.starts_with("their contents differ"), row.cause.c_str());
    preflight.nodes[1].data->files = 1;
    row = rowOf(spec(), preflight, "launch-data");
    QVERIFY2(row.cause.starts_with("they differ"), row.cause.c_str());
    preflight.nodes[1].data.reset();
    preflight.nodes[1].dataProblem = "more files than can be looked at in 5 s";
    row = rowOf(spec(), preflight, "launch-data");
    QVERIFY(row.state == State::kGood); // nothing is known that speaks against it
    QCOMPARE(row.evidence,
             std::string("not compared: b did not say what it has: more files than can be looked "
                         "at in 5 s"));
    RunSpec staged = spec();
    staged.data.stage = true;
    QVERIFY(rowOf(staged, preflight, "launch-data").state == State::kGood);
}

void LaunchRowsTest::aPublicAddressIsTold() {
    Preflight preflight = twoNodes();
    preflight.nodes[0].report.interfaces.push_back({"eth0", "8.8.4.4", 24, true, 1000});
    const CheckRow row = rowOf(spec(), preflight, "launch-address");
    QVERIFY(row.state == State::kWarning);
    QCOMPARE(row.evidence, std::string("perhaps at 8.8.4.4 (eth0) of a, which is public"));
    QCOMPARE(row.fix, publicAddressFix({}, "a", {}));
    preflight.lastNetwork =
        example::wholeNetwork({example::networkNode("a", preflight.nodes[0].report.interfaces),
                               example::networkNode("b", {example::at("ens5", "10.0.0.9")})});
    const std::string fix = rowOf(spec(), preflight, "launch-address").fix;
    QVERIFY2(fix.ends_with("launch.interface = \"ens5\""), fix.c_str());
    RunSpec chosen = spec();
    chosen.launch.interface = "ens5";
    QVERIFY(rowOf(chosen, preflight, "launch-address").state == State::kGood);
    preflight.nodes[1].node.environment = {"GLOO_SOCKET_IFNAME=nope0"}; // as the launch would say
    const CheckRow refused = rowOf(chosen, preflight, "launch-address");
    QVERIFY(refused.state == State::kBad);
    QVERIFY2(refused.evidence.find("GLOO_SOCKET_IFNAME=nope0") != std::string::npos,
             refused.evidence.c_str());
}

void LaunchRowsTest::answersOfAgentsAreRead() {
    const auto folder =
        parseFolderOnNode(R"({"folder":"/a","free_bytes":5,"device":7,"problem":"","mark":true})");
    QVERIFY(folder && *folder == (FolderOnNode{"/a", 5, 7, "", true}));
    const auto data = parseDataFingerprint(R"({"files":1,"bytes":2,"digest":"x","whole":false})");
    QVERIFY(data && *data == (DataFingerprint{1, 2, "x", false}));
    const auto both = parseAnswers(R"([{"answer":"x"},{"exit":3,"error":"gone"}])", 2);
    QVERIFY(both && (*both)[0] == "x");
    QVERIFY((*both)[1].error() == (Error{ErrorCode::kNotFound, "gone"}));
    for (const char* answer : {"", "{}", "[]", R"({"folder":1})", "hello"}) {
        QVERIFY2(!parseAnswers(answer, 2), answer);
        QVERIFY2(!parseFolderOnNode(answer), answer);
        QVERIFY2(!parseDataFingerprint(answer), answer);
    }
}

QTEST_APPLESS_MAIN(LaunchRowsTest)
#include "tst_launch_rows.moc"
