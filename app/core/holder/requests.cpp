// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/holder/requests.h"

#include "app/core/answer.h"
#include "app/core/fleet/check_rows.h"

namespace rm {

namespace {

using Done = std::function<void(const EngineReply&)>;

Result<CheckedSpec> specOf(const std::string& toml, const QString& run) {
    return parseRunSpec(toml, run.toStdString()).and_then([](RunSpec spec) {
        return check(std::move(spec));
    });
}

/// A future that ends without an answer belongs to an engine that was closed.
template <class T>
void answer(const QFuture<T>& future, QObject* context, const EngineRequest& request, Done done) {
    whenFinished(future, context, [request, done = std::move(done)](const QFuture<T>& finished) {
        if (finished.resultCount() > 0)
            done(EngineReply(finished.result()));
        else
            done(failureOf(request, {ErrorCode::kUnavailable,
                                     attemptOf(request) + ": this Ringmaster was closed"}));
    });
}

/// Does each kind of request.
struct Performer {
    const EngineRequest& request;
    Engine& engine;
    Fleet& fleet;
    QObject* context;
    Done done;

    void operator()(const LaunchRequest& r) {
        const auto spec = specOf(r.spec, r.run);
        if (!spec)
            return done(Result<QString>(tl::unexpected(spec.error())));
        answer(engine.launch(*spec, r.nodes, r.run, r.ifTooLarge), context, request, done);
    }
    void operator()(const ResumeRequest& r) {
        answer(engine.resume(r.run, r.checkpoint, r.nodes, r.by), context, request, done);
    }
    void operator()(const DeclareLostRequest& r) {
        answer(engine.declareLost(r.run, r.node, r.by), context, request, done);
    }
    void operator()(const BranchRequest& r) {
        std::optional<CheckedSpec> spec;
        if (r.spec) {
            const auto checked = specOf(*r.spec, r.run);
            if (!checked)
                return done(Result<QString>(tl::unexpected(checked.error())));
            spec = *checked;
        }
        answer(engine.branch(r.parent, r.checkpoint, std::move(spec), r.run, r.ifTooLarge, r.nodes),
               context, request, done);
    }
    void operator()(const CommandRequest& r) {
        answer(engine.command(r.run, r.kind, r.args, r.id, r.by), context, request, done);
    }
    void operator()(const WithdrawRequest& r) {
        answer(engine.withdraw(r.run, r.command), context, request, done);
    }
    void operator()(const CheckRequest& r) {
        answer(fleet.check(r.node, r.credentials), context, request, done);
    }
    void operator()(const NotesRequest& r) { done(engine.setNotes(r.run, r.notes)); }
    void operator()(const TagsRequest& r) { done(engine.setTags(r.run, r.tags)); }
    void operator()(const DeletedRequest& r) {
        answer(engine.setDeleted(r.run, r.deleted), context, request, done);
    }
    void operator()(const RenameRequest& r) {
        answer(engine.rename(r.run, r.name), context, request, done);
    }
    void operator()(const EmptyTrashRequest& r) {
        answer(engine.emptyTrash(r.deletedBeforeNs), context, request, done);
    }
    void operator()(const VerifyCheckpointRequest& r) {
        answer(engine.verifyCheckpoint(r.run, r.checkpoint), context, request, done);
    }
    void operator()(const OnNodesRequest& r) {
        answer(engine.onNodes(r.run), context, request, done);
    }
    void operator()(const RemoveFromNodesRequest& r) {
        answer(engine.removeFromNodes(r.run, r.by), context, request, done);
    }
    void operator()(const CleanNodeRequest& r) {
        answer(engine.cleanNode(r.node, r.cleaning), context, request, done);
    }
    void operator()(const MeasureNetworkRequest& r) {
        answer(engine.measureNetwork(r.nodes), context, request, done);
    }
    void operator()(const StopNetworkRequest&) {
        answer(engine.stopNetwork(), context, request, done);
    }
    void operator()(const EndLeftoversRequest& r) {
        answer(engine.endLeftovers(r.node, r.runs, r.others), context, request, done);
    }
    void operator()(const CheckLaunchRequest& r) {
        const auto spec = parseRunSpec(r.spec, "the spec");
        if (!spec)
            return done(Result<std::vector<CheckRow>>(tl::unexpected(spec.error())));
        answer(engine.checkLaunch(*spec, r.nodes), context, request, done);
    }
    void operator()(const BatchScriptRequest& r) {
        const auto spec = specOf(r.spec, "the spec");
        if (!spec)
            return done(Result<QString>(tl::unexpected(spec.error())));
        answer(engine.batchScript(*spec, r.nodes), context, request, done);
    }
    void operator()(const TrialRequest& r) {
        answer(engine.tryOut(r.trial), context, request, done);
    }
    void operator()(const StopTrialRequest& r) {
        answer(engine.stopTrial(r.trial), context, request, done);
    }
    void operator()(const PinCheckpointRequest& r) {
        answer(engine.setPinned(r.run, r.checkpoint, r.pinned), context, request, done);
    }
    void operator()(const BringBackCheckpointRequest& r) {
        answer(engine.bringBackCheckpoint(r.run, r.checkpoint, r.by), context, request, done);
    }
    void operator()(const CompareCheckpointsRequest& r) {
        answer(engine.compareCheckpoints(r.run, r.a, r.b), context, request, done);
    }
    void operator()(const ResumeOutlookRequest& r) {
        answer(engine.resumeOutlook(r.run, r.checkpoint, r.nodes), context, request, done);
    }
    void operator()(const CopyCheckpointRequest& r) {
        answer(engine.copyCheckpoint(r.run, r.checkpoint, r.order), context, request, done);
    }
    void operator()(const WindowRequest&) { done(false); }
    void operator()(const RemoveCheckpointRequest& r) {
        answer(engine.removeCheckpoint(r.run, r.checkpoint, r.by), context, request, done);
    }
    void operator()(const OutlookRequest& r) {
        const auto spec = parseRunSpec(r.spec, "the spec");
        if (!spec)
            return done(Result<NodeOutlook>(tl::unexpected(spec.error())));
        answer(engine.outlook(*spec, r.node), context, request, done);
    }
};

/// Describes each kind of request for messages.
struct Attempt {
    std::string operator()(const LaunchRequest& r) { return "launch " + r.run.toStdString(); }
    std::string operator()(const ResumeRequest& r) { return "resume " + r.run.toStdString(); }
    std::string operator()(const DeclareLostRequest& r) {
        return "declare " + r.node.toStdString() + " of " + r.run.toStdString() + " lost";
    }
    std::string operator()(const BranchRequest& r) { return "branch " + r.parent.toStdString(); }
    std::string operator()(const CommandRequest& r) {
        return std::string(commandKindName(r.kind)) + " " + r.run.toStdString();
    }
    std::string operator()(const WithdrawRequest& r) {
        return "withdraw command " + r.command + " of " + r.run.toStdString();
    }
    std::string operator()(const CheckRequest& r) { return "check node " + r.node.toStdString(); }
    std::string operator()(const NotesRequest& r) { return "note on " + r.run.toStdString(); }
    std::string operator()(const TagsRequest& r) { return "tag " + r.run.toStdString(); }
    std::string operator()(const DeletedRequest& r) {
        return (r.deleted ? "delete " : "bring back ") + r.run.toStdString();
    }
    std::string operator()(const RenameRequest& r) { return "rename " + r.run.toStdString(); }
    std::string operator()(const EmptyTrashRequest&) { return "empty the trash"; }
    std::string operator()(const VerifyCheckpointRequest& r) {
        return "verify checkpoint " + r.checkpoint.toStdString() + " of " + r.run.toStdString();
    }
    std::string operator()(const OnNodesRequest& r) {
        return "look for " + r.run.toStdString() + " on its nodes";
    }
    std::string operator()(const RemoveFromNodesRequest& r) {
        return "clean " + r.run.toStdString();
    }
    std::string operator()(const CleanNodeRequest& r) { return "clean " + r.node.toStdString(); }
    std::string operator()(const MeasureNetworkRequest&) { return "measure the network"; }
    std::string operator()(const StopNetworkRequest&) { return "stop measuring the network"; }
    std::string operator()(const EndLeftoversRequest& r) {
        return "end leftovers on " + r.node.toStdString();
    }
    std::string operator()(const CheckLaunchRequest&) { return "check the launch"; }
    std::string operator()(const BatchScriptRequest&) { return "show the script of the job"; }
    std::string operator()(const TrialRequest& r) { return trialName(r.trial.kind); }
    std::string operator()(const StopTrialRequest& r) {
        return std::string("stop the ") + trialName(r.trial.kind);
    }
    std::string operator()(const PinCheckpointRequest& r) {
        return (r.pinned ? "pin checkpoint " : "unpin checkpoint ") + r.checkpoint.toStdString() +
               " of " + r.run.toStdString();
    }
    std::string operator()(const BringBackCheckpointRequest& r) {
        return "bring back checkpoint " + r.checkpoint.toStdString() + " of " + r.run.toStdString();
    }
    std::string operator()(const CompareCheckpointsRequest& r) {
        return "compare checkpoints of " + r.run.toStdString();
    }
    std::string operator()(const ResumeOutlookRequest& r) {
        return "look at resuming " + r.run.toStdString();
    }
    std::string operator()(const CopyCheckpointRequest& r) {
        return "copy a checkpoint of " + r.run.toStdString();
    }
    std::string operator()(const WindowRequest&) { return "show the window"; }
    std::string operator()(const RemoveCheckpointRequest& r) {
        return "remove checkpoint " + r.checkpoint.toStdString() + " of " + r.run.toStdString();
    }
    std::string operator()(const OutlookRequest& r) { return "ask node " + r.node.toStdString(); }
};

struct Failure {
    const Error& error;

    EngineReply operator()(const LaunchRequest&) { return startFailed(); }
    EngineReply operator()(const ResumeRequest&) { return startFailed(); }
    EngineReply operator()(const BranchRequest&) { return startFailed(); }
    EngineReply operator()(const WithdrawRequest&) { return startFailed(); }
    EngineReply operator()(const CommandRequest&) {
        return Result<CommandState>(tl::unexpected(error));
    }
    EngineReply operator()(const CheckRequest& r) {
        return unansweredCheck(r.node.toStdString(), {error, ConnectFailure::Need::kNothing, {}});
    }
    EngineReply operator()(const DeclareLostRequest&) { return editFailed(); }
    EngineReply operator()(const NotesRequest&) { return editFailed(); }
    EngineReply operator()(const TagsRequest&) { return editFailed(); }
    EngineReply operator()(const DeletedRequest&) { return editFailed(); }
    EngineReply operator()(const RenameRequest&) { return editFailed(); }
    EngineReply operator()(const EmptyTrashRequest&) { return editFailed(); }
    EngineReply operator()(const VerifyCheckpointRequest&) { return editFailed(); }
    EngineReply operator()(const OnNodesRequest&) {
        return Result<std::vector<RunFolder>>(tl::unexpected(error));
    }
    EngineReply operator()(const RemoveFromNodesRequest&) { return editFailed(); }
    EngineReply operator()(const CleanNodeRequest&) {
        return Result<DeployedReport>(tl::unexpected(error));
    }
    EngineReply operator()(const MeasureNetworkRequest&) { return editFailed(); }
    EngineReply operator()(const StopNetworkRequest&) { return editFailed(); }
    EngineReply operator()(const EndLeftoversRequest&) { return editFailed(); }
    EngineReply operator()(const CheckLaunchRequest&) {
        return Result<std::vector<CheckRow>>(tl::unexpected(error));
    }
    EngineReply operator()(const BatchScriptRequest&) { return startFailed(); }
    EngineReply operator()(const TrialRequest&) { return startFailed(); }
    EngineReply operator()(const StopTrialRequest&) { return editFailed(); }
    EngineReply operator()(const PinCheckpointRequest&) { return editFailed(); }
    EngineReply operator()(const BringBackCheckpointRequest&) { return editFailed(); }
    EngineReply operator()(const CompareCheckpointsRequest&) {
        return Result<TensorComparison>(tl::unexpected(error));
    }
    EngineReply operator()(const ResumeOutlookRequest&) {
        return Result<ResumeOutlook>(tl::unexpected(error));
    }
    EngineReply operator()(const CopyCheckpointRequest&) { return startFailed(); }
    EngineReply operator()(const WindowRequest&) { return false; }
    EngineReply operator()(const RemoveCheckpointRequest&) { return editFailed(); }
    EngineReply operator()(const OutlookRequest&) {
        return Result<NodeOutlook>(tl::unexpected(error));
    }

    EngineReply startFailed() const { return Result<QString>(tl::unexpected(error)); }
    EngineReply editFailed() const { return Result<void>(tl::unexpected(error)); }
};

} // namespace

std::optional<QString> runStartedBy(const EngineRequest& request) {
    if (const auto* launch = std::get_if<LaunchRequest>(&request))
        return launch->run;
    if (const auto* resume = std::get_if<ResumeRequest>(&request))
        return resume->run;
    if (const auto* branch = std::get_if<BranchRequest>(&request))
        return branch->run;
    return std::nullopt;
}

std::string attemptOf(const EngineRequest& request) {
    return std::visit(Attempt{}, request);
}

EngineReply failureOf(const EngineRequest& request, const Error& error) {
    return std::visit(Failure{error}, request);
}

void perform(const EngineRequest& request, Engine& engine, Fleet& fleet, QObject* context,
             Done done) {
    std::visit(Performer{request, engine, fleet, context, std::move(done)}, request);
}

} // namespace rm
