// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/earlier_run.h"

#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/findings/text.h"
#include "app/core/store/store_reader.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"

#include <algorithm>
#include <future>

namespace rm {

namespace {

constexpr int64_t kEarlierLostNs = 5'000'000'000;
constexpr int64_t kEarlierHeardNs =
    60'000'000'000; ///< for a node's first words, such as after a deploy

/// A run of that name, as a node has it saved.
struct SavedThere {
    SavedRun run;
    size_t node = 0;
};

Result<std::optional<SavedThere>> newestSaved(const ProcedureContext& context, const RunSpec& spec,
                                              const std::vector<PlacedParty>& nodes) {
    std::vector<std::future<Result<std::vector<SavedRun>>>> pending;
    for (const PlacedParty& party : nodes)
        pending.push_back(
            context.hosts->worker(party.node)
                ->post<std::vector<SavedRun>>(
                    [folder = spec.checkpoint.directory, name = spec.name](
                        HostSession& session, const std::string& agent, std::stop_token stop) {
                        return savedRunsOnNode(session, agent, folder, name, stop);
                    },
                    context.token->stop()));
    std::optional<SavedThere> newest;
    std::optional<Error> error;
    for (size_t node = 0; node < pending.size(); ++node) {
        const auto answer = pending[node].get();
        if (!answer && !error)
            error = answer.error();
        // Where nodes share the folder, the first of them counts.
        for (const SavedRun& run : answer.value_or(std::vector<SavedRun>()))
            if (run.runName == spec.name && (!newest || newest->run.createdNs < run.createdNs))
                newest = SavedThere{run, node};
    }
    return error ? Result<std::optional<SavedThere>>(tl::unexpected(*error)) : newest;
}

/// The newest run of that name which saves where this one would, and has a checkpoint.
std::optional<RunSummary> newestKnown(StoreReader& reader, const RunSpec& spec) {
    for (const RunSummary& run : reader.runs()) { // newest first
        if (run.name.toStdString() != spec.name || run.deletedNs > 0)
            continue;
        const auto its = parseRunSpec(reader.specToml(run.id), run.id.toStdString());
        if (its && its->checkpoint.directory.empty() && newestLiving(reader.checkpoints(run.id)))
            return run;
    }
    return std::nullopt;
}

std::string differencesOf(RunSpec mine, RunSpec its) {
    mine.checkpoint.onExisting = its.checkpoint.onExisting; // how to launch, not what to train
    std::vector<std::string> keys;
    for (const SchemaRow& row : schemaRows()) {
        const auto isSame = [&](auto* value) {
            return *value == *std::get<decltype(value)>(row.ref(its));
        };
        if (!std::visit(isSame, row.ref(mine)))
            keys.emplace_back(row.key);
    }
    return joined(keys, ", ");
}

bool isAlive(const LiveState::NodeLink& node) {
    return node.link == LiveState::Link::kLive && node.state && !node.state->ended &&
           (!node.state->waitsFor.empty() ||
            std::ranges::any_of(node.state->ranks,
                                [](const RankState& rank) { return rank.pid != 0; }));
}

/// Why a node is not read to its end: it cannot be, or that takes too long. nullopt: it may be yet.
std::optional<std::string> whyUnread(const LiveState::NodeLink& node, int64_t nowNs,
                                     int64_t waitedNs) {
    const bool isLost = node.link == LiveState::Link::kRefused ||
                        (isDown(node.link) && nowNs - node.lostSinceNs > kEarlierLostNs);
    if (isLost)
        return node.why.toStdString();
    const bool isBeingRead = node.state && node.state->ended;
    return waitedNs > kEarlierHeardNs && !isBeingRead ? std::optional(say("engine.end-unknown"))
                                                      : std::nullopt;
}

std::string attachTo(const std::string& id) {
    return "ringmaster attach " + id;
}

tl::unexpected<Error> stillRuns(const std::string& id, const std::vector<std::string>& nodes) {
    const Value run{"run", id}, attach{"command", attachTo(id)};
    return fail(ErrorCode::kInvalid,
                nodes.empty()
                    ? say("engine.still-runs", {run, attach})
                    : say("engine.still-runs-on", {run, {"nodes", joined(nodes, ", ")}, attach}));
}

std::string readRest(const std::string& run, const std::string& node) {
    return say("run.read-rest", {{"node", node}, {"run", run}});
}

Result<EarlierRun> known(StoreReader& reader, const QString& run, const RunSpec& spec) {
    const std::string id = run.toStdString();
    if (const auto now = reader.run(run); now && isLive(now->state))
        return stillRuns(id, {});
    RM_ASSIGN_OR_RETURN(const auto its, parseRunSpec(reader.specToml(run), id));
    RM_ASSIGN_OR_RETURN(const auto checkpoint, findCheckpoint(reader, run, {}));
    EarlierRun earlier{
        run, checkpointNameOf(checkpoint), checkpoint.saved.step, differencesOf(spec, its), {}};
    const Value of{"run", id}, step{"step", std::to_string(earlier.step)};
    earlier.words = earlier.isSame() ? say("engine.goes-on-as-same", {of, step})
                                     : say("engine.goes-on-as-new",
                                           {of, step, {"settings", earlier.differences}});
    return earlier;
}

} // namespace

std::vector<RunSummary> openEarlierRuns(StoreReader& reader, const RunSpec& spec) {
    std::vector<RunSummary> open;
    for (const RunSummary& run : reader.runs()) {
        if (run.name.toStdString() != spec.name || run.deletedNs > 0 || !isLive(run.state))
            continue;
        const auto its = parseRunSpec(reader.specToml(run.id), run.id.toStdString());
        if (its && its->checkpoint.directory == spec.checkpoint.directory)
            open.push_back(run);
    }
    return open;
}

std::optional<Result<void>> caughtUp(const RunSummary& run, const LiveState& live, int64_t nowNs,
                                     int64_t waitedNs) {
    const std::string id = run.id.toStdString();
    const bool isOver = hasEnded(run.state);
    // The node of rank 0 is read to its end; the others save nothing.
    if (isOver && (live.nodes.empty() || live.nodes.front().link == LiveState::Link::kNone))
        return Result<void>();
    if (live.launching)
        return fail(ErrorCode::kInvalid, say("engine.earlier-being-started", {{"run", id}}));
    std::vector<std::string> alive;
    for (const LiveState::NodeLink& node : live.nodes)
        if (!isOver && isAlive(node))
            alive.push_back(node.node);
    const bool isStored = std::ranges::none_of(live.nodes, [&](const LiveState::NodeLink& node) {
        return isAlive(node) && node.state->attempt > run.attempt;
    });
    if (!alive.empty() && !isStored && waitedNs < kEarlierHeardNs)
        return std::nullopt; // its agents have begun another attempt since
    if (!alive.empty())
        return stillRuns(id, alive);
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.link == LiveState::Link::kUnstored)
            return failAs(readRest(id, node.node), {ErrorCode::kExhausted, node.why.toStdString()});
    for (const LiveState::NodeLink& node : live.nodes)
        if (const auto why = whyUnread(node, nowNs, waitedNs))
            return failAs(readRest(id, node.node),
                          {node.link == LiveState::Link::kRefused ? ErrorCode::kDenied
                                                                  : ErrorCode::kUnavailable,
                           say("engine.unread",
                               {{"why", *why},
                                {"command", "ringmaster declare-lost " + id + ' ' + node.node}})});
    if (live.nodes.empty() && waitedNs > kEarlierLostNs)
        return failAs(
            say("engine.read-rest-of-all", {{"run", id}}),
            {ErrorCode::kUnavailable, say("engine.not-followed", {{"command", attachTo(id)}})});
    return std::nullopt;
}

std::optional<std::string> resumesByItself(StoreReader& reader, const RunSpec& spec,
                                           const std::vector<Placement>& nodes,
                                           const RunSummary& before) {
    const auto now = reader.run(before.id);
    if (!now || !isLive(now->state) || now->attempt <= before.attempt)
        return std::nullopt;
    const std::string id = before.id.toStdString();
    const auto its = parseRunSpec(reader.specToml(before.id), id);
    const bool isThere = std::ranges::equal(
        nodes, now->nodes, {}, [](const Placement& each) { return each.node.toStdString(); },
        &RunNode::nodeName);
    if (!its || !isThere || !differencesOf(spec, *its).empty())
        return std::nullopt;
    return say("engine.goes-on-by-itself",
               {{"run", id}, {"attempt", std::to_string(now->attempt)}});
}

/// Looks on the nodes where the spec names a folder: another Ringmaster may have saved there, of
/// which the database here knows nothing.
Result<std::optional<EarlierRun>> findEarlierRun(const ProcedureContext& context,
                                                 const QString& shownFor, const RunSpec& spec,
                                                 const std::vector<PlacedParty>& nodes) {
    context.progress(shownFor, {QString::fromStdString(say("engine.look-for-earlier"))});
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto asOptional = [](EarlierRun run) { return std::optional(std::move(run)); };
    if (spec.checkpoint.directory.empty()) {
        const auto run = newestKnown(*reader, spec);
        return run ? known(*reader, run->id, spec).map(asOptional) : std::optional<EarlierRun>();
    }
    RM_ASSIGN_OR_RETURN(const auto saved, newestSaved(context, spec, nodes));
    if (!saved)
        return std::nullopt;
    const QString id = QString::fromStdString(saved->run.runId);
    if (!id.isEmpty() && reader->run(id))
        return known(*reader, id, spec).map(asOptional);
    const Value name{"name", spec.name}, step{"step", std::to_string(saved->run.step)};
    const Value run{"run", id.isEmpty()
                               ? say("engine.unknown-run", {name})
                               : say("engine.unknown-run-of", {name, {"id", id.toStdString()}})};
    if (saved->node > 0)
        return failAs(say("engine.go-on-from", {step, run}),
                      {ErrorCode::kInvalid,
                       say("engine.checkpoints-elsewhere", {{"folder", spec.checkpoint.directory},
                                                            {"node", nodes[saved->node].node.name},
                                                            {"first", nodes.front().node.name}})});
    return EarlierRun{{},
                      saved->run.checkpoint,
                      saved->run.step,
                      {},
                      say("engine.goes-on-from-unknown", {step, run})};
}

} // namespace rm
