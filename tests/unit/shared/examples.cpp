// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/shared/examples.h"

namespace rm::example {

namespace {

const std::string kSha(64, 'a');
const std::string kOtherSha(64, '7');

std::vector<std::byte> someBytes(size_t count) {
    std::vector<std::byte> bytes(count);
    for (size_t i = 0; i < count; ++i)
        bytes[i] = std::byte(i * 37 % 251);
    return bytes;
}

} // namespace

std::vector<Record> records() {
    const MetricDef def{metric::kFirstUser,   "user/accuracy",    "ratio",
                        MetricKind::kCounter, MetricScope::kNode, "Share of right answers."};
    return {
        AttemptStarted{2, 3, 4, 500, 1700000000000000001, "/data/step-000000500"},
        MetricRegistered{def},
        Samples{3, 501, 1700000000000000002, {metric::kTrainLoss, 1000}, {2.5f, -0.0f}},
        Samples{0, 502, 1700000000000000003, {}, {}},
        Event{-1, -1, 1700000000000000004, Severity::kWarning, "disk-slow", "Disk is slow: é\n"},
        CommandApplied{"c0ffee", "set", 503, 1700000000000000005, false, "lr must be positive"},
        CheckpointSaved{504, 1700000000000000006, "/data/step-000000504", 123456789, 12.5, "pause",
                        1.25, true},
        CheckpointSaved{505, 1700000000000000007, "/data/step-000000505", 1, 0.5, "command"},
        CheckpointRemoved{400, 1700000000000000008, "/data/step-000000400"},
        SampleText{506, 1700000000000000009, "Once", " upon a time"},
        RankStarted{2, 3, 4242, 1700000000000000010},
        RankExited{2, 3, -1, 9, 1700000000000000011, "killed by SIGKILL", "last words\n"},
        AttemptEnded{2, Outcome::kFailed, 3, 20, 1700000000000000012, "rank 3: peer lost"},
    };
}

std::vector<Record> allRecords() {
    std::vector<Record> all = records();
    all.push_back(AttemptEnded{3, Outcome::kFailed, -1, 4, 1700000000000000013, "it hung", true});
    all.push_back(
        AttemptPlanned{4, 1700000000000000014, "/data/step-000000500", {{0, 0, 2}, {2, 2, 1}}});
    all.push_back(CheckpointCopied{500,
                                   1700000000000000015,
                                   "/data/step-000000500",
                                   "/copies/step-000000500",
                                   {"/copies/step-000000300"},
                                   2,
                                   123456789,
                                   "every 500"});
    all.push_back(SettingsChanged{
        510, 1700000000000000016, {{"optimizer.lr", 0.0003}, {"train.log_every", 5}}});
    all.push_back(StepsPlanned{2000});
    SampleText translation{507, 1700000000000000017, "Good morning", "Guten Tag"};
    translation.kind = SampleKind::kTranslation;
    translation.reference = "Guten Morgen";
    translation.score = 61.5f;
    all.push_back(translation);
    SampleText picture{508, 1700000000000000018, "cat/1.jpg", "dog"};
    picture.kind = SampleKind::kPicture;
    picture.reference = "cat";
    picture.score = 0.9f;
    picture.picture = someBytes(300);
    all.push_back(picture);
    all.push_back(ConfusionMatrix{508, 1700000000000000019, 2, {"cat", "dog"}, {7, 1, 2, 9}});
    all.push_back(ConfusionMatrix{509, 1700000000000000020, 1000, {"cat"}, {7, 1, 2, 9000}});
    all.push_back(
        TraceRecorded{3,
                      512,
                      20,
                      1700000000000000017,
                      123456789000,
                      true,
                      true,
                      {{TraceKind::kForward, 512, 123456789100, 21000000, 0, 0},
                       {TraceKind::kAllReduce, 512, 123470000000, 9000000, 1 << 20, 0},
                       {TraceKind::kAllGather, 512, 123471000000, 9000001, (1 << 20) + 1, 1},
                       {TraceKind::kStep, 512, 123456789000, 84000000, 0, 0}}});
    return all;
}

AllReduceReport allReduceReport() {
    return {"CPU, 1 thread", "", {{{0, 1}, 2, {{4, 0.0002, 100}, {1 << 20, 0.01, 12, 0.004}}}}};
}

StepProfile stepProfile() {
    StepProfile profile;
    profile.device = "CPU, 1 thread";
    profile.samples = 8;
    profile.forwardMs = 10;
    profile.backwardMs = 20;
    profile.updateMs = 1.5;
    profile.accumulation = 2;
    profile.buckets = {{1 << 20, 5, 8}, {4 << 20, 20, 0}};
    profile.spareCores = 3;
    return profile;
}

TryAnswer tryAnswer() {
    return {TryKind::kClasses, "", {{"cat", 0.75}, {"dog", 0.125}}, 0, 500, 1.5, "CPU, 2 threads"};
}

SelfTest selfTest() {
    SelfTest test;
    test.device = "NVIDIA H200";
    test.uuid = "GPU-a";
    test.driver = "580.65.06";
    test.runtime = "torch 2.11.0, CUDA 13.0";
    test.complete = true;
    test.wallNs = 1700000000000000002;
    test.proofs = {{"memory", "device", true, "120000 MiB filled and read back", 900},
                   {"GELU kernel", "gelu-kernel", false, "error 0.01, allowed 1e-05", 12}};
    return test;
}

MachineFacts machineFacts() {
    return {"0b6f9c1e-4c5d-4e6a-9d57-3f0a1c2b4d5e gpu-1",
            "0.1.0",
            "AMD EPYC 9",
            96,
            1LL << 40,
            "580.65.06",
            {{"NVIDIA H200", "GPU-a", 150'000'000'000, 700.0, 87.0},
             {"NVIDIA H200", "GPU-b", 150'000'000'000, {}, {}}}};
}

MachineSample machineSample() {
    MachineSample sample;
    sample.wallNs = 1'700'000'000'000'000'001;
    sample.cpu = 14.25;
    sample.busiestCpu = 0.5;
    sample.memoryBytes = 61LL << 30;
    sample.diskReadBytesPerS = 0;
    sample.diskWriteBytesPerS = 3e6;
    sample.interfaces = {{"ens5", 612e6, 598e6}};
    sample.gpus = {{0.5, 14e9, 71.0, 241.5, 1980.0, 2619.0, 2e6, 1e6, {"power-cap"}, false},
                   {{}, {}, {}, {}, {}, {}, {}, {}, {}, true}};
    sample.processes = {{4242,
                         "me",
                         "ringmaster-trai",
                         "ringmaster-trainer --spec plan.toml",
                         1.25,
                         2LL << 30,
                         {{0, 14'000'000'000}},
                         "gpt-1",
                         "gpt",
                         0},
                        {17, "", "", "", {}, 0, {{0, 0}, {1, 5}}, "", "", -1}};
    return sample;
}

NodeReport nodeReport() {
    NodeReport report;
    report.os = "Debian GNU/Linux 12 (bookworm)";
    report.kernel = "6.1.0-18-amd64";
    report.glibc = "2.36";
    report.cpuModel = "AMD EPYC 9";
    report.cores = 96;
    report.memoryBytes = 1LL << 40;
    report.freeMemoryBytes = 1LL << 39;
    report.driver = "580.65.06";
    report.gpus = {{"NVIDIA H200", 150'000'000'000, "GPU-a", 149'000'000'000, 90},
                   {"NVIDIA H200", 150'000'000'000, "GPU-b", 0}};
    report.gpus[1].pciId = "0000:3b:00";
    report.gpus[1].processes = {{4242, "you", "python3", 1'000'000'000}, {17, "", "", 0}};
    report.gpus[1].eccCorrected = 3;
    report.gpus[1].eccUncorrected = 1;
    report.gpus[1].throttled = {"thermal", "power-cap"};
    report.gpus[1].pcieWidth = 8;
    report.gpus[1].pcieWidthMost = 16;
    report.gpus[1].pcieGeneration = 1;
    report.gpus[1].pcieGenerationMost = 5;
    report.gpus[1].retired = 2;
    report.gpus[1].isRepairPending = true;
    report.gpus[1].hasRepairFailed = true;
    report.interfaces = {{"lo", "127.0.0.1", 8, true, -1}, {"ens5", "fd00::1", 64, false, 100'000}};
    report.disks = {{"/", "ext4", 2'000'000'000'000, 1'000'000'000'000}};
    report.home = "/home/m\u00e9/.local/share/ringmaster";
    report.homeId = "0123456789abcdef0123456789abcdef";
    report.stateDir = "/home/me/.local/state/ringmaster";
    report.wallNs = 1'700'000'000'000'000'001;
    report.user = "me";
    report.atLogout = AtLogout::kEndWithUserManager;
    report.release = "0.1.0";
    report.libstdcxx = "3.4.30";
    report.stateId = "fedcba98765432100123456789abcdef";
    report.memlockBytes = -1;
    report.openFiles = 1024;
    report.openFilesMost = 1 << 20;
    report.shmBytes = 64 << 20;
    report.shmFreeBytes = 60 << 20;
    report.rdmaDevices = {"mlx5_0"};
    report.xids = {{"0000:3b:00", 79, "pid=4242, GPU has fallen off the bus."}};
    report.runs = {
        {"gpt-1", "gpt \u00e9", 2, 4, true, 1200, 1'700'000'000'000'000'001, "me@laptop"}};
    report.selfTests = {selfTest()};
    report.otherAgents = {{"ab12", "0.0.9", 12 << 20, "run gpt-1 lives by it"},
                          {"cd34", "", 1, ""}};
    report.homeProblem = "write in /h\u00e9: Read-only file system";
    report.stateProblem = "write in /s: No space left on device";
    report.machine = "0b6f9c1e gpu-1";
    return report;
}

Command command() {
    return {"0b0e7e1c-8f5a-4d53-9f0c-000000000001",
            CommandKind::kSet,
            {{"optimizer.lr", "0.0003"}, {"train.log_every", "10"}}};
}

std::vector<Message> messages() {
    const RankState running{3, 4242, 501, 2, 17, 0, 0};
    const RankState gone{4, 0, 500, 9, 18, -1, 9};
    RunState waiting{1, true, false, 0, 1700000000000000014, {}, true, "job 12 waits"};
    waiting.noRoom = "/s/\u00e9 has 0 kB, and 64 kB are needed";
    return {
        Hello{kWireVersion, "0.1.0", "gpt-tiny-1", 1},
        Attach{{{"journal/rank-00003.rmj", 4096}, {"log/rank-00003.log", 0}}},
        Attach{},
        Slice{"journal/node-00001.rmj", 1 << 20, someBytes(300)},
        command(),
        CommandState{"id-7", CommandProgress::kRefused, -1, "the run has ended"},
        RunState{2, true, true, 4, 1700000000000000013, {running, gone}, false, ""},
        Heartbeat{123456789, 987654321},
        Refusal{uint8_t(ErrorCode::kNotFound), "no run gpt-tiny-2 on this node"},
        waiting,
        Slice{"log/rank-00003.log", 4096, someBytes(30), {{4106, 1700000000000000015}, {4126, 0}}},
    };
}

std::vector<Transfer> transfers() {
    const TreeEntry program{"bin/ringmaster-trainer", kSha, true};
    const TreeEntry library{"lib/libtörch.so", kOtherSha, false};
    return {
        Offer{{{kSha, 4096}, {kOtherSha, 0}}},
        Missing{{{kSha, 1024}}},
        Chunk{someBytes(100)},
        BlobEnd{kSha},
        Stored{kOtherSha},
        Tree{"bundles", treeId({program, library}), {program}, true},
        Tree{"data", treeId({program, library}), {library}, false},
        TreeReady{"/home/user/.local/share/ringmaster/bundles/x"},
        Failed{uint8_t(ErrorCode::kExhausted), "write blob: no space left on device"},
        CheckpointPlace{"gpt-tiny-1", "/data/checkpoints/gpt-tiny-1", 2},
        CheckpointBegin{"{\"version\": 1}"},
        Offer{{{kSha, 4096}}, true},
        Missing{{{kSha, 1024}}, 500'000'000},
        Tree{"bundles", treeId({library}), {library}, false, "0.1.0 cuda13"},
        Serve{"transfer-1", kSha},
        Serving{40123},
        Fetch{{"10.0.0.7", "fd00::7"}, 40123, "transfer-1", kSha},
        Fetching{1 << 20, 400'000},
        FetchEnded{"10.0.0.7: its agent ended"},
        Waiting{},
        StopFetch{},
    };
}

RunSpec spec() {
    RunSpec s;
    s.name = "gpt \"tiny\" é";
    s.seed = 7;
    s.model.layers = 2;
    s.model.heads = 4;
    s.model.width = 64;
    s.model.context = 32;
    s.model.dropout = 0.1;
    s.data.train = {"/data/a.txt", "/data/b \\ c"};
    s.data.validation = {"/data/v.txt"};
    s.data.validationShare = 0.1;
    s.data.tokenizer = "sentencepiece";
    s.data.vocabSize = 512;
    s.train.steps = 2000;
    s.train.batchSize = 4;
    s.train.accumulation = 2;
    s.train.precision = "bfloat16";
    s.train.threads = 3;
    s.train.logEvery = 5;
    s.optimizer.lr = 1e-3;
    s.optimizer.beta1 = 0.8;
    s.optimizer.beta2 = 0.99;
    s.optimizer.eps = 1e-9;
    s.optimizer.weightDecay = 0.05;
    s.optimizer.clip = 0.5;
    s.schedule.type = "constant";
    s.schedule.warmupSteps = 10;
    s.schedule.minLr = 1e-5;
    s.validation.every = 50;
    s.validation.batches = 3;
    s.validation.sampleTokens = 60;
    s.validation.prompt = "To be\n\tor not";
    s.checkpoint.directory = "/checkpoints";
    s.checkpoint.every = 250;
    s.checkpoint.keepLast = 5;
    s.checkpoint.keepBest = false;
    s.launch.device = "cpu";
    s.launch.ranks = 2;
    s.launch.interface = "eth0";
    s.launch.masterPort = 29500;
    s.launch.environment = {"NCCL_DEBUG=INFO", "OMP_NUM_THREADS=1"};
    return s;
}

NodePlan plan() {
    NodePlan plan;
    plan.runId = "gpt-tiny-1";
    plan.runName = "gpt tiny";
    plan.attempt = 2;
    plan.nodeIndex = 1;
    plan.nodeCount = 2;
    plan.firstRank = 2;
    plan.localRanks = 2;
    plan.worldSize = 4;
    plan.masterAddr = "10.0.0.1";
    plan.masterPort = 29500;
    plan.interface = "eth0";
    plan.device = "cuda";
    plan.bundle = "/opt/bundle";
    plan.startFrom = "/data/step-000000500";
    plan.environment = {"NCCL_DEBUG=INFO"};
    return plan; // what later plans have besides was not there when the golden file was written
}

Manifest manifest() {
    return {1,
            "gpt-tiny-1",
            2,
            1000,
            4,
            1700000000000000014,
            "every 500",
            1.75,
            {{"model.safetensors", 123, kSha}, {"state.json", 0, kOtherSha}}};
}

std::span<const std::byte> bytesOf(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string textOf(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace rm::example
