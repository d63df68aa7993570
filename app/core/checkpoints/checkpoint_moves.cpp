// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_moves.h"

#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/findings/text.h"
#include "app/core/follow/read_rest.h"
#include "app/core/launch/transfer_rate.h"
#include "app/core/network/network_file.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/runs/steps_left.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/checkpoint/manifest.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <filesystem>

namespace rm {

namespace {

/// A folder of a node in which a checkpoint may lie.
struct Place {
    std::string node;
    std::string folder;
    bool operator==(const Place&) const = default;
};

/// The place where it was saved, unless it was removed there, then those of its known copies.
std::vector<Place> placesOf(const StoredCheckpoint& checkpoint) {
    std::vector<Place> places;
    if (!checkpoint.removed)
        places.push_back({checkpoint.node, checkpoint.saved.path});
    for (const CheckpointCopy& copy : checkpoint.copies)
        places.push_back({copy.node, copy.folder});
    return places;
}

/// What a folder that is not there means for a checkpoint that is known to lie in it: nothing, as
/// its disk may be away. Where it is not known to lie, the folder need not be there.
Result<void> refuseAway(const CheckpointAnswer& answer, const Node& node, const std::string& folder,
                        const StoredCheckpoint& checkpoint) {
    const bool wasSavedThere =
        !checkpoint.removed && node.name == checkpoint.node && folder == checkpoint.saved.path;
    const bool isCopy = std::ranges::any_of(checkpoint.copies, [&](const CheckpointCopy& copy) {
        return copy.node == node.name && copy.folder == folder;
    });
    if (answer.there || !(wasSavedThere || isCopy) || !isAway(answer.folder, !wasSavedThere))
        return {};
    const std::string parent = std::filesystem::path(folder).parent_path().string();
    return fail(ErrorCode::kUnavailable,
                say("checkpoint.folder-away", {{"folder", parent}, {"node", node.name}}));
}

/// What lies in that folder of the node, if it is this checkpoint; nullopt: it is not. kUnavailable
/// as of refuseAway().
Result<std::optional<CheckpointThere>> thereIs(const ProcedureContext& context, const Node& node,
                                               const std::string& folder, const QString& run,
                                               const StoredCheckpoint& checkpoint,
                                               std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(
        auto answer,
        context.hosts->worker(node)
            ->post<CheckpointAnswer>(
                [folder](HostSession& session, const std::string& agent, std::stop_token stopped) {
                    return findCheckpointOnNode(session, agent, folder, stopped);
                },
                std::move(stop))
            .get());
    RM_RETURN_IF_ERROR(refuseAway(answer, node, folder, checkpoint));
    std::optional<CheckpointThere>& there = answer.there;
    const bool isIt = there && there->runId == run.toStdString() &&
                      there->attempt == checkpoint.attempt && there->step == checkpoint.saved.step;
    return isIt ? there : std::nullopt;
}

/// thereIs() at the path that another node has named. On this node that may be a folder that is not
/// ours: then the checkpoint is not there.
Result<std::optional<CheckpointThere>> thereIsToo(const ProcedureContext& context, const Node& node,
                                                  const QString& run,
                                                  const StoredCheckpoint& checkpoint,
                                                  std::stop_token stop) {
    auto there = thereIs(context, node, checkpoint.saved.path, run, checkpoint, std::move(stop));
    const bool isForeign =
        !there && there.error().code == ErrorCode::kDenied && node.name != checkpoint.node;
    if (isForeign)
        return std::nullopt;
    return there;
}

/// The folder of the run's checkpoints, as the nodes get it.
Result<std::string> folderOf(StoreReader& reader, const QString& run) {
    const std::string id = run.toStdString();
    RM_ASSIGN_OR_RETURN(auto spec, parseRunSpec(reader.specToml(run), id));
    return specForNode(std::move(spec), id, {}).checkpoint.directory;
}

/// What was attempted with a checkpoint for a node, by a phrase.
std::string attemptFor(const char* phrase, const QString& run, const StoredCheckpoint& checkpoint,
                       const std::string& node) {
    return say(phrase, {{"step", std::to_string(checkpoint.saved.step)},
                        {"run", run.toStdString()},
                        {"node", node}});
}

/// Opens both nodes in this thread and carries the files from one to the other.
Result<std::string> carry(const ProcedureContext& context, const QString& shownFor,
                          const Place& from, int64_t bytes, const Node& to,
                          const CheckpointPlace& place) {
    const auto stop = context.token->stop();
    RM_ASSIGN_OR_RETURN(const auto source, nodeCalled(context, from.node));
    const QString stage = QString::fromStdString(say("checkpoint.copying"));
    context.progress(shownFor, {stage});
    RM_ASSIGN_OR_RETURN(const auto sender, context.hosts->open(source, stop));
    RM_ASSIGN_OR_RETURN(const auto receiver, context.hosts->open(to, stop));
    TransferRate rate(stage, {to.name},
                      [&](const Progress& progress) { context.progress(shownFor, progress); });
    const auto report = [&rate](const Transferred& transferred) { rate.update(0, transferred); };
    return carryCheckpoint(sender, from.folder, receiver, place, bytes, report, stop);
}

Result<void> noteCopy(const ProcedureContext& context, const QString& run,
                      const StoredCheckpoint& checkpoint, const CheckpointCopy& copy) {
    if (copy.node == checkpoint.node && copy.folder == checkpoint.saved.path)
        return {}; // back where it was saved
    auto noted = context.writer->call([&](StoreWriter& writer) {
        return writer.setCheckpointCopy(run, checkpoint.saved.path, copy);
    });
    context.changed(run);
    return noted;
}

/// The outcome of looking in the places that a checkpoint was in.
struct Search {
    std::string words;     ///< why it cannot be taken from them
    bool isCertain = true; ///< all have answered that it is not there any more
};

/// The first place on another node that has the checkpoint.
std::optional<std::pair<Place, CheckpointThere>>
sourceFor(const ProcedureContext& context, const QString& run, const StoredCheckpoint& checkpoint,
          const std::string& notOn, const std::stop_token& stop, Search& tried) {
    for (const Place& place : placesOf(checkpoint)) {
        if (place.node == notOn || place.node.empty())
            continue;
        const auto there = nodeCalled(context, place.node).and_then([&](const Node& node) {
            return thereIs(context, node, place.folder, run, checkpoint, stop);
        });
        if (there && *there)
            return std::pair(place, **there);
        tried.isCertain = tried.isCertain && there.has_value();
        append(tried.words,
               say("run.reported-at",
                   {{"place", place.node},
                    {"what", there ? say("checkpoint.not-in-folder", {{"folder", place.folder}})
                                   : there.error().message}}));
    }
    return std::nullopt;
}

StepsBefore stepsOf(const CheckpointThere& there) {
    return {there.positionsPerStep, there.ranks, false};
}

/// The checkpoint with a copy that agents have made since the run was followed; nullopt: none.
std::optional<StoredCheckpoint> withLateCopy(const ProcedureContext& context, const QString& run,
                                             const StoredCheckpoint& checkpoint) {
    const auto reader = StoreReader::open(context.database);
    if (!reader)
        return std::nullopt;
    fetchLate(context, **reader, run);
    for (const StoredCheckpoint& each : (*reader)->checkpoints(run))
        if (each.saved.path == checkpoint.saved.path && each.attempt == checkpoint.attempt &&
            each.copies.size() > checkpoint.copies.size())
            return each;
    return std::nullopt;
}

/// Where the checkpoint lies on that node; nullopt: nowhere.
Result<std::optional<CheckpointWay>> placeOn(const ProcedureContext& context, const QString& run,
                                             const StoredCheckpoint& checkpoint, const Node& node,
                                             const std::stop_token& stop) {
    // A folder that nodes share has the same path on all of them.
    RM_ASSIGN_OR_RETURN(const auto same, thereIsToo(context, node, run, checkpoint, stop));
    if (same)
        return CheckpointWay{checkpoint.saved.path, std::nullopt, {}, same->bytes, stepsOf(*same)};
    for (const CheckpointCopy& copy : checkpoint.copies) {
        if (copy.node != node.name)
            continue;
        RM_ASSIGN_OR_RETURN(const auto there,
                            thereIs(context, node, copy.folder, run, checkpoint, stop));
        if (there)
            return CheckpointWay{copy.folder, std::nullopt, {}, there->bytes, stepsOf(*there)};
    }
    return std::nullopt;
}

} // namespace

Result<CheckpointWay> wayTo(const ProcedureContext& context, const QString& run,
                            const StoredCheckpoint& checkpoint, const Node& first,
                            std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(const auto here, placeOn(context, run, checkpoint, first, stop));
    if (here)
        return *here;
    Search tried;
    const auto source = sourceFor(context, run, checkpoint, first.name, stop, tried);
    if (source)
        return CheckpointWay{{},
                             source->first.node,
                             source->first.folder,
                             source->second.bytes,
                             stepsOf(source->second)};
    if (const auto known = withLateCopy(context, run, checkpoint))
        return wayTo(context, run, *known, first, stop);
    if (checkpoint.node == first.name)
        return CheckpointWay{checkpoint.saved.path, std::nullopt, {}, 0, std::nullopt};
    const std::string attempt = attemptFor("checkpoint.bring", run, checkpoint, first.name);
    const Value places{"tried", tried.words};
    if (!tried.isCertain)
        return failAs(attempt,
                      {ErrorCode::kUnavailable, say("checkpoint.only-out-of-reach", {places})});
    return failAs(attempt, {ErrorCode::kNotFound, tried.words.empty()
                                                      ? say("checkpoint.nowhere")
                                                      : say("checkpoint.nowhere-as", {places})});
}

Result<CheckpointSpot> whereItLies(const ProcedureContext& context, const QString& run,
                                   const StoredCheckpoint& checkpoint, std::stop_token stop) {
    Search tried;
    if (const auto source = sourceFor(context, run, checkpoint, {}, stop, tried)) {
        RM_ASSIGN_OR_RETURN(auto node, nodeCalled(context, source->first.node));
        return CheckpointSpot{std::move(node), source->first.folder};
    }
    const auto known = context.writer ? withLateCopy(context, run, checkpoint) : std::nullopt;
    if (known)
        return whereItLies(context, run, *known, stop);
    const Value places{"tried", tried.words};
    if (!tried.isCertain)
        return fail(ErrorCode::kUnavailable, say("checkpoint.out-of-reach", {places}));
    return fail(ErrorCode::kNotFound,
                tried.words.empty() ? say("checkpoint.nowhere") : say("checkpoint.gone", {places}));
}

std::optional<StepsBefore> stepsOfResume(const CheckpointWay& way) {
    std::optional<StepsBefore> steps = way.steps;
    if (steps)
        steps->isSameSpec = true;
    return steps;
}

std::optional<StoredCheckpoint> olderThan(StoreReader& reader, const QString& run,
                                          const StoredCheckpoint& checkpoint) {
    for (const StoredCheckpoint& each : reader.checkpoints(run)) // newest first
        if (each.saved.step < checkpoint.saved.step && each.retiredBy == 0 && isSomewhere(each))
            return each;
    return std::nullopt;
}

Result<ResumePoint> resumePoint(const ProcedureContext& context, StoreReader& reader,
                                const QString& run, const std::string& which, const Node& first,
                                std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(auto checkpoint, findCheckpoint(reader, run, which));
    ResumePoint point;
    while (true) {
        const auto way = wayTo(context, run, checkpoint, first, stop);
        if (way) {
            point.checkpoint = std::move(checkpoint);
            point.way = *way;
            return point;
        }
        if (!which.empty())
            return tl::unexpected(way.error());
        // One that nobody has any more cannot be waited for, unlike one on a node that is away.
        auto older = way.error().code == ErrorCode::kNotFound ? olderThan(reader, run, checkpoint)
                                                              : std::nullopt;
        if (!older)
            return fail(way.error().code,
                        way.error().message + otherPlaces(reader, run, checkpoint));
        point.gone.push_back({checkpoint.saved.step, way.error().message});
        checkpoint = std::move(*older);
    }
}

Result<BroughtCheckpoint> bringCheckpoint(const ProcedureContext& context, const QString& started,
                                          const QString& run, const StoredCheckpoint& checkpoint,
                                          const CheckpointWay& way, const Node& first) {
    if (!way.from)
        return BroughtCheckpoint{way.folder, false};
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    RM_ASSIGN_OR_RETURN(const auto folder, folderOf(*reader, run));
    RM_ASSIGN_OR_RETURN(const auto path, carry(context, started, {*way.from, way.sourceFolder},
                                               way.bytes, first, {run.toStdString(), folder, 0}));
    RM_RETURN_IF_ERROR(noteCopy(context, run, checkpoint, {first.name, path, wallNowNs()}));
    return BroughtCheckpoint{path, true};
}

namespace {

/// The stored checkpoint that lies in a folder of this computer.
Result<StoredCheckpoint> storedAs(StoreReader& reader, const QString& run,
                                  const std::string& folder) {
    RM_ASSIGN_OR_RETURN(const auto manifest, readManifest(folder));
    const std::string attempt = say("checkpoint.copy-folder", {{"folder", folder}});
    const Value ofRun{"run", run.toStdString()};
    if (manifest.runId != ofRun.text)
        return failAs(attempt, {ErrorCode::kInvalid, say("checkpoint.of-other-run",
                                                         {{"other", manifest.runId}, ofRun})});
    for (const StoredCheckpoint& each : reader.checkpoints(run))
        if (each.attempt == manifest.attempt && each.saved.step == manifest.step)
            return each;
    return failAs(attempt,
                  {ErrorCode::kNotFound,
                   say("checkpoint.not-of-run", {ofRun,
                                                 {"step", std::to_string(manifest.step)},
                                                 {"attempt", std::to_string(manifest.attempt)}})});
}

} // namespace

Result<QString> copyCheckpoint(const ProcedureContext& context, const QString& run,
                               const std::string& which, const CopyOrder& order,
                               int64_t keepCopies) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const std::string from = order.from.toStdString(), to = order.to.toStdString();
    RM_ASSIGN_OR_RETURN(const auto checkpoint, from.empty() ? findCheckpoint(*reader, run, which)
                                                            : storedAs(*reader, run, from));
    const std::string name = order.node.toStdString();
    RM_ASSIGN_OR_RETURN(const auto target, nodeCalled(context, name));
    RM_ASSIGN_OR_RETURN(const auto folder,
                        to.empty() ? folderOf(*reader, run) : Result<std::string>(to));
    const CheckpointPlace place{run.toStdString(), folder, keepCopies};
    Place source{kLocalNodeName, from};
    int64_t bytes = checkpoint.saved.bytes;
    if (from.empty()) {
        Search tried;
        // A folder that a person chose may be on a node that has the checkpoint elsewhere.
        const auto found = sourceFor(context, run, checkpoint, to.empty() ? name : std::string(),
                                     context.token->stop(), tried);
        if (!found && to.empty()) {
            RM_ASSIGN_OR_RETURN(const auto there,
                                placeOn(context, run, checkpoint, target, context.token->stop()));
            if (there)
                return QString::fromStdString(there->folder);
        }
        if (!found && withLateCopy(context, run, checkpoint))
            return copyCheckpoint(context, run, which, order, keepCopies);
        if (!found)
            return failAs(attemptFor("checkpoint.copy", run, checkpoint, name),
                          {ErrorCode::kUnavailable,
                           say("checkpoint.out-of-reach", {{"tried", tried.words}})});
        source = found->first;
        bytes = found->second.bytes;
    }
    RM_ASSIGN_OR_RETURN(const auto path, carry(context, run, source, bytes, target, place));
    // Only where the run's checkpoints lie does a later resume look for it.
    if (to.empty())
        RM_RETURN_IF_ERROR(noteCopy(context, run, checkpoint, {name, path, wallNowNs()}));
    return QString::fromStdString(path);
}

namespace {

/// Forgets the copies that the node has dropped for newer ones.
Result<void> forgetDropped(const ProcedureContext& context, StoreReader& reader, const QString& run,
                           const Node& node) {
    for (const StoredCheckpoint& each : reader.checkpoints(run))
        for (const CheckpointCopy& copy : each.copies) {
            if (copy.node != node.name)
                continue;
            RM_ASSIGN_OR_RETURN(const auto there, thereIs(context, node, copy.folder, run, each,
                                                          context.token->stop()));
            if (!there)
                RM_RETURN_IF_ERROR(context.writer->call([&](StoreWriter& writer) {
                    return writer.forgetCheckpointCopy(run, each.saved.path, node.name);
                }));
        }
    context.changed(run);
    return {};
}

} // namespace

Result<bool> makeDueCopy(const ProcedureContext& context, const QString& run, const DueCopy& due) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    RM_ASSIGN_OR_RETURN(const auto checkpoint, findCheckpoint(*reader, run, due.checkpoint));
    RM_ASSIGN_OR_RETURN(const auto node, nodeCalled(context, due.node));
    RM_ASSIGN_OR_RETURN(const auto there,
                        thereIsToo(context, node, run, checkpoint, context.token->stop()));
    if (there && !there->isCopy)
        return false;
    RM_RETURN_IF_ERROR(copyCheckpoint(context, run, due.checkpoint,
                                      {QString::fromStdString(due.node), {}, {}}, kKeptCopies));
    // The copy is whole, even if what became of older ones could not be read.
    static_cast<void>(forgetDropped(context, *reader, run, node));
    return true;
}

Result<TensorComparison> compareCheckpoints(const ProcedureContext& context, const QString& run,
                                            const std::string& a, const std::string& b) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    RM_ASSIGN_OR_RETURN(const auto first, findCheckpoint(*reader, run, a));
    RM_ASSIGN_OR_RETURN(const auto second, findCheckpoint(*reader, run, b));
    for (const Place& one : placesOf(first))
        for (const Place& other : placesOf(second)) {
            if (one.node != other.node)
                continue;
            RM_ASSIGN_OR_RETURN(const auto node, nodeCalled(context, one.node));
            // The node reads every value, which may take long.
            return context.hosts->ownWorker(node)
                ->ask<TensorComparison>(
                    [one, other](HostSession& session, const std::string& agent,
                                 std::stop_token stop) {
                        return compareCheckpointsOnNode(session, agent, one.folder, other.folder,
                                                        stop);
                    },
                    context.token->stop())
                .get();
        }
    return failAs(say("checkpoint.compare", {{"run", run.toStdString()}}),
                  {ErrorCode::kUnavailable, say("checkpoint.on-no-node-both")});
}

namespace {

/// " --node node-b:2": where the copy is, with all ranks. Empty: it is on no node.
std::string whereTo(StoreReader& reader, const QString& run, const CheckpointCopy& copy) {
    const auto summary = reader.run(run);
    if (copy.node == kLocalNodeName || !summary)
        return {};
    int ranks = 0;
    for (const RunNode& node : summary->nodes)
        ranks += node.ranks;
    return " --node " + copy.node + ":" + std::to_string(ranks);
}

} // namespace

std::string otherPlaces(StoreReader& reader, const QString& run, const StoredCheckpoint& newest) {
    for (const StoredCheckpoint& each : reader.checkpoints(run)) {
        const bool isOlder = each.saved.step < newest.saved.step && each.retiredBy == 0;
        if (!isOlder || each.isDamaged)
            continue;
        for (const CheckpointCopy& copy : each.copies)
            if (copy.node != newest.node)
                return say("checkpoint.older-copy",
                           {{"step", std::to_string(each.saved.step)},
                            {"node", copy.node},
                            {"command", "ringmaster restore " + run.toStdString() + " " +
                                            std::to_string(each.saved.step) +
                                            whereTo(reader, run, copy)}});
    }
    return {};
}

/// Uses the functions of resumeRun(), so that it tells what the resume does. It ends and moves
/// nothing; for a moment it writes what a preflight does.
Result<ResumePreflight> lookAtResume(const ProcedureContext& context, const RunSummary& run,
                                     const std::vector<PlacedParty>& nodes,
                                     const std::string& which) {
    const std::string what =
        say(which.empty() ? "run.resume" : "run.restore", {{"run", run.id.toStdString()}});
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto stop = context.token->stop();
    const auto point = resumePoint(context, *reader, run.id, which, nodes.front().node, stop);
    if (!point)
        return failAs(what, point.error());
    const StoredCheckpoint& checkpoint = point->checkpoint;
    const CheckpointWay& way = point->way;
    RM_ASSIGN_OR_RETURN(auto spec, parseRunSpec(reader->specToml(run.id), run.id.toStdString()));
    if (const auto left = stepsLeft(spec, checkpoint.saved.step, run.totalSteps); !left)
        return failAs(what, left.error());
    const PlanRequest attempt{run.id.toStdString(),  spec.name,      run.attempt + 1,
                              checkpoint.saved.path, !which.empty(), stepsOfResume(way)};
    Launcher::Request request{std::move(spec), nodes, attempt};
    request.lastNetwork = lastNetwork(context.stateFolder);
    const auto launcher = makeLauncher(
        std::move(request), *context.hosts, [](const Progress&) {}, stop);
    auto parts = launcher->check();
    if (!parts)
        return failAs(what, parts.error());
    ResumePreflight preflight;
    preflight.step = checkpoint.saved.step;
    preflight.newestStep = reader->retirementBy(run.id, checkpoint).lastStep;
    preflight.checkpoint = checkpointNameOf(checkpoint);
    preflight.takenFrom = way.from.value_or(nodes.front().node.name);
    preflight.bytesToMove = way.from ? way.bytes : 0;
    preflight.before = placementsOf(run.nodes);
    preflight.after = std::move(*parts);
    for (const ResumePoint::Gone& gone : point->gone)
        preflight.passedOver.push_back(gone.step);
    if (!way.from && !way.steps) // it is known to lie there, and was not found
        preflight.warnings.push_back(
            say("run.not-whole-there",
                {{"step", std::to_string(preflight.step)}, {"node", preflight.takenFrom}}));
    for (const CheckRow& row : launcher->warnings())
        preflight.warnings.push_back(sentenceOf(row));
    return preflight;
}

namespace {

std::string placesText(const std::vector<Placement>& placements) {
    std::string places;
    for (const Placement& placement : placements)
        append(places, placement.node.toStdString() + ':' + std::to_string(placement.ranks), ", ");
    return places;
}

int ranksOf(const std::vector<Placement>& placements) {
    int ranks = 0;
    for (const Placement& placement : placements)
        ranks += placement.ranks;
    return ranks;
}

} // namespace

QStringList preflightWords(const ResumePreflight& preflight) {
    QStringList words;
    const auto add = [&words](const char* phrase, Values values) {
        words << QString::fromStdString(say(phrase, values));
    };
    add("run.goes-on-from", {{"step", std::to_string(preflight.step)}});
    for (const int64_t gone : preflight.passedOver)
        add("run.passes-over", {{"step", std::to_string(gone)}});
    if (preflight.before != preflight.after)
        add("run.other-nodes",
            {{"after", placesText(preflight.after)}, {"before", placesText(preflight.before)}});
    const int before = ranksOf(preflight.before), after = ranksOf(preflight.after);
    if (before != after)
        add("run.other-ranks",
            {{"after", std::to_string(after)}, {"before", std::to_string(before)}});
    if (preflight.bytesToMove > 0) {
        const double megabytes = static_cast<double>(preflight.bytesToMove) / 1e6;
        add("run.copies-first", {{"megabytes", QString::number(megabytes, 'f', 1).toStdString()},
                                 {"node", preflight.takenFrom},
                                 {"first", preflight.after.front().node.toStdString()}});
    }
    if (preflight.before == preflight.after && preflight.bytesToMove == 0)
        add("run.same-nodes", {});
    const Value last{"last", std::to_string(preflight.newestStep)};
    if (preflight.newestStep == preflight.step + 1)
        add("run.step-trained-again", {last});
    else if (preflight.newestStep > preflight.step)
        add("run.steps-trained-again", {{"first", std::to_string(preflight.step + 1)}, last});
    for (const std::string& warning : preflight.warnings)
        add("run.warning", {{"warning", warning}});
    return words;
}

} // namespace rm
