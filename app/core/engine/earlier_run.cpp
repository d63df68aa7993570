// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/earlier_run.h"

#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/find_checkpoint.h"
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
    std::vector<std::future<Result<std::vector<SavedRun>>>> asked;
    for (const PlacedParty& party : nodes)
        asked.push_back(
            context.hosts->worker(party.node)
                ->post<std::vector<SavedRun>>(
                    [folder = spec.checkpoint.directory, name = spec.name](
                        HostSession& session, const std::string& agent, std::stop_token stop) {
                        return savedRunsOnNode(session, agent, folder, name, stop);
                    },
                    context.token->stop()));
    std::optional<SavedThere> newest;
    std::optional<Error> error;
    for (size_t node = 0; node < asked.size(); ++node) {
        const auto answer = asked[node].get();
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
    std::string keys;
    for (const SchemaRow& row : schemaRows()) {
        const auto isSame = [&](auto* value) {
            return *value == *std::get<decltype(value)>(row.ref(its));
        };
        if (!std::visit(isSame, row.ref(mine)))
            keys += (keys.empty() ? "" : ", ") + std::string(row.key);
    }
    return keys;
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
    return waitedNs > kEarlierHeardNs && !isBeingRead
               ? std::optional<std::string>("it does not say that the run has ended")
               : std::nullopt;
}

Error stillRuns(const std::string& id, const std::string& where) {
    return {ErrorCode::kInvalid, id + " is still running" + where +
                                     "; follow it (ringmaster attach " + id +
                                     "), or pause or stop it first"};
}

Result<EarlierRun> known(StoreReader& reader, const QString& run, const RunSpec& spec) {
    const std::string id = run.toStdString();
    if (const auto now = reader.run(run); now && !hasEnded(now->state))
        return tl::unexpected(stillRuns(id, ""));
    RM_ASSIGN_OR_RETURN(const auto its, parseRunSpec(reader.specToml(run), id));
    RM_ASSIGN_OR_RETURN(const auto checkpoint, findCheckpoint(reader, run, {}));
    EarlierRun earlier{
        run, checkpointNameOf(checkpoint), checkpoint.saved.step, differencesOf(spec, its), {}};
    const std::string at = " from step " + std::to_string(earlier.step) + " on";
    earlier.words = earlier.isSame() ? "the run " + id + " goes on with its next attempt" + at
                                     : "a new run goes on where " + id + " was," + at +
                                           ", as its settings differ in " + earlier.differences;
    return earlier;
}

} // namespace

std::vector<RunSummary> openEarlierRuns(StoreReader& reader, const RunSpec& spec) {
    std::vector<RunSummary> open;
    for (const RunSummary& run : reader.runs()) {
        if (run.name.toStdString() != spec.name || run.deletedNs > 0 || hasEnded(run.state))
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
        return fail(ErrorCode::kInvalid, id + " is being started; stop it first");
    std::string where;
    for (const LiveState::NodeLink& node : live.nodes)
        if (!isOver && isAlive(node))
            where += (where.empty() ? " on " : ", ") + node.node;
    const bool isStored = std::ranges::none_of(live.nodes, [&](const LiveState::NodeLink& node) {
        return isAlive(node) && node.state->attempt > run.attempt;
    });
    if (!where.empty() && !isStored && waitedNs < kEarlierHeardNs)
        return std::nullopt; // its agents have begun another attempt since
    if (!where.empty())
        return Result<void>(tl::unexpected(stillRuns(id, where)));
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.link == LiveState::Link::kUnstored)
            return fail(ErrorCode::kExhausted,
                        "read what " + node.node + " has of " + id + ": " + node.why.toStdString());
    for (const LiveState::NodeLink& node : live.nodes)
        if (const auto why = whyUnread(node, nowNs, waitedNs))
            return fail(node.link == LiveState::Link::kRefused ? ErrorCode::kDenied
                                                               : ErrorCode::kUnavailable,
                        "read what " + node.node + " has of " + id + ": " + *why +
                            "; try again once it can be reached, or give it up: ringmaster "
                            "declare-lost " +
                            id + " " + node.node);
    if (live.nodes.empty() && waitedNs > kEarlierLostNs)
        return fail(ErrorCode::kUnavailable,
                    "read what its nodes have of " + id +
                        ": they could not be followed; ringmaster attach " + id + " tells why");
    return std::nullopt;
}

std::optional<std::string> goesOnByItself(StoreReader& reader, const RunSpec& spec,
                                          const std::vector<Placement>& nodes,
                                          const RunSummary& before) {
    const auto now = reader.run(before.id);
    if (!now || hasEnded(now->state) || now->attempt <= before.attempt)
        return std::nullopt;
    const std::string id = before.id.toStdString();
    const auto its = parseRunSpec(reader.specToml(before.id), id);
    const bool isThere = std::ranges::equal(
        nodes, now->nodes, {}, [](const Placement& each) { return each.node.toStdString(); },
        &RunNode::nodeName);
    if (!its || !isThere || !differencesOf(spec, *its).empty())
        return std::nullopt;
    return "the run " + id + " goes on by itself, with attempt " + std::to_string(now->attempt);
}

/// Looks on the nodes where the spec names a folder: another Ringmaster may have saved there, of
/// which the database here knows nothing.
Result<std::optional<EarlierRun>> findEarlierRun(const ProcedureContext& context,
                                                 const QString& shownFor, const RunSpec& spec,
                                                 const std::vector<PlacedParty>& nodes) {
    context.progress(shownFor, {QStringLiteral("Look for an earlier run")});
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
    const std::string at = "step " + std::to_string(saved->run.step);
    const std::string what = "the run \"" + spec.name + "\"" +
                             (id.isEmpty() ? std::string() : " (" + id.toStdString() + ")") +
                             ", which is not known here";
    if (saved->node > 0)
        return fail(ErrorCode::kInvalid, "go on from " + at + " of " + what +
                                             ": its checkpoints in " + spec.checkpoint.directory +
                                             " are on " + nodes[saved->node].node.name +
                                             ", not on " + nodes.front().node.name +
                                             "; name that node first, or mount the folder on both");
    return EarlierRun{{},
                      saved->run.checkpoint,
                      saved->run.step,
                      {},
                      "a new run goes on from " + at + " of " + what};
}

} // namespace rm
