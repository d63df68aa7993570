// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/runs.h"

#include "app/core/engine/parts.h"
#include "app/core/engine/run_folders.h"
#include "app/core/findings/text.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

/// Why the run is neither cleaned, archived nor deleted: it lives. Empty: it does not, or there is
/// none.
std::string whyKept(LocalEngine& engine, const QString& run) {
    if (engine.parts().launches.contains(run))
        return say("engine.being-started");
    const auto found = engine.summary(run);
    if (found && found->queuePlace > 0)
        return say("queue.take-out-first");
    return found && !hasEnded(found->state)
               ? say("engine.stop-or-pause-first", {{"state", runStateName(found->state)}})
               : std::string();
}

/// The nodes of a run that has ended, in all its attempts. Those of the last one must be known
/// here. A list that cannot be read is an error: a node in it would count as forgotten.
Result<PlacesToClean> placesToClean(LocalEngine& engine, const QString& run) {
    RM_ASSIGN_OR_RETURN(const auto found, engine.summary(run));
    if (const auto why = whyKept(engine, run); !why.empty())
        return failAs(say("engine.clean-run", {{"run", run.toStdString()}}),
                      {ErrorCode::kInvalid, why});
    PlacesToClean places;
    RM_ASSIGN_OR_RETURN(places.nodes, engine.placeOf(found));
    places.needed = places.nodes.size();
    const Fleet& fleet = *engine.parts().fleet;
    for (const RunNode& place : engine.parts().reader->places(run)) {
        const bool isListed = std::ranges::any_of(places.nodes,
                                                  [&](const PlacedParty& party) {
                                                      return party.node.name == place.nodeName;
                                                  }) ||
                              std::ranges::count(places.forgotten, place.nodeName) > 0;
        const auto node = fleet.find(QString::fromStdString(place.nodeName));
        if (!isListed && node)
            places.nodes.push_back({*node, place.ranks});
        else if (const auto problem = fleet.problem(); !isListed && problem)
            return failAs(say("run.find-node", {{"node", place.nodeName}}), *problem);
        else if (!isListed)
            places.forgotten.push_back(place.nodeName);
    }
    return places;
}

} // namespace

std::string NotesRequest::attempt() const {
    return say("engine.note", {{"run", run.toStdString()}});
}

QFuture<Result<void>> NotesRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, notes = notes](StoreWriter& writer) {
        return writer.setNotes(run, notes);
    });
}

std::string TagsRequest::attempt() const {
    return say("engine.tag", {{"run", run.toStdString()}});
}

QFuture<Result<void>> TagsRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, tags = tags](StoreWriter& writer) {
        return writer.setTags(run, tags);
    });
}

std::string StarRequest::attempt() const {
    return say(starred ? "engine.star" : "engine.unstar", {{"run", run.toStdString()}});
}

QFuture<Result<void>> StarRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, starred = starred](StoreWriter& writer) {
        return writer.setStarred(run, starred);
    });
}

std::string ArchiveRequest::attempt() const {
    return say(archived ? "engine.archive" : "engine.unarchive", {{"run", run.toStdString()}});
}

QFuture<Result<void>> ArchiveRequest::perform(LocalEngine& engine) const {
    if (const auto why = archived ? whyKept(engine, run) : std::string(); !why.empty())
        return ready<Answer>(failAs(attempt(), {ErrorCode::kInvalid, why}));
    return engine.edit(attempt(), [run = run, archived = archived](StoreWriter& writer) {
        return writer.setArchived(run, archived);
    });
}

std::string RenameRequest::attempt() const {
    return say("engine.rename", {{"run", run.toStdString()}});
}

QFuture<Result<void>> RenameRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, name = name](StoreWriter& writer) {
        return writer.setName(run, name);
    });
}

std::string DeletedRequest::attempt() const {
    return say(deleted ? "engine.delete" : "engine.bring-back", {{"run", run.toStdString()}});
}

QFuture<Result<void>> DeletedRequest::perform(LocalEngine& engine) const {
    if (const auto why = deleted ? whyKept(engine, run) : std::string(); !why.empty())
        return ready<Answer>(failAs(attempt(), {ErrorCode::kInvalid, why}));
    return engine.edit(attempt(), [run = run, deleted = deleted](StoreWriter& writer) {
        return writer.setDeleted(run, deleted);
    });
}

std::string EmptyTrashRequest::attempt() const {
    return say("engine.empty-trash");
}

QFuture<Result<void>> EmptyTrashRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [before = deletedBeforeNs](StoreWriter& writer) {
        return writer.purgeDeleted(before).map([](int) {});
    });
}

std::string OnNodesRequest::attempt() const {
    return say("engine.look-on-nodes", {{"run", run.toStdString()}});
}

QFuture<Result<std::vector<RunFolder>>> OnNodesRequest::perform(LocalEngine& engine) const {
    const auto places = placesToClean(engine, run);
    if (!places)
        return refuse<Answer>(places.error());
    return runOn(engine.parts().pool,
                 [run = run, places = *places,
                  context = engine.procedureContext(std::make_shared<CancelToken>()),
                  stop = engine.parts().closing.get_token()] {
                     return readRunFolders(context, run, places, stop);
                 });
}

std::string RemoveFromNodesRequest::attempt() const {
    return say("engine.clean-run", {{"run", run.toStdString()}});
}

QFuture<Result<void>> RemoveFromNodesRequest::perform(LocalEngine& engine) const {
    const auto places = placesToClean(engine, run);
    if (!places)
        return refuse<Answer>(places.error());
    if (auto can = engine.canWrite(attempt()); !can)
        return ready<Answer>(std::move(can));
    const bool wasFollowed = engine.parts().following.forget(run);
    const auto removed = runOn(
        engine.parts().pool, [run = run, places = *places, requested = requestedNow(kClean, by),
                              context = engine.procedureContext(std::make_shared<CancelToken>()),
                              stop = engine.parts().closing.get_token()] {
            return removeRunFolders(context, run, places, stop).and_then([&] {
                return noteDone(context, run, requested);
            });
        });
    // Who watches the run waits for what its nodes have, or no longer.
    return passOn(removed, &engine, [&engine, run = run, wasFollowed](const Answer& answer) {
        if (wasFollowed && !answer && !engine.parts().closing.stop_requested())
            engine.attach(run);
        else if (wasFollowed)
            Q_EMIT engine.attemptEnded(run);
    });
}

std::string WindowRequest::attempt() const {
    return say("engine.show-window");
}

QFuture<bool> WindowRequest::perform(LocalEngine&) const {
    return ready(false);
}

} // namespace rm
