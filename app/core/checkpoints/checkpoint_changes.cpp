// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_changes.h"

#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/findings/text.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <stop_token>

namespace rm {

namespace {

bool isRemoved(StoreReader& reader, const QString& run, const std::string& which) {
    return std::ranges::any_of(reader.checkpoints(run), [&](const StoredCheckpoint& each) {
        const bool isMeant =
            checkpointNameOf(each) == which || std::to_string(each.saved.step) == which;
        return each.removed && isMeant;
    });
}

} // namespace

Result<void> pinCheckpoint(const ProcedureContext& context, const QString& run,
                           const std::string& which, bool pinned) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    RM_ASSIGN_OR_RETURN(const auto checkpoint, findCheckpoint(*reader, run, which));
    RM_ASSIGN_OR_RETURN(const auto node, nodeCalled(context, checkpoint.node));
    const std::string path = checkpoint.saved.path;
    RM_RETURN_IF_ERROR(
        context.hosts->worker(node)
            ->ask<bool>(
                [path, pinned](HostSession& session, const std::string& agent,
                               std::stop_token stop) {
                    return pinCheckpointOnNode(session, agent, path, pinned, stop).map([] {
                        return true;
                    });
                },
                context.token->stop())
            .get());
    auto noted = context.writer->call(
        [&](StoreWriter& writer) { return writer.setCheckpointPinned(run, path, pinned); });
    context.changed(run);
    return noted;
}

Result<void> removeCheckpoint(const ProcedureContext& context, const QString& run,
                              const std::string& which) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto checkpoint = findCheckpoint(*reader, run, which);
    if (!checkpoint && isRemoved(*reader, run, which))
        return {}; // a repeated request whose answer was lost
    if (!checkpoint)
        return tl::unexpected(checkpoint.error());
    if (checkpoint->removed)
        return {}; // a copy of it is left here
    const std::string name = checkpointNameOf(*checkpoint);
    if (!isRemovable(*checkpoint, reader->checkpoints(run)))
        return failAs(say("checkpoint.remove", {{"checkpoint", name}, {"run", run.toStdString()}}),
                      {ErrorCode::kInvalid, say("checkpoint.goes-on-from-it")});
    RM_ASSIGN_OR_RETURN(const auto node, nodeCalled(context, checkpoint->node));
    const auto removed =
        context.hosts->worker(node)
            ->ask<bool>([run = run.toStdString(), name](
                            HostSession& session, const std::string& agent, std::stop_token stop) {
                return removeCheckpointOnNode(session, agent, run, name, stop).map([] {
                    return true;
                });
            })
            .get();
    // Not there any more (another Ringmaster removed it), which is what was asked for.
    if (!removed && removed.error().code != ErrorCode::kNotFound)
        return tl::unexpected(removed.error());
    const auto noted = context.writer->call([&](StoreWriter& writer) {
        return writer.setCheckpointRemoved(run, checkpoint->saved.path);
    });
    context.changed(run);
    return noted;
}

/// The node comes first: a checkpoint that it cannot bring back stays removed in the database.
Result<void> bringBackCheckpoint(const ProcedureContext& context, const QString& run,
                                 const std::string& which) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto all = reader->checkpoints(run);
    const auto found = std::ranges::find_if(all, [&which](const StoredCheckpoint& each) {
        return each.removed &&
               (checkpointNameOf(each) == which || std::to_string(each.saved.step) == which);
    });
    if (found == all.end())
        return failAs(
            say("checkpoint.bring-back", {{"checkpoint", which}, {"run", run.toStdString()}}),
            {ErrorCode::kNotFound, say("checkpoint.none-removed")});
    RM_ASSIGN_OR_RETURN(const auto node, nodeCalled(context, found->node));
    RM_RETURN_IF_ERROR(
        context.hosts->worker(node)
            ->ask<bool>(
                [id = run.toStdString(), name = checkpointNameOf(*found)](
                    HostSession& session, const std::string& agent, std::stop_token stop) {
                    return bringBackCheckpointOnNode(session, agent, id, name, stop).map([] {
                        return true;
                    });
                },
                context.token->stop())
            .get());
    auto noted = context.writer->call([&](StoreWriter& writer) {
        return writer.setCheckpointRemoved(run, found->saved.path, false);
    });
    context.changed(run);
    return noted;
}

} // namespace rm
