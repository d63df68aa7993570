// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/queue.h"

#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/runs/steps_left.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

namespace rm {

namespace {

/// The nodes, if all of them are in the list.
Result<std::vector<RunNode>> nodesOf(LocalEngine& engine, const QueuedPlace& place) {
    RM_ASSIGN_OR_RETURN(const auto parties, engine.place(placementsOf(place.nodes)));
    std::vector<RunNode> nodes;
    for (const PlacedParty& party : parties)
        nodes.push_back({static_cast<int>(nodes.size()), party.node.name, party.ranks, 0});
    return nodes;
}

Result<std::vector<CheckedSpec>> specsOf(const EnqueueRequest& request) {
    if (request.spec.checkpoint.onExisting == "resume")
        return fail(ErrorCode::kInvalid, say("queue.resumes-earlier"));
    return runsOf(request.spec, request.sweep);
}

Result<std::vector<NewRun>> newRuns(LocalEngine& engine, const EnqueueRequest& request) {
    RM_ASSIGN_OR_RETURN(const auto nodes, nodesOf(engine, request.place));
    RM_ASSIGN_OR_RETURN(const auto specs, specsOf(request));
    if (specs.size() != request.runs.size())
        return fail(ErrorCode::kInternal, "the sweep has " + std::to_string(specs.size()) +
                                              " runs, not " + std::to_string(request.runs.size()));
    std::vector<NewRun> runs;
    for (size_t i = 0; i < specs.size(); ++i)
        runs.push_back({request.runs[i],
                        QString::fromStdString(specs[i]->name),
                        toToml(*specs[i]),
                        nodes,
                        {},
                        0});
    return runs;
}

/// As far as is stored.
Result<void> mayGoOn(StoreReader& reader, const RunSummary& run) {
    RM_ASSIGN_OR_RETURN(const auto newest, findCheckpoint(reader, run.id, {}));
    RM_ASSIGN_OR_RETURN(const auto spec,
                        parseRunSpec(reader.specToml(run.id), run.id.toStdString()));
    return stepsLeft(spec, newest.saved.step, run.totalSteps).map([](const auto&...) {});
}

} // namespace

std::string EnqueueRequest::attempt() const {
    return say("queue.put", {{"run", spec.name}});
}

QFuture<Result<void>> EnqueueRequest::perform(LocalEngine& engine) const {
    const auto made = newRuns(engine, *this);
    if (!made)
        return ready<Answer>(failAs(attempt(), made.error()));
    std::optional<StoredSweep> stored;
    if (!sweep.axes.empty())
        stored = StoredSweep{sweepId, place, sweep.firstRung > 0 ? sweep.eta : 0};
    return engine.edit(attempt(), [runs = *made, place = place, stored](StoreWriter& writer) {
        return writer.enqueue(runs, place, stored);
    });
}

std::string EnqueueResumeRequest::attempt() const {
    return say("queue.put", {{"run", run.toStdString()}});
}

QFuture<Result<void>> EnqueueResumeRequest::perform(LocalEngine& engine) const {
    const auto found = engine.summary(run);
    if (!found)
        return refuse<Answer>(found.error());
    if (!hasEnded(found->state) || found->queuePlace > 0)
        return ready<Answer>(
            failAs(attempt(), {ErrorCode::kInvalid,
                               say("engine.is-already", {{"state", runStateName(*found)}})}));
    if (const auto may = mayGoOn(*engine.parts().reader, *found); !may)
        return ready<Answer>(failAs(attempt(), may.error()));
    if (const auto nodes = nodesOf(engine, place); !nodes)
        return ready<Answer>(failAs(attempt(), nodes.error()));
    return engine.edit(attempt(), [run = run, place = place](StoreWriter& writer) {
        return writer.enqueueAgain(run, place);
    });
}

std::string MoveInQueueRequest::attempt() const {
    return say("queue.move", {{"run", run.toStdString()}});
}

QFuture<Result<void>> MoveInQueueRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, place = place](StoreWriter& writer) {
        return writer.moveInQueue(run, place);
    });
}

std::string StartQueuedRequest::attempt() const {
    return say("queue.start");
}

QFuture<Result<QueueProgress>> StartQueuedRequest::perform(LocalEngine& engine) const {
    if (auto can = engine.canWrite(attempt()); !can)
        return refuse<Answer>(can.error());
    return engine.parts().queue.start();
}

} // namespace rm
