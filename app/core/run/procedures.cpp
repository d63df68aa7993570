// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/procedures.h"

#include <algorithm>

namespace rm {

namespace {

std::vector<Launcher::Party> partiesOf(HostPool& hosts, const std::vector<PlacedParty>& nodes) {
    std::vector<Launcher::Party> parties;
    for (const PlacedParty& placed : nodes)
        parties.push_back({hosts.worker(placed.node), placed.ranks});
    return parties;
}

std::vector<RunNode> runNodesOf(const std::vector<PlacedParty>& nodes,
                                const std::vector<int>& ranks) {
    std::vector<RunNode> out;
    int firstRank = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
        out.push_back({static_cast<int>(i), nodes[i].node.name, ranks[i], firstRank});
        firstRank += ranks[i];
    }
    return out;
}

Launcher makeLauncher(const ProcedureContext& context, const QString& run, RunSpec spec,
                      const std::vector<PlacedParty>& nodes, int64_t attempt,
                      const std::string& startFrom) {
    PlanRequest request{run.toStdString(), spec.name, attempt, startFrom};
    return Launcher(
        std::move(spec), partiesOf(*context.hosts, nodes), std::move(request),
        [progress = context.progress, run](const Progress& p) { progress(run, p); },
        context.permit->stop());
}

Result<void> setState(const ProcedureContext& context, const QString& run, RunStateKind state,
                      const QString& message) {
    auto done = context.writer->call(
        [&](StoreWriter& writer) { return writer.setState(run, state, message); });
    context.changed(run);
    return done;
}

/// An attempt as the database is told of it.
struct NewAttempt {
    int attempt = 1;
    int64_t startStep = 0;
    std::string startFrom;
    std::vector<RunNode> nodes;
};

/// The attempt is written down before any of its ranks starts: a node may have seen its number even
/// if the start then fails elsewhere, and must never see it again.
Result<void> deployAndStart(const ProcedureContext& context, const QString& run, Launcher& launcher,
                            const NewAttempt& begun) {
    const auto record = [&] {
        return context.writer->call([&](StoreWriter& writer) {
            return writer.beginAttempt(run, begun.attempt, begun.startStep, begun.startFrom,
                                       begun.nodes);
        });
    };
    const auto started =
        launcher.deploy().and_then(record).and_then([&] { return launcher.start(); });
    if (!started || context.permit->begin())
        return started;
    launcher.abandon();
    return fail(ErrorCode::kUnavailable, "launch " + run.toStdString() + ": cancelled");
}

/// A failure to send what estimates is left to the launch itself, which meets and reports it.
Result<void> refuseTooLarge(const ProcedureContext& context, const QString& run,
                            Launcher& launcher) {
    if (!launcher.mayBeTooLarge() || !launcher.deploy())
        return {};
    const std::string why = launcher.whatIsTooLarge();
    if (why.empty() || context.permit->isCancelled())
        return {};
    context.tooLarge(run, QString::fromStdString(why));
    return fail(ErrorCode::kExhausted, why);
}

std::string stepsThereAre(const std::vector<StoredCheckpoint>& checkpoints) {
    std::string steps;
    for (const StoredCheckpoint& checkpoint : checkpoints)
        if (!checkpoint.removed)
            steps += (steps.empty() ? "" : ", ") + std::to_string(checkpoint.saved.step);
    return steps.empty() ? "it has no checkpoint" : "its checkpoints are at steps " + steps;
}

} // namespace

Result<StoredCheckpoint> findCheckpoint(StoreReader& reader, const QString& run,
                                        std::optional<int64_t> step) {
    const auto checkpoints = reader.checkpoints(run); // newest first
    const auto found =
        std::find_if(checkpoints.begin(), checkpoints.end(), [&](const StoredCheckpoint& c) {
            return !c.removed && (!step || c.saved.step == *step);
        });
    if (found != checkpoints.end())
        return *found;
    const std::string what =
        step ? "the checkpoint of step " + std::to_string(*step) : std::string("a checkpoint");
    return fail(ErrorCode::kNotFound,
                "find " + what + " of " + run.toStdString() + ": " + stepsThereAre(checkpoints));
}

Result<QString> launchRun(const ProcedureContext& context, const QString& id,
                          const CheckedSpec& spec, const std::vector<PlacedParty>& nodes,
                          const Origin& origin, IfTooLarge ifTooLarge) {
    Launcher launcher = makeLauncher(context, id, *spec, nodes, 1, origin.checkpoint);
    if (const auto checked = launcher.check(); !checked)
        return tl::unexpected<Error>(checked.error());
    if (ifTooLarge == IfTooLarge::kRefuse)
        if (const auto fits = refuseTooLarge(context, id, launcher); !fits)
            return tl::unexpected<Error>(fits.error());
    const auto runNodes = runNodesOf(nodes, launcher.ranks());
    const auto created = context.writer->call([&](StoreWriter& writer) {
        return writer.createRun({id, QString::fromStdString(spec->name), toToml(*spec), runNodes,
                                 origin.parentRun, origin.parentStep});
    });
    if (!created)
        return tl::unexpected<Error>(created.error());
    context.changed(id);
    const auto started =
        deployAndStart(context, id, launcher, {1, origin.parentStep, origin.checkpoint, runNodes});
    if (!started) {
        if (context.permit->isCancelled())
            (void)setState(context, id, RunStateKind::kStopped, "its launch was cancelled");
        else
            (void)setState(context, id, RunStateKind::kFailed,
                           QString::fromStdString(started.error().message));
        return tl::unexpected<Error>(started.error());
    }
    context.changed(id);
    return id;
}

Result<QString> resumeRun(const ProcedureContext& context, const RunSummary& run,
                          const std::vector<PlacedParty>& nodes, std::optional<int64_t> step) {
    const auto reader = StoreReader::open(context.database);
    if (!reader)
        return tl::unexpected<Error>(reader.error());
    const auto checkpoint = findCheckpoint(**reader, run.id, step);
    if (!checkpoint)
        return tl::unexpected<Error>(checkpoint.error());
    auto spec = parseRunSpec((*reader)->specToml(run.id), run.id.toStdString());
    if (!spec)
        return tl::unexpected<Error>(spec.error());
    const int attempt = run.attempt + 1;
    const std::string& from = checkpoint->saved.path;
    Launcher launcher = makeLauncher(context, run.id, std::move(*spec), nodes, attempt, from);
    auto started = launcher.check();
    if (started)
        started = setState(context, run.id, RunStateKind::kPreparing, {});
    if (started)
        started = deployAndStart(
            context, run.id, launcher,
            {attempt, checkpoint->saved.step, from, runNodesOf(nodes, launcher.ranks())});
    if (!started) {
        (void)setState(context, run.id, run.state, run.message);
        return failAs("resume " + run.id.toStdString(), started.error());
    }
    context.changed(run.id);
    return run.id;
}

} // namespace rm
