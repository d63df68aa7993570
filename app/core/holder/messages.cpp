// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/holder/messages.h"

#include "app/core/holder/value_codec.h"

#include <QCborParserError>

namespace rm {

// The functions below name every member and enumerator that is sent, so that adding one without
// extending them does not compile.

namespace {
using codec::Like;
}

constexpr bool isKnown(ErrorCode code) {
    switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kTooNew:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDenied:
    case ErrorCode::kExhausted:
    case ErrorCode::kInternal:
        return true;
    }
    return false;
}

constexpr bool isKnown(CommandKind kind) {
    switch (kind) {
    case CommandKind::kHold:
    case CommandKind::kContinue:
    case CommandKind::kStep:
    case CommandKind::kPause:
    case CommandKind::kCheckpoint:
    case CommandKind::kValidate:
    case CommandKind::kSample:
    case CommandKind::kSet:
    case CommandKind::kStop:
    case CommandKind::kKill:
        return true;
    }
    return false;
}

constexpr bool isKnown(AskedFrom from) {
    switch (from) {
    case AskedFrom::kWindow:
    case AskedFrom::kTerminal:
    case AskedFrom::kRule:
    case AskedFrom::kRun:
    case AskedFrom::kElsewhere:
        return true;
    }
    return false;
}

constexpr bool isKnown(CommandProgress progress) {
    switch (progress) {
    case CommandProgress::kAccepted:
    case CommandProgress::kApplied:
    case CommandProgress::kRefused:
        return true;
    }
    return false;
}

constexpr bool isKnown(LiveState::Link link) {
    switch (link) {
    case LiveState::Link::kNone:
    case LiveState::Link::kConnecting:
    case LiveState::Link::kLive:
    case LiveState::Link::kLost:
    case LiveState::Link::kRefused:
    case LiveState::Link::kUnstored:
        return true;
    }
    return false;
}

constexpr bool isKnown(IfTooLarge what) {
    switch (what) {
    case IfTooLarge::kRefuse:
    case IfTooLarge::kLaunch:
        return true;
    }
    return false;
}

constexpr bool isKnown(CheckRow::State state) {
    switch (state) {
    case CheckRow::State::kGood:
    case CheckRow::State::kWarning:
    case CheckRow::State::kBad:
        return true;
    }
    return false;
}

constexpr bool isKnown(CheckAction::Kind kind) {
    switch (kind) {
    case CheckAction::Kind::kCopyCommand:
    case CheckAction::Kind::kEndLeftovers:
    case CheckAction::Kind::kTrustHostKey:
    case CheckAction::Kind::kEnterSecret:
    case CheckAction::Kind::kRemoveAgents:
    case CheckAction::Kind::kSelfTest:
        return true;
    }
    return false;
}

constexpr bool isKnown(ConnectFailure::Cause cause) {
    using Cause = ConnectFailure::Cause;
    switch (cause) {
    case Cause::kOther:
    case Cause::kName:
    case Cause::kRoute:
    case Cause::kJumpHost:
    case Cause::kRefused:
    case Cause::kNoAnswer:
    case Cause::kTurnedAway:
    case Cause::kAlgorithms:
    case Cause::kHostKey:
    case Cause::kLogin:
        return true;
    }
    return false;
}

constexpr bool isKnown(ConnectFailure::Need need) {
    switch (need) {
    case ConnectFailure::Need::kNothing:
    case ConnectFailure::Need::kTrustHostKey:
    case ConnectFailure::Need::kPassword:
    case ConnectFailure::Need::kPassphrase:
        return true;
    }
    return false;
}

constexpr bool isKnown(AtLogout what) {
    switch (what) {
    case AtLogout::kUnknown:
    case AtLogout::kGoOn:
    case AtLogout::kEndWithSession:
    case AtLogout::kEndWithUserManager:
        return true;
    }
    return false;
}

template <Like<Error> T>
auto membersOf(T& value) {
    auto& [code, message] = value;
    return std::tie(code, message);
}

template <Like<Placement> T>
auto membersOf(T& value) {
    auto& [node, ranks] = value;
    return std::tie(node, ranks);
}

template <Like<CommandState> T>
auto membersOf(T& value) {
    auto& [id, progress, step, message] = value;
    return std::tie(id, progress, step, message);
}

template <Like<RankState> T>
auto membersOf(T& value) {
    auto& [rank, pid, step, phase, sinceMs, exitCode, signal, isStopped, journalProblem,
           droppedRecords, isWaiting] = value;
    return std::tie(rank, pid, step, phase, sinceMs, exitCode, signal, isStopped, journalProblem,
                    droppedRecords, isWaiting);
}

template <Like<RunState> T>
auto membersOf(T& value) {
    auto& [attempt, supervised, ended, outcome, wallNs, ranks, hasNoRoom, waitsFor, noRoom] = value;
    return std::tie(attempt, supervised, ended, outcome, wallNs, ranks, hasNoRoom, waitsFor,
                    noRoom);
}

template <Like<LiveState::NodeLink> T>
auto membersOf(T& value) {
    auto& [node, link, why, lostSinceNs, state, heardNs] = value;
    return std::tie(node, link, why, lostSinceNs, state, heardNs);
}

template <Like<LiveState> T>
auto membersOf(T& value) {
    auto& [nodes, pending, pendingSinceNs, held, launching] = value;
    return std::tie(nodes, pending, pendingSinceNs, held, launching);
}

template <Like<Progress> T>
auto membersOf(T& value) {
    auto& [stage, done, total, sent, bytesPerSec, secondsLeft, nodes] = value;
    return std::tie(stage, done, total, sent, bytesPerSec, secondsLeft, nodes);
}

template <Like<GpuProcess> T>
auto membersOf(T& value) {
    auto& [pid, user, name, bytes] = value;
    return std::tie(pid, user, name, bytes);
}

template <Like<GpuReport> T>
auto membersOf(T& value) {
    auto& [name, memoryBytes, uuid, freeBytes, computeCapability, pciId, processes, eccCorrected,
           eccUncorrected, throttled, pcieWidth, pcieWidthMost, pcieGeneration, pcieGenerationMost,
           retired, isRepairPending, hasRepairFailed] = value;
    return std::tie(name, memoryBytes, uuid, freeBytes, computeCapability, pciId, processes,
                    eccCorrected, eccUncorrected, throttled, pcieWidth, pcieWidthMost,
                    pcieGeneration, pcieGenerationMost, retired, isRepairPending, hasRepairFailed);
}

template <Like<XidReport> T>
auto membersOf(T& value) {
    auto& [pciId, code, text] = value;
    return std::tie(pciId, code, text);
}

template <Like<RunReport> T>
auto membersOf(T& value) {
    auto& [runId, runName, attempt, ranks, isSupervised, step, sinceNs, startedBy] = value;
    return std::tie(runId, runName, attempt, ranks, isSupervised, step, sinceNs, startedBy);
}

template <Like<AgentReport> T>
auto membersOf(T& value) {
    auto& [id, release, bytes, keptFor] = value;
    return std::tie(id, release, bytes, keptFor);
}

template <Like<InterfaceReport> T>
auto membersOf(T& value) {
    auto& [name, address, prefix, up, speedMbit] = value;
    return std::tie(name, address, prefix, up, speedMbit);
}

template <Like<DiskReport> T>
auto membersOf(T& value) {
    auto& [path, fileSystem, totalBytes, freeBytes] = value;
    return std::tie(path, fileSystem, totalBytes, freeBytes);
}

template <Like<SelfTestProof> T>
auto membersOf(T& value) {
    auto& [name, path, held, evidence, ms] = value;
    return std::tie(name, path, held, evidence, ms);
}

template <Like<SelfTest> T>
auto membersOf(T& value) {
    auto& [device, uuid, driver, runtime, complete, wallNs, proofs] = value;
    return std::tie(device, uuid, driver, runtime, complete, wallNs, proofs);
}

template <Like<NodeReport> T>
auto membersOf(T& value) {
    auto& [os, kernel, glibc, cpuModel, cores, memoryBytes, freeMemoryBytes, driver, gpus,
           interfaces, disks, home, homeId, stateDir, wallNs, user, atLogout, release, libstdcxx,
           stateId, memlockBytes, openFiles, openFilesMost, shmBytes, shmFreeBytes, rdmaDevices,
           xids, isKernelLogRead, homeFreeBytes, homeTotalBytes, runs, selfTests, otherAgents,
           homeProblem, stateProblem, machine] = value;
    return std::tie(os, kernel, glibc, cpuModel, cores, memoryBytes, freeMemoryBytes, driver, gpus,
                    interfaces, disks, home, homeId, stateDir, wallNs, user, atLogout, release,
                    libstdcxx, stateId, memlockBytes, openFiles, openFilesMost, shmBytes,
                    shmFreeBytes, rdmaDevices, xids, isKernelLogRead, homeFreeBytes, homeTotalBytes,
                    runs, selfTests, otherAgents, homeProblem, stateProblem, machine);
}

template <Like<CheckAction> T>
auto membersOf(T& value) {
    auto& [kind, label, argument] = value;
    return std::tie(kind, label, argument);
}

template <Like<CheckRow> T>
auto membersOf(T& value) {
    auto& [id, state, title, evidence, cause, fix, action] = value;
    return std::tie(id, state, title, evidence, cause, fix, action);
}

template <Like<ConnectFailure> T>
auto membersOf(T& value) {
    auto& [error, need, fingerprint, cause] = value;
    return std::tie(error, need, fingerprint, cause);
}

template <Like<NodeCheck> T>
auto membersOf(T& value) {
    auto& [node, ready, rows, report, failure, roundTripUs, checkedNs] = value;
    return std::tie(node, ready, rows, report, failure, roundTripUs, checkedNs);
}

template <Like<SlurmPartition> T>
auto membersOf(T& value) {
    auto& [name, isDefault, isUp, timeLimit, nodes, idleNodes, cpusPerNode, memoryMb, gpusPerNode,
           gpu] = value;
    return std::tie(name, isDefault, isUp, timeLimit, nodes, idleNodes, cpusPerNode, memoryMb,
                    gpusPerNode, gpu);
}

template <Like<LaunchProblem> T>
auto membersOf(T& value) {
    auto& [what, fix] = value;
    return std::tie(what, fix);
}

template <Like<NodeOutlook> T>
auto membersOf(T& value) {
    auto& [report, problems, bytesToSend, partition] = value;
    return std::tie(report, problems, bytesToSend, partition);
}

template <Like<LaunchRequest> T>
auto membersOf(T& value) {
    auto& [spec, nodes, run, ifTooLarge] = value;
    return std::tie(spec, nodes, run, ifTooLarge);
}

template <Like<ResumeRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint, nodes, by] = value;
    return std::tie(run, checkpoint, nodes, by);
}

template <Like<DeclareLostRequest> T>
auto membersOf(T& value) {
    auto& [run, node, by] = value;
    return std::tie(run, node, by);
}

template <Like<BranchRequest> T>
auto membersOf(T& value) {
    auto& [parent, checkpoint, spec, run, ifTooLarge, nodes] = value;
    return std::tie(parent, checkpoint, spec, run, ifTooLarge, nodes);
}

template <Like<PinCheckpointRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint, pinned] = value;
    return std::tie(run, checkpoint, pinned);
}

template <Like<BringBackCheckpointRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint, by] = value;
    return std::tie(run, checkpoint, by);
}

template <Like<CompareCheckpointsRequest> T>
auto membersOf(T& value) {
    auto& [run, a, b] = value;
    return std::tie(run, a, b);
}

template <Like<LayerDifference> T>
auto membersOf(T& value) {
    auto& [layer, values, normA, normB, normOfDifference, largest] = value;
    return std::tie(layer, values, normA, normB, normOfDifference, largest);
}

template <Like<TensorComparison> T>
auto membersOf(T& value) {
    auto& [layers, onlyInA, onlyInB] = value;
    return std::tie(layers, onlyInA, onlyInB);
}

template <Like<CopyOrder> T>
auto membersOf(T& value) {
    auto& [node, to, from] = value;
    return std::tie(node, to, from);
}

template <Like<CopyCheckpointRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint, order] = value;
    return std::tie(run, checkpoint, order);
}

template <Like<ResumeOutlookRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint, nodes] = value;
    return std::tie(run, checkpoint, nodes);
}

template <Like<ResumeOutlook> T>
auto membersOf(T& value) {
    auto& [step, checkpoint, takenFrom, bytesToMove, before, after, passedOver] = value;
    return std::tie(step, checkpoint, takenFrom, bytesToMove, before, after, passedOver);
}

template <Like<CommandRequest> T>
auto membersOf(T& value) {
    auto& [run, kind, args, id, by] = value;
    return std::tie(run, kind, args, id, by);
}

template <Like<Asker> T>
auto membersOf(T& value) {
    auto& [who, from] = value;
    return std::tie(who, from);
}

template <Like<WithdrawRequest> T>
auto membersOf(T& value) {
    auto& [run, command] = value;
    return std::tie(run, command);
}

template <Like<CheckRequest> T>
auto membersOf(T& value) {
    auto& [node, credentials] = value;
    auto& [password, passphrase, trustedFingerprint] = credentials;
    return std::tie(node, password, passphrase, trustedFingerprint);
}

template <Like<NotesRequest> T>
auto membersOf(T& value) {
    auto& [run, notes] = value;
    return std::tie(run, notes);
}

template <Like<TagsRequest> T>
auto membersOf(T& value) {
    auto& [run, tags] = value;
    return std::tie(run, tags);
}

template <Like<DeletedRequest> T>
auto membersOf(T& value) {
    auto& [run, deleted] = value;
    return std::tie(run, deleted);
}

template <Like<WindowRequest> T>
auto membersOf(T& value) {
    auto& [activationToken] = value;
    return std::tie(activationToken);
}

template <Like<RemoveCheckpointRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint, by] = value;
    return std::tie(run, checkpoint, by);
}

template <Like<NamedFolder> T>
auto membersOf(T& value) {
    auto& [path, bytes, checkpoints, staysAs] = value;
    return std::tie(path, bytes, checkpoints, staysAs);
}

template <Like<RunFolder> T>
auto membersOf(T& value) {
    auto& [node, path, bytes, checkpoints, problem, stateId, sameAs, named] = value;
    return std::tie(node, path, bytes, checkpoints, problem, stateId, sameAs, named);
}

template <Like<RenameRequest> T>
auto membersOf(T& value) {
    auto& [run, name] = value;
    return std::tie(run, name);
}

template <Like<EmptyTrashRequest> T>
auto membersOf(T& value) {
    auto& [deletedBeforeNs] = value;
    return std::tie(deletedBeforeNs);
}

template <Like<VerifyCheckpointRequest> T>
auto membersOf(T& value) {
    auto& [run, checkpoint] = value;
    return std::tie(run, checkpoint);
}

template <Like<OnNodesRequest> T>
auto membersOf(T& value) {
    auto& [run] = value;
    return std::tie(run);
}

template <Like<RemoveFromNodesRequest> T>
auto membersOf(T& value) {
    auto& [run, by] = value;
    return std::tie(run, by);
}

template <Like<NodeCleaning> T>
auto membersOf(T& value) {
    auto& [isPreview, withRecent, isUninstall, withRuns, agents] = value;
    return std::tie(isPreview, withRecent, isUninstall, withRuns, agents);
}

constexpr bool isKnown(OtherRuns what) {
    switch (what) {
    case OtherRuns::kRefuse:
    case OtherRuns::kEnd:
        return true;
    }
    return false;
}

template <Like<EndLeftoversRequest> T>
auto membersOf(T& value) {
    auto& [node, runs, others] = value;
    return std::tie(node, runs, others);
}

template <Like<CheckLaunchRequest> T>
auto membersOf(T& value) {
    auto& [spec, nodes] = value;
    return std::tie(spec, nodes);
}

template <Like<BatchScriptRequest> T>
auto membersOf(T& value) {
    auto& [spec, nodes] = value;
    return std::tie(spec, nodes);
}

template <Like<CleanNodeRequest> T>
auto membersOf(T& value) {
    auto& [node, cleaning] = value;
    return std::tie(node, cleaning);
}

template <Like<DeployedItem> T>
auto membersOf(T& value) {
    auto& [kind, name, bytes, usedNs, keptFor, label, path, startedBy] = value;
    return std::tie(kind, name, bytes, usedNs, keptFor, label, path, startedBy);
}

template <Like<DeployedReport> T>
auto membersOf(T& value) {
    auto& [home, items, inTheWay, homeId, stateId, stateDir, failure] = value;
    return std::tie(home, items, inTheWay, homeId, stateId, stateDir, failure);
}

template <Like<MeasureNetworkRequest> T>
auto membersOf(T& value) {
    auto& [nodes] = value;
    return std::tie(nodes);
}

template <Like<StopNetworkRequest> T>
auto membersOf(T&) {
    return std::tuple<>();
}

constexpr bool isKnown(TrialKind kind) {
    switch (kind) {
    case TrialKind::kSelfTest:
    case TrialKind::kAllReduce:
    case TrialKind::kStepProfile:
        return true;
    }
    return false;
}

template <Like<NodeTrial> T>
auto membersOf(T& value) {
    auto& [kind, nodes, spec] = value;
    return std::tie(kind, nodes, spec);
}

template <Like<TrialRequest> T>
auto membersOf(T& value) {
    auto& [trial] = value;
    return std::tie(trial);
}

template <Like<StopTrialRequest> T>
auto membersOf(T& value) {
    auto& [trial] = value;
    return std::tie(trial);
}

template <Like<OutlookRequest> T>
auto membersOf(T& value) {
    auto& [spec, node] = value;
    return std::tie(spec, node);
}

namespace face {

constexpr bool isKnown(Kind kind) {
    switch (kind) {
    case Kind::kTerminal:
    case Kind::kWindow:
        return true;
    }
    return false;
}

template <Like<Hello> T>
auto membersOf(T& value) {
    auto& [magic, release, pid, kind] = value;
    return std::tie(magic, release, pid, kind);
}

template <Like<Ask> T>
auto membersOf(T& value) {
    auto& [number, request] = value;
    return std::tie(number, request);
}

template <Like<Follow> T>
auto membersOf(T& value) {
    auto& [run] = value;
    return std::tie(run);
}

template <Like<Accepted> T>
auto membersOf(T& value) {
    auto& [number] = value;
    return std::tie(number);
}

template <Like<Answer> T>
auto membersOf(T& value) {
    auto& [number, reply] = value;
    return std::tie(number, reply);
}

template <class T>
concept Empty = Like<T, RunsChanged> || Like<T, NodesChanged>;

template <Empty T>
auto membersOf(T&) {
    return std::tuple<>();
}

template <Like<SamplesAppended> T>
auto membersOf(T& value) {
    auto& [run] = value;
    return std::tie(run);
}

template <Like<Live> T>
auto membersOf(T& value) {
    auto& [run, state] = value;
    return std::tie(run, state);
}

template <Like<Progressed> T>
auto membersOf(T& value) {
    auto& [run, progress] = value;
    return std::tie(run, progress);
}

template <Like<AttemptEnded> T>
auto membersOf(T& value) {
    auto& [run] = value;
    return std::tie(run);
}

template <Like<TooLarge> T>
auto membersOf(T& value) {
    auto& [run, why] = value;
    return std::tie(run, why);
}

template <Like<LoginRefused> T>
auto membersOf(T& value) {
    auto& [node] = value;
    return std::tie(node);
}

template <Like<Failed> T>
auto membersOf(T& value) {
    auto& [run, message] = value;
    return std::tie(run, message);
}

template <Like<ShowWindow> T>
auto membersOf(T& value) {
    auto& [activationToken] = value;
    return std::tie(activationToken);
}

} // namespace face

QByteArray encodeFaceMessage(const face::Message& message) {
    return codec::pack(message).toCbor();
}

Result<face::Message> decodeFaceMessage(std::span<const std::byte> payload) {
    const auto bytes = QByteArray::fromRawData(reinterpret_cast<const char*>(payload.data()),
                                               static_cast<qsizetype>(payload.size()));
    QCborParserError problem;
    const QCborValue value = QCborValue::fromCbor(bytes, &problem);
    face::Message message;
    if (problem.error != QCborError::NoError)
        return fail(ErrorCode::kCorrupt,
                    "read a message of another Ringmaster: " + problem.errorString().toStdString());
    if (problem.offset != bytes.size() || !codec::unpack(value, message))
        return fail(ErrorCode::kCorrupt,
                    "read a message of another Ringmaster: its form is unknown");
    return message;
}

} // namespace rm
