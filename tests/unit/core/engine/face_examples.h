// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/holder/messages.h"
#include "app/core/store/requested_command.h"

#include <cmath>
#include <limits>
#include <vector>

namespace rm::example {

inline RunSpec specNamed(const char* name) {
    RunSpec spec;
    spec.name = name;
    return spec;
}

inline LiveState liveState() {
    LiveState live;
    live.nodes.push_back(
        {"node-a", LiveState::Link::kLive, {}, 0, RunState{2, true, false, 0, 1700, {}}});
    live.nodes[0].state->ranks = {{0, 4711, 20, 3, 1500, 0, 0}, {1, 0, 19, 2, -1, 137, 9}};
    live.nodes.push_back({"node-b", LiveState::Link::kRefused, "no route ☃", 12, {}});
    live.nodes[0].heardNs = 1600;
    live.pending = CommandKind::kPause;
    live.pendingSinceNs = 7;
    live.held = true;
    live.launching = Progress{"Send trainer", 1, 3LL << 40, 2, -1, 0.1};
    live.launching->nodes = {Progress{"node-a", 1, 2, 1, -1, -1}};
    return live;
}

inline MachineNews machineNews() {
    MachineNews news{"node-a", MachineState::kLost, "no route", "start it", {}, {}, {}};
    news.facts = MachineFacts{"0b6f9c1e gpu-1",
                              "0.1.0",
                              "EPYC",
                              96,
                              1LL << 40,
                              "580.65",
                              {{"H200", "GPU-1", 1LL << 37, 700.0, {}}}};
    MachineSample sample;
    sample.wallNs = 5;
    sample.cpu = 1.5;
    sample.diskReadBytesPerS = 2.5;
    sample.interfaces = {{"ens5", 0.5, 1.25}};
    sample.gpus = {{0.5, 1e9, {}, 300.5, 1980.0, {}, {}, {}, {"thermal"}, true}};
    news.points = {{1700, sample}};
    news.processes = {
        {7, "you", "python3", "python3 x.py", 1.5, 1 << 20, {{0, 9}}, "gpt-1", "gpt", 3}};
    return news;
}

inline NodeCheck nodeCheck() {
    NodeReport report{"Debian",
                      "6.1",
                      "2.36",
                      "EPYC",
                      2,
                      1LL << 34,
                      1LL << 33,
                      "550",
                      {},
                      {},
                      {},
                      "/h",
                      "abc",
                      "/s",
                      5,
                      "me",
                      AtLogout::kEndWithSession};
    report.gpus = {{"H200", 1LL << 37, "GPU-1", 0, 90, "0000:3b:00", {{7, "you", "python3", 9}}}};
    report.gpus[0].throttled = {"thermal"};
    report.rdmaDevices = {"mlx5_0"};
    report.xids = {{"0000:3b:00", 79, "off the bus"}};
    report.runs = {{"gpt-1", "gpt", 2, 4, true, 120, 7, "me@laptop"}};
    report.release = "0.1.0";
    report.shmBytes = 1LL << 33;
    report.interfaces = {{"ens5", "10.0.0.1", 24, false, -1}};
    report.disks = {{"/", "ext4", 100, 50}};
    report.selfTests = {
        {"H200", "GPU-1", "550", "torch", true, 6, {{"memory", "device", true, "x", 7}}}};
    report.otherAgents = {{"ab12", "0.0.9", 1 << 20, "run gpt-1 lives by it"}};
    report.homeProblem = "write in /h: Read-only file system";
    report.stateProblem = "write in /s: No space left on device";
    report.machine = "0b6f9c1e gpu-1";
    NodeCheck check;
    check.node = "node-a";
    check.ready = true;
    check.rows = {{"leftovers", CheckRow::State::kWarning, "Leftovers", "gpt-1", "why", "what",
                   CheckAction{CheckAction::Kind::kEndLeftovers, "End it", "gpt-1"}}};
    check.report = report;
    check.failure = ConnectFailure{{ErrorCode::kDenied, "no"},
                                   ConnectFailure::Need::kPassphrase,
                                   "SHA256:x",
                                   ConnectFailure::Cause::kLogin};
    check.roundTripUs = 900;
    check.checkedNs = 1700;
    return check;
}

/// At least one of each type, request and reply.
inline std::vector<face::Message> faceMessages() {
    const Error error{ErrorCode::kExhausted, "write /x: disk full"};
    return {
        face::Hello{"ringmaster", "0.1.0", 42, face::Kind::kWindow},
        face::Ask{
            1,
            LaunchRequest{specNamed("x"), {{"node-a", 2}, {"b", 0}}, "x-1", IfTooLarge::kLaunch}},
        face::Ask{2, ResumeRequest{"x-1", {}, {}}},
        face::Ask{
            3,
            ResumeRequest{
                "x-1", "60", {{"node-b", 2}}, {"kc", RequestedFrom::kWindow}, IfTooLarge::kLaunch}},
        face::Ask{3, DeclareLostRequest{"x-1", "node-b"}},
        face::Ask{4,
                  BranchRequest{
                      "x-1", "60", specNamed("y"), "y-2", IfTooLarge::kRefuse, {{"node-b", 2}}}},
        face::Ask{18, ResumePreflightRequest{"x-1", "60", {{"node-b", 2}}}},
        face::Ask{19, CopyCheckpointRequest{"x-1", "60", {"node-b", "/c", "/d"}}},
        face::Ask{5, CommandRequest{"x-1",
                                    CommandKind::kSet,
                                    {{"optimizer.lr", "0.1"}},
                                    "id",
                                    {"kc", RequestedFrom::kTerminal}}},
        face::Ask{6, CheckRequest{"node-a", {std::string("\xff\0secret", 8), {}, "SHA256:x"}}},
        face::Ask{7, NotesRequest{"x-1", "näher\nzwei"}},
        face::Ask{8, TagsRequest{"x-1", {"a,b", "☃"}}},
        face::Ask{9, DeletedRequest{"x-1", true}},
        face::Ask{std::numeric_limits<int64_t>::max(), WindowRequest{"token"}},
        face::Ask{
            10, RemoveCheckpointRequest{"x-1", "step-000000060", {"kc", RequestedFrom::kTerminal}}},
        face::Ask{11, NodePreflightRequest{specNamed("x"), "node-a"}},
        face::Ask{12, RenameRequest{"x-1", "näher"}},
        face::Ask{13, EmptyTrashRequest{1LL << 60}},
        face::Ask{14, VerifyCheckpointRequest{"x-1", "60"}},
        face::Ask{15, OnNodesRequest{"x-1"}},
        face::Ask{16, RemoveFromNodesRequest{"x-1", {"kc", RequestedFrom::kTerminal}}},
        face::Ask{17, CleanNodeRequest{"node-a", {false, true}}},
        face::Ask{17, MeasureNetworkRequest{{"node-a", "node-b"}}},
        face::Ask{18, StopNetworkRequest{}},
        face::Ask{18, WithdrawRequest{"x-1", "id"}},
        face::Ask{23, EndLeftoversRequest{"node-a", {"x-1", "y-2"}, OtherRuns::kEnd}},
        face::Ask{24, CheckLaunchRequest{specNamed("x"), {{"node-a", 2}}}},
        face::Ask{20, PinCheckpointRequest{"x-1", "60", false}},
        face::Ask{21, BringBackCheckpointRequest{"x-1", "60", {"kc", RequestedFrom::kWindow}}},
        face::Ask{22, CompareCheckpointsRequest{"x-1", "60", "80"}},
        face::Ask{23, TrialRequest{{TrialKind::kAllReduce, {{"node-a", 2}, {"node-b", 0}}, ""}}},
        face::Ask{24, StopTrialRequest{{TrialKind::kSelfTest, {{"node-a", 0}}, ""}}},
        face::Follow{"x-1"},
        face::Accepted{-1},
        face::Answer{1, Result<QString>("x-1")},
        face::Answer{2, Result<QString>(tl::unexpected(error))},
        face::Answer{3,
                     Result<CommandState>(CommandState{"id", CommandProgress::kRefused, -1, "no"})},
        face::Answer{4, nodeCheck()},
        face::Answer{12, Result<std::vector<CheckRow>>(nodeCheck().rows)},
        face::Answer{5, Result<void>()},
        face::Answer{6, Result<void>(tl::unexpected(error))},
        face::Answer{7, true},
        face::Answer{8,
                     Result<NodePreflight>(NodePreflight{
                         Node{"node-a", false, "10.0.0.1", "me", 2222, {}},
                         2,
                         *nodeCheck().report,
                         {{"no /data", "set data.train"}},
                         SlurmPartition{"gpu", true, true, "infinite", 4, 3, 64, 512000, 8, "a100"},
                         1LL << 33,
                         {"/home/me", 1LL << 40, 7, "", false},
                         {"/home/me", 1LL << 40, 7, "write in /home/me: Disk full", false},
                         FolderOnNode{"/share", -1, -1, "", true},
                         DataFingerprint{3, 1LL << 20, "ab12", true},
                         "more files than can be looked at in 5 s"})},
        face::Answer{9, Result<std::vector<RunFolder>>({{"node-a",
                                                         "/s/runs/x-1",
                                                         1LL << 40,
                                                         2,
                                                         "gone",
                                                         {},
                                                         {},
                                                         {{"/c/x-1", 9, 1, "no"}}}})},
        face::Answer{
            10, Result<DeployedReport>(DeployedReport{"/h",
                                                      {{"data", "ab", 1LL << 40, 7, "run x-1", ""},
                                                       {"bundles", "cd", 1, 8, "", "0.1.0 cuda13"},
                                                       {"checkpoints", "x-1", 1, 8, "", "", "/c"},
                                                       {"runs", "x-1", 1, 8, "", "", "", "me@a"}},
                                                      "run x-1 runs",
                                                      "0f",
                                                      "9a",
                                                      "/s",
                                                      "remove b2: no"})},
        face::Answer{11, Result<ResumePreflight>(
                             ResumePreflight{60,
                                             "step-000000060",
                                             "node-a",
                                             1LL << 33,
                                             {{"a", 2}},
                                             {{"b", 1}},
                                             {70},
                                             {"x-2 on b"},
                                             83})},
        face::Answer{12, Result<TensorComparison>(TensorComparison{
                             {{"blocks.0", 64, 1.5, 2.5, 0.25, 0.125}}, {"a.b"}, {"c"}})},
        face::RunsChanged{},
        face::SamplesAppended{"x-1"},
        face::Live{"x-1", liveState()},
        face::Live{"x-2", {}},
        face::Progressed{"x-1", {"Check nodes"}},
        face::AttemptEnded{"x-1"},
        face::TooLarge{"x-1", "too large"},
        face::LoginRefused{"node-a"},
        face::Failed{{}, "that"},
        face::ShowWindow{{}},
        face::NodesChanged{},
        face::Ask{25, BatchScriptRequest{specNamed("x"), {{"cluster", 16}}}},
        face::Ask{26, EnqueueRequest{specNamed("x"),
                                     {{{"optimizer.lr", {"0.1", "0.2"}, 0, 0, 0, false},
                                       {"model.dropout", {}, 0.5, 0.75, 3, true}},
                                      8,
                                      7,
                                      100,
                                      3},
                                     {"x-1", "x-2"},
                                     {{{"node-a", 2}, {"b", 0}}, 1, true},
                                     "x-3"}},
        face::Ask{27, EnqueueResumeRequest{"x-1", {{{"node-a", 2}}, 0, false}}},
        face::Ask{28, MoveInQueueRequest{"x-1", 3}},
        face::Ask{29, StartQueuedRequest{}},
        face::Answer{13, Result<QueueProgress>(QueueProgress{{"x-1"}, {{"y-2", "no"}}, 4, 2, 9})},
        face::Ask{30, StarRequest{"x-1", true}},
        face::Ask{31, ArchiveRequest{"x-1", true}},
        face::Ask{
            32,
            TryCheckpointRequest{"x-1", "60", {"Once", "/p.jpg", 20, 0.5, 40, 4, 7, true}, "t-1"}},
        face::Ask{33, StopTryRequest{"t-1"}},
        face::Answer{14, Result<TriedCheckpoint>(TriedCheckpoint{
                             {TryKind::kClasses, "a", {{"cat", 0.5}}, 3, 60, 1.5, "CPU"},
                             "node-a",
                             "x-1 trains"})},
        face::Ask{34, LookAtMachinesRequest{{"window-1", {{"node-a", 1700, true}}, 200}}},
        face::Answer{15, Result<std::vector<MachineNews>>({machineNews()})},
        face::Ask{35, LeaveMachinesRequest{"window-1"}},
    };
}

} // namespace rm::example
