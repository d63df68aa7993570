// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/procedures.h"

#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_moves.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/checkpoints/verify_checkpoint.h"
#include "app/core/findings/text.h"
#include "app/core/follow/read_rest.h"
#include "app/core/network/network_file.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/steps_left.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/checkpoint/manifest.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <functional>
#include <future>

namespace rm {

namespace {

constexpr const char* kCheckpointGoneEvent = "checkpoint-gone";

std::vector<RunNode> runNodesOf(const std::vector<Placement>& parts) {
    std::vector<RunNode> out;
    int firstRank = 0;
    for (const auto& [node, ranks] : parts) {
        out.push_back({static_cast<int>(out.size()), node.toStdString(), ranks, firstRank});
        firstRank += ranks;
    }
    return out;
}

std::unique_ptr<Launcher> launcherOf(const ProcedureContext& context, RunSpec spec,
                                     const std::vector<PlacedParty>& nodes, PlanRequest attempt,
                                     bool wantsWarnings = true) {
    const auto run = QString::fromStdString(attempt.runId);
    Launcher::Request request{std::move(spec), nodes, std::move(attempt)};
    request.wantsWarnings = wantsWarnings;
    request.lastNetwork = lastNetwork(context.stateFolder);
    return makeLauncher(
        std::move(request), *context.hosts,
        [progress = context.progress, run](const Progress& p) { progress(run, p); },
        context.token->stop());
}

Result<void> setState(const ProcedureContext& context, const QString& run, RunStateKind state,
                      const QString& message, bool isPresumed = false) {
    auto done = context.writer->call(
        [&](StoreWriter& writer) { return writer.setState(run, state, message, isPresumed); });
    context.changed(run);
    return done;
}

/// Whether the run is found by who looks for it, or, before it is stored, would be: a damaged
/// database may take what it does not give back.
Result<void> checkFound(const ProcedureContext& context, const QString& run, bool isStored) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const bool isThere = reader->run(run).has_value();
    static_cast<void>(reader->cursors(run, 0)); // without which nobody follows it
    if (const auto failure = reader->failure())
        return failAs(say("engine.store-the-run"), *failure);
    if (isStored && !isThere)
        return fail(ErrorCode::kCorrupt,
                    say("engine.not-found-again", {{"run", run.toStdString()}}));
    return {};
}

/// Stores events of an attempt of which no node has told yet.
void storeEvents(const ProcedureContext& context, const QString& run, int attempt,
                 std::vector<Event> events) {
    IngestBatch batch;
    batch.run = run;
    batch.records.assign(std::make_move_iterator(events.begin()),
                         std::make_move_iterator(events.end()));
    batch.attempts.assign(batch.records.size(), attempt);
    if (!batch.records.empty())
        (void)context.writer->call([&](StoreWriter& writer) { return writer.ingest(batch); });
}

Event eventOf(const CheckRow& row) {
    return {-1, -1, wallNowNs(), Severity::kWarning, row.id, sentenceOf(row)};
}

std::vector<Event> eventsOf(const std::vector<CheckRow>& rows) {
    std::vector<Event> events;
    std::ranges::transform(rows, std::back_inserter(events), &eventOf);
    return events;
}

/// Stores the attempt before any of its ranks starts. Even if the start fails on another node, some
/// node may have seen the attempt's number, which must then never be used again.
Result<void> deployAndStart(const ProcedureContext& context, const QString& run, Launcher& launcher,
                            NewAttempt begun) {
    begun.runtime = launcher.runtime();
    const auto record = [&]() -> Result<void> {
        begun.identity = launcher.identity();
        RM_RETURN_IF_ERROR(context.writer->call(
            [&](StoreWriter& writer) { return writer.beginAttempt(run, begun); }));
        storeEvents(context, run, begun.attempt, eventsOf(launcher.warnings()));
        return {};
    };
    const auto started =
        launcher.deploy().and_then(record).and_then([&] { return launcher.start(); });
    // The error says that the launch was cancelled, not which of its steps that cut off.
    const auto cancelled = failCancelled(say("launch.run", {{"run", run.toStdString()}}));
    if (!started && context.token->isCancelled() && started.error().code == ErrorCode::kUnavailable)
        return cancelled;
    if (!started || context.token->begin()) {
        if (started && !launcher.meeting().empty())
            storeEvents(context, run, begun.attempt,
                        {{-1, -1, wallNowNs(), Severity::kInfo, "network", launcher.meeting()}});
        return started;
    }
    launcher.abandon();
    return cancelled;
}

/// Whether this program ends before its nodes have said that no rank runs. The run then stays as it
/// is, and the next engine looks for its ranks.
bool isLeftToTheNext(const ProcedureContext& context, const Launcher& launcher) {
    return launcher.mayHaveLeftRanks() && context.hosts->isClosed();
}

Result<void> refuseTooLarge(const ProcedureContext& context, const QString& run,
                            Launcher& launcher) {
    const std::string why = launcher.whatIsTooLarge();
    if (why.empty() || context.token->isCancelled())
        return {};
    context.tooLarge(run, QString::fromStdString(why));
    return fail(ErrorCode::kExhausted, why);
}

/// Refuses a launch that would not have what the first attempt of `run` was begun with.
Result<void> checkSame(const ProcedureContext& context, const QString& run, Launcher& launcher) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto attempts = reader->attempts(run);
    const AttemptIdentity before = attempts.empty() ? AttemptIdentity() : attempts.front().identity;
    RM_RETURN_IF_ERROR(launcher.deploy());
    const AttemptIdentity now = launcher.identity();
    std::string differences;
    const auto compare = [&](const std::string& what, const std::string& then,
                             const std::string& here) {
        const std::string unknown = say("engine.not-known");
        if (then.empty() || here.empty() || then != here)
            append(differences, say("engine.differs", {{"what", what},
                                                       {"then", then.empty() ? unknown : then},
                                                       {"now", here.empty() ? unknown : here}}));
    };
    compare(say("run.fact-trainer"), before.trainer, now.trainer);
    compare(say("run.fact-data"), before.data, now.data);
    if (differences.empty())
        return {};
    return failAs(say("engine.reproduce", {{"run", run.toStdString()}}),
                  {ErrorCode::kInvalid, differences});
}

/// Adds to the error of a branch without checkpoints of its own how it can start from its parent.
Error withOrigin(Error error, const RunSummary& run) {
    if (error.code == ErrorCode::kNotFound && !run.parentRun.isEmpty())
        append(error.message,
               say("engine.branch-again", {{"parent", run.parentRun.toStdString()},
                                           {"step", std::to_string(run.parentStep)}}));
    return error;
}

std::string branchFrom(const QString& parent) {
    return say("engine.branch-from", {{"parent", parent.toStdString()}});
}

/// 1, or, of a run whose launch by the queue failed, a number that no node has seen.
int newAttempt(const ProcedureContext& context, const QString& run) {
    const auto reader = StoreReader::open(context.database);
    return reader && !(*reader)->attempts(run).empty() ? (*reader)->newestAttempt(run) + 1 : 1;
}

} // namespace

/// Stores the run only after the checks, so that a launch which they refuse leaves no trace. A
/// later failure becomes the run's state, unless ranks may live on: the next engine looks for them.
Result<QString> launchRun(const ProcedureContext& context, const QString& id,
                          const CheckedSpec& spec, const std::vector<PlacedParty>& nodes,
                          const Origin& origin, IfTooLarge ifTooLarge) {
    if (const auto left = stepsLeft(*spec, origin.parentStep); !left)
        return failAs(origin.parentRun.isEmpty() ? say("launch.run", {{"run", id.toStdString()}})
                                                 : branchFrom(origin.parentRun),
                      left.error());
    RM_RETURN_IF_ERROR(checkFound(context, id, false));
    const int attempt = newAttempt(context, id);
    const auto launcher = launcherOf(
        context, *spec, nodes,
        {id.toStdString(), spec->name, attempt, origin.checkpoint, origin.isExact, origin.steps});
    RM_ASSIGN_OR_RETURN(const auto parts, launcher->check());
    if (ifTooLarge == IfTooLarge::kRefuse)
        RM_RETURN_IF_ERROR(refuseTooLarge(context, id, *launcher));
    if (!origin.sameAs.isEmpty())
        RM_RETURN_IF_ERROR(checkSame(context, origin.sameAs, *launcher));
    const auto runNodes = runNodesOf(parts);
    const auto created = context.writer->call([&](StoreWriter& writer) {
        return writer.createRun({id, QString::fromStdString(spec->name), toToml(*spec), runNodes,
                                 origin.parentRun, origin.parentStep});
    });
    if (!created)
        return tl::unexpected(created.error());
    if (const auto found = checkFound(context, id, true); !found) {
        (void)setState(context, id, RunStateKind::kFailed,
                       QString::fromStdString(found.error().message));
        return tl::unexpected(found.error());
    }
    context.changed(id);
    const auto started = deployAndStart(context, id, *launcher,
                                        {attempt, origin.parentStep, origin.checkpoint, runNodes});
    if (!started) {
        if (isLeftToTheNext(context, *launcher))
            return tl::unexpected(started.error());
        if (context.token->isCancelled())
            (void)setState(context, id, RunStateKind::kStopped,
                           QString::fromStdString(say("engine.launch-was-cancelled")));
        else
            (void)setState(context, id, RunStateKind::kFailed,
                           QString::fromStdString(started.error().message));
        return tl::unexpected(started.error());
    }
    context.changed(id);
    return id;
}

namespace {

/// Verifies what was brought for the start of `started`. kCorrupt: a byte is not as it was saved.
Result<void> verifyBrought(const ProcedureContext& context, const QString& started,
                           const Node& node, const BroughtCheckpoint& checkpoint) {
    if (checkpoint.isVerified)
        return {};
    context.progress(started, {QString::fromStdString(say("engine.verify-the-checkpoint"))});
    return verifyPlace(context, node, checkpoint.folder);
}

/// verifyBrought() of a checkpoint that a person named: its error says to choose another one.
Result<void> refuseDamaged(const ProcedureContext& context, const QString& started,
                           const Node& node, const BroughtCheckpoint& checkpoint) {
    auto whole = verifyBrought(context, started, node, checkpoint);
    if (!whole && whole.error().code == ErrorCode::kCorrupt)
        whole.error().message = say("engine.choose-another", {{"why", whole.error().message}});
    return whole;
}

/// A checkpoint of `run`, whole on the first node of `started`.
struct WholeStart {
    StoredCheckpoint checkpoint;
    std::string folder;
    std::optional<StepsBefore> steps;                           ///< those that made it
    std::vector<std::pair<StoredCheckpoint, Error>> passedOver; ///< newer ones, and why
};

/// Whether the launch can go on from a checkpoint, asked before that is copied.
using MayStart = std::function<Result<void>(const StoredCheckpoint&, const CheckpointWay&)>;

Result<WholeStart> bringWhole(const ProcedureContext& context, const QString& started,
                              const QString& run, const StoredCheckpoint& checkpoint, bool isNamed,
                              const Node& first, const MayStart& mayStart) {
    context.progress(started, {QString::fromStdString(say("engine.look-for-checkpoint"))});
    RM_ASSIGN_OR_RETURN(const auto way,
                        wayTo(context, run, checkpoint, first, context.token->stop()));
    if (way.from)
        RM_RETURN_IF_ERROR(mayStart(checkpoint, way));
    RM_ASSIGN_OR_RETURN(const auto brought,
                        bringCheckpoint(context, started, run, checkpoint, way, first));
    RM_RETURN_IF_ERROR((isNamed ? refuseDamaged : verifyBrought)(context, started, first, brought));
    return WholeStart{checkpoint, brought.folder, way.steps, {}};
}

Result<WholeStart> wholeStart(const ProcedureContext& context, StoreReader& reader,
                              const QString& started, const BranchPointOf& from, const Node& first,
                              const MayStart& mayStart) {
    RM_ASSIGN_OR_RETURN(auto checkpoint, findCheckpoint(reader, from.parent, from.checkpoint));
    const bool isNamed = !from.checkpoint.empty();
    std::vector<std::pair<StoredCheckpoint, Error>> passedOver;
    bool isRefused = false;
    const MayStart noted = [&](const StoredCheckpoint& which, const CheckpointWay& way) {
        auto may = mayStart(which, way);
        isRefused = !may;
        return may;
    };
    while (true) {
        auto start = bringWhole(context, started, from.parent, checkpoint, isNamed, first, noted);
        if (isRefused)
            return start;
        if (start) {
            start->passedOver = std::move(passedOver);
            return start;
        }
        const ErrorCode why = start.error().code;
        const bool isLost = why == ErrorCode::kCorrupt || why == ErrorCode::kNotFound;
        auto older = isLost && !isNamed ? olderThan(reader, from.parent, checkpoint) : std::nullopt;
        if (!older)
            return failAs(branchFrom(from.parent), start.error());
        passedOver.emplace_back(std::move(checkpoint), start.error());
        checkpoint = std::move(*older);
    }
}

void reportPassedOver(const ProcedureContext& context, const QString& run, const QString& parent,
                      const WholeStart& start) {
    IngestBatch batch;
    batch.run = run;
    for (const auto& [checkpoint, why] : start.passedOver) {
        const bool isDamaged = why.code == ErrorCode::kCorrupt;
        batch.records.push_back(
            Event{-1, -1, wallNowNs(), Severity::kWarning,
                  isDamaged ? kCheckpointDamagedEvent : kCheckpointGoneEvent,
                  say(isDamaged ? "engine.passed-over-damaged" : "engine.passed-over-gone",
                      {{"step", std::to_string(checkpoint.saved.step)},
                       {"run", parent.toStdString()},
                       {"why", why.message},
                       {"older", std::to_string(start.checkpoint.saved.step)}})});
    }
    if (!batch.records.empty())
        (void)context.writer->call([&](StoreWriter& writer) { return writer.ingest(batch); });
}

} // namespace

Result<QString> branchRun(const ProcedureContext& context, const QString& id,
                          const BranchPointOf& from, const std::vector<PlacedParty>& nodes,
                          IfTooLarge ifTooLarge) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto specAt = [&](const StoredCheckpoint& checkpoint) {
        return from.spec ? Result<CheckedSpec>(*from.spec)
                         : specOfBranch(*reader, from.parent, checkpoint).and_then(check);
    };
    const MayStart mayStart = [&](const StoredCheckpoint& checkpoint,
                                  const CheckpointWay& way) -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto spec, specAt(checkpoint));
        if (const auto left = stepsLeft(*spec, checkpoint.saved.step); !left)
            return failAs(branchFrom(from.parent), left.error());
        const auto launcher =
            launcherOf(context, *spec, nodes,
                       {id.toStdString(), spec->name, 1, checkpoint.saved.path, true, way.steps},
                       false); // the launch itself follows
        return launcher->check().map([](const auto&) {});
    };
    RM_ASSIGN_OR_RETURN(const auto start,
                        wholeStart(context, *reader, id, from, nodes.front().node, mayStart));
    const auto checked = specAt(start.checkpoint);
    if (!checked)
        return tl::unexpected(checked.error());
    const Origin origin{from.parent, start.checkpoint.saved.step, start.folder, true, start.steps};
    auto launched = launchRun(context, id, *checked, nodes, origin, ifTooLarge);
    if (launched)
        reportPassedOver(context, id, from.parent, start);
    return launched;
}

namespace {

constexpr int kMostAhead = 10'000; ///< attempts that agents began while nobody looked
constexpr int kDeclaredLostGap = 1000;

struct AttemptNumber {
    int attempt = 1;
    int skipped = 0; ///< right before it
};

/// The number of the next attempt: none that any of the nodes has seen, as what a node did while it
/// could not be reached would be taken for it. kUnavailable: the run lives on there, and the node
/// was not declared lost.
Result<AttemptNumber> nextAttempt(const ProcedureContext& context, StoreReader& reader,
                                  const QString& run, const std::vector<PlacedParty>& nodes) {
    context.progress(run, {QString::fromStdString(say("launch.check-nodes"))});
    std::vector<std::future<Result<RunOnNode>>> pending;
    for (const PlacedParty& party : nodes)
        pending.push_back(
            context.hosts->worker(party.node)
                ->post<RunOnNode>(
                    [id = run.toStdString()](HostSession& session, const std::string& agent,
                                             std::stop_token stop) {
                        return runOnNode(session, agent, id, stop);
                    },
                    context.token->stop()));
    const auto declaredLost = reader.declaredLost(run);
    const int skipped = reader.mustSkipAttempts(run) ? kDeclaredLostGap : 0;
    const int known = reader.newestAttempt(run);
    int newest = known;
    for (size_t i = 0; i < nodes.size(); ++i) {
        const std::string& name = nodes[i].node.name;
        RM_ASSIGN_OR_RETURN(const RunOnNode there, pending[i].get());
        const Value node{"node", name}, attempt{"attempt", std::to_string(there.attempt)};
        if (there.isAlive && there.attempt > known &&
            std::ranges::find(declaredLost, DeclaredLostNode{run, name}) == declaredLost.end())
            return fail(ErrorCode::kUnavailable, say("engine.lives-unknown", {attempt, node}));
        if (there.attempt < 0 || there.attempt > known + kMostAhead)
            return fail(ErrorCode::kCorrupt, say("engine.odd-attempt", {node, attempt}));
        newest = std::max(newest, there.attempt);
    }
    // Checkpoints on a node know attempts by their numbers alone, and a node that was declared lost
    // counts on.
    return AttemptNumber{newest + 1 + skipped, skipped};
}

/// Stores events about newer checkpoints that are gone, from which the attempt would have gone on.
void reportGone(const ProcedureContext& context, const QString& run, const ResumePoint& point) {
    IngestBatch batch;
    batch.run = run;
    for (const ResumePoint::Gone& gone : point.gone)
        batch.records.push_back(Event{
            -1, gone.step, wallNowNs(), Severity::kWarning, kCheckpointGoneEvent,
            say("engine.goes-on-from-older",
                {{"why", gone.why}, {"older", std::to_string(point.checkpoint.saved.step)}})});
    if (!batch.records.empty())
        (void)context.writer->call([&](StoreWriter& writer) { return writer.ingest(batch); });
}

} // namespace

/// Refuses a run that lives on before anything is ended or moved. What lives on nodes that were
/// declared lost is ended before the checkpoint is chosen, as it could remove that. The run's state
/// changes only after check(), and goes back if the start fails.
Result<QString> resumeRun(const ProcedureContext& context, const RunSummary& run,
                          const std::vector<PlacedParty>& nodes, const std::string& which,
                          IfTooLarge ifTooLarge) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const std::string what =
        say(which.empty() ? "run.resume" : "run.restore", {{"run", run.id.toStdString()}});
    const auto wanted = findCheckpoint(*reader, run.id, which);
    if (!wanted)
        return failAs(what, withOrigin(wanted.error(), run));
    RM_ASSIGN_OR_RETURN(auto spec, parseRunSpec(reader->specToml(run.id), run.id.toStdString()));
    if (run.rung < 0)
        spec.train.pauseAt.clear(); // its sweep has ended it, and compares it no more
    if (const auto left = stepsLeft(spec, wanted->saved.step, run.totalSteps); !left)
        return failAs(what, left.error());
    const auto next = nextAttempt(context, *reader, run.id, nodes);
    if (!next)
        return failAs(what, next.error());
    const int attempt = next->attempt;
    const Node& first = nodes.front().node;
    endReachable(context, *reader, run.id);
    context.progress(run.id, {QString::fromStdString(say("engine.look-for-checkpoint"))});
    const auto point = resumePoint(context, *reader, run.id, which, first, context.token->stop());
    if (!point)
        return failAs(what, point.error());
    const StoredCheckpoint& checkpoint = point->checkpoint;
    const auto brought = bringCheckpoint(context, run.id, run.id, checkpoint, point->way, first);
    if (!brought && which.empty())
        return fail(brought.error().code, what + ": " + brought.error().message +
                                              otherPlaces(*reader, run.id, checkpoint));
    if (!brought)
        return failAs(what, brought.error());
    const std::string& from = brought->folder;
    if (!which.empty())
        if (const auto whole = refuseDamaged(context, run.id, first, *brought); !whole)
            return failAs(what, whole.error());
    PlanRequest request{run.id.toStdString(),     spec.name, attempt, from, !which.empty(),
                        stepsOfResume(point->way)};
    const auto launcher = launcherOf(context, std::move(spec), nodes, std::move(request));
    const auto refuse = [&](const std::vector<Placement>& parts) {
        const auto fits = ifTooLarge == IfTooLarge::kRefuse
                              ? refuseTooLarge(context, run.id, *launcher)
                              : Result<void>();
        return fits.map([&] { return parts; });
    };
    const auto begin = [&](const std::vector<Placement>& parts) {
        return setState(context, run.id, RunStateKind::kPreparing, {}).and_then([&] {
            return deployAndStart(
                context, run.id, *launcher,
                {attempt, checkpoint.saved.step, from, runNodesOf(parts), next->skipped});
        });
    };
    const auto started = launcher->check().and_then(refuse).and_then(begin);
    if (!started) {
        if (!isLeftToTheNext(context, *launcher))
            (void)setState(context, run.id, run.state, run.message, run.isPresumed);
        return failAs(what, started.error());
    }
    reportGone(context, run.id, *point);
    context.changed(run.id);
    return run.id;
}

} // namespace rm
