// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/run/engine.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rm {

// What a process may ask of the holder of the database: the calls of Engine that have an answer,
// the check of a node, and showing the window. They are plain values, so that they can be sent,
// kept, and performed by the next holder.

struct LaunchRequest {
    std::string spec; ///< TOML
    std::vector<Placement> nodes;
    QString run; ///< the id that it shall have
    IfTooLarge ifTooLarge = IfTooLarge::kRefuse;
    bool operator==(const LaunchRequest&) const = default;
};

struct ResumeRequest {
    QString run;
    QString checkpoint;           ///< a step or a name; empty: the newest
    std::vector<Placement> nodes; ///< empty: those of the last attempt
    Asker by = {};
    bool operator==(const ResumeRequest&) const = default;
};

struct DeclareLostRequest {
    QString run;
    QString node;
    Asker by = {};
    bool operator==(const DeclareLostRequest&) const = default;
};

struct BranchRequest {
    QString parent;
    QString checkpoint;              ///< a step or a name
    std::optional<std::string> spec; ///< TOML; nullopt: see specOfBranch()
    QString run;                     ///< the id that it shall have
    IfTooLarge ifTooLarge = IfTooLarge::kRefuse;
    std::vector<Placement> nodes; ///< empty: those of the parent's last attempt
    bool operator==(const BranchRequest&) const = default;
};

struct CommandRequest {
    QString run;
    CommandKind kind = CommandKind::kHold;
    std::vector<std::pair<std::string, std::string>> args;
    std::string id; ///< of the command: performed again, it takes effect once
    Asker by = {};
    bool operator==(const CommandRequest&) const = default;
};

struct WithdrawRequest {
    QString run;
    std::string command; ///< its id
    bool operator==(const WithdrawRequest&) const = default;
};

struct CheckRequest {
    QString node;
    Credentials credentials;
    bool operator==(const CheckRequest&) const = default;
};

struct NotesRequest {
    QString run;
    QString notes;
    bool operator==(const NotesRequest&) const = default;
};

struct TagsRequest {
    QString run;
    QStringList tags;
    bool operator==(const TagsRequest&) const = default;
};

struct DeletedRequest {
    QString run;
    bool deleted = false;
    bool operator==(const DeletedRequest&) const = default;
};

struct RemoveCheckpointRequest {
    QString run;
    QString checkpoint; ///< a step or a name
    Asker by = {};
    bool operator==(const RemoveCheckpointRequest&) const = default;
};

struct RenameRequest {
    QString run;
    QString name;
    bool operator==(const RenameRequest&) const = default;
};

struct EmptyTrashRequest {
    int64_t deletedBeforeNs = 0;
    bool operator==(const EmptyTrashRequest&) const = default;
};

struct VerifyCheckpointRequest {
    QString run;
    QString checkpoint; ///< a step or a name
    bool operator==(const VerifyCheckpointRequest&) const = default;
};

struct OnNodesRequest {
    QString run;
    bool operator==(const OnNodesRequest&) const = default;
};

struct RemoveFromNodesRequest {
    QString run;
    Asker by = {};
    bool operator==(const RemoveFromNodesRequest&) const = default;
};

struct CleanNodeRequest {
    QString node;
    NodeCleaning cleaning;
    bool operator==(const CleanNodeRequest&) const = default;
};

struct MeasureNetworkRequest {
    QStringList nodes; ///< none: all
    bool operator==(const MeasureNetworkRequest&) const = default;
};

struct StopNetworkRequest {
    bool operator==(const StopNetworkRequest&) const = default;
};

struct TrialRequest {
    NodeTrial trial;
    bool operator==(const TrialRequest&) const = default;
};

struct StopTrialRequest {
    NodeTrial trial;
    bool operator==(const StopTrialRequest&) const = default;
};

struct OutlookRequest {
    std::string spec; ///< TOML, perhaps out of bounds
    QString node;
    bool operator==(const OutlookRequest&) const = default;
};

struct ResumeOutlookRequest {
    QString run;
    QString checkpoint;           ///< as ResumeRequest's
    std::vector<Placement> nodes; ///< likewise
    bool operator==(const ResumeOutlookRequest&) const = default;
};

struct CopyCheckpointRequest {
    QString run;
    QString checkpoint; ///< a step or a name; empty: the newest
    CopyOrder order;
    bool operator==(const CopyCheckpointRequest&) const = default;
};

struct PinCheckpointRequest {
    QString run;
    QString checkpoint; ///< a step or a name
    bool pinned = true;
    bool operator==(const PinCheckpointRequest&) const = default;
};

struct BringBackCheckpointRequest {
    QString run;
    QString checkpoint; ///< a step or a name
    Asker by = {};
    bool operator==(const BringBackCheckpointRequest&) const = default;
};

struct CompareCheckpointsRequest {
    QString run;
    QString a, b; ///< steps or names
    bool operator==(const CompareCheckpointsRequest&) const = default;
};

struct EndLeftoversRequest {
    QString node;
    QStringList runs;
    OtherRuns others = OtherRuns::kRefuse;
    bool operator==(const EndLeftoversRequest&) const = default;
};

struct CheckLaunchRequest {
    std::string spec; ///< TOML, perhaps out of bounds
    std::vector<Placement> nodes;
    bool operator==(const CheckLaunchRequest&) const = default;
};

struct BatchScriptRequest {
    std::string spec; ///< TOML
    std::vector<Placement> nodes;
    bool operator==(const BatchScriptRequest&) const = default;
};

/// Bring the window to the front.
struct WindowRequest {
    QByteArray activationToken; ///< of the desktop ($XDG_ACTIVATION_TOKEN), may be empty
    bool operator==(const WindowRequest&) const = default;
};

/// Never stored; a request's position is its number on the wire.
using EngineRequest =
    std::variant<LaunchRequest, ResumeRequest, BranchRequest, CommandRequest, CheckRequest,
                 NotesRequest, TagsRequest, DeletedRequest, WindowRequest, RemoveCheckpointRequest,
                 OutlookRequest, RenameRequest, EmptyTrashRequest, VerifyCheckpointRequest,
                 OnNodesRequest, RemoveFromNodesRequest, DeclareLostRequest, CleanNodeRequest,
                 ResumeOutlookRequest, CopyCheckpointRequest, WithdrawRequest, PinCheckpointRequest,
                 BringBackCheckpointRequest, CompareCheckpointsRequest, MeasureNetworkRequest,
                 StopNetworkRequest, EndLeftoversRequest, CheckLaunchRequest, TrialRequest,
                 BatchScriptRequest, StopTrialRequest>;

/// Of a launch, resume or branch: the run's id. Of a copy: its folder. Of a trial: its JSON. Of a
/// batch script: it. Of a withdrawal: what is left to know. Of a command: its state. Of a check:
/// it. Of notes and tags: that they are queued. Of other edits, of a lost node and of what is to be
/// removed, ended, verified or measured: that it is so. Of a window: whether there is one. Of
/// outlooks, of a comparison, of the check of a launch, and of what is on nodes: it.
using EngineReply =
    std::variant<Result<QString>, Result<CommandState>, NodeCheck, Result<void>, bool,
                 Result<NodeOutlook>, Result<std::vector<RunFolder>>, Result<DeployedReport>,
                 Result<ResumeOutlook>, Result<TensorComparison>, Result<std::vector<CheckRow>>>;

/// The run whose ranks `request` starts; nullopt: it starts none.
std::optional<QString> runStartedBy(const EngineRequest& request);

/// "launch gpt-tiny-7f3a": for messages.
std::string attemptOf(const EngineRequest& request);

/// The reply that `request` gets when it fails with `error`.
EngineReply failureOf(const EngineRequest& request, const Error& error);

/// Performs the request with `engine` and `fleet`. `done` is called once in their thread, possibly
/// before this returns, and never after `context` is gone. `request` is no WindowRequest.
void perform(const EngineRequest& request, Engine& engine, Fleet& fleet, QObject* context,
             std::function<void(const EngineReply&)> done);

} // namespace rm
