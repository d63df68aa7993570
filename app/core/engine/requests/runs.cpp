// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/runs.h"

#include "app/core/engine/parts.h"
#include "app/core/engine/run_folders.h"
#include "app/core/runs/asked_words.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

/// The nodes of a run that has ended, in all its attempts. Those of the last one must be known
/// here. A list that cannot be read is an error: a node in it would count as forgotten.
Result<PlacesToClean> placesToClean(LocalEngine& engine, const QString& run) {
    RM_ASSIGN_OR_RETURN(const auto found, engine.summary(run));
    const std::string attempt = "clean " + run.toStdString();
    if (engine.parts().launches.contains(run))
        return fail(ErrorCode::kInvalid, attempt + ": it is being started; stop it first");
    if (!hasEnded(found.state))
        return fail(ErrorCode::kInvalid,
                    attempt + ": it is " + runStateName(found.state) + "; stop or pause it first");
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
            return failAs("find node " + place.nodeName, *problem);
        else if (!isListed)
            places.forgotten.push_back(place.nodeName);
    }
    return places;
}

} // namespace

std::string NotesRequest::attempt() const {
    return "note on " + run.toStdString();
}

QFuture<Result<void>> NotesRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, notes = notes](StoreWriter& writer) {
        return writer.setNotes(run, notes);
    });
}

std::string TagsRequest::attempt() const {
    return "tag " + run.toStdString();
}

QFuture<Result<void>> TagsRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, tags = tags](StoreWriter& writer) {
        return writer.setTags(run, tags);
    });
}

std::string RenameRequest::attempt() const {
    return "rename " + run.toStdString();
}

QFuture<Result<void>> RenameRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [run = run, name = name](StoreWriter& writer) {
        return writer.setName(run, name);
    });
}

std::string DeletedRequest::attempt() const {
    return (deleted ? "delete " : "bring back ") + run.toStdString();
}

QFuture<Result<void>> DeletedRequest::perform(LocalEngine& engine) const {
    const auto found = engine.summary(run);
    if (deleted && engine.parts().launches.contains(run))
        return refuse<Answer>(
            {ErrorCode::kInvalid, attempt() + ": it is being started; stop it first"});
    if (deleted && found && !hasEnded(found->state))
        return refuse<Answer>(
            {ErrorCode::kInvalid,
             attempt() + ": it is " + runStateName(found->state) + "; stop or pause it first"});
    return engine.edit(attempt(), [run = run, deleted = deleted](StoreWriter& writer) {
        return writer.setDeleted(run, deleted);
    });
}

std::string EmptyTrashRequest::attempt() const {
    return "empty the trash";
}

QFuture<Result<void>> EmptyTrashRequest::perform(LocalEngine& engine) const {
    return engine.edit(attempt(), [before = deletedBeforeNs](StoreWriter& writer) {
        return writer.purgeDeleted(before).map([](int) {});
    });
}

std::string OnNodesRequest::attempt() const {
    return "look for " + run.toStdString() + " on its nodes";
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
    return "clean " + run.toStdString();
}

QFuture<Result<void>> RemoveFromNodesRequest::perform(LocalEngine& engine) const {
    const auto places = placesToClean(engine, run);
    if (!places)
        return refuse<Answer>(places.error());
    if (auto can = engine.canWrite(attempt()); !can)
        return ready<Answer>(std::move(can));
    engine.parts().following.forget(run);
    return runOn(engine.parts().pool,
                 [run = run, places = *places, asked = askedNow(kClean, by),
                  context = engine.procedureContext(std::make_shared<CancelToken>()),
                  stop = engine.parts().closing.get_token()] {
                     return removeRunFolders(context, run, places, stop).and_then([&] {
                         return noteDone(context, run, asked);
                     });
                 });
}

std::string WindowRequest::attempt() const {
    return "show the window";
}

QFuture<bool> WindowRequest::perform(LocalEngine&) const {
    return ready(false);
}

} // namespace rm
