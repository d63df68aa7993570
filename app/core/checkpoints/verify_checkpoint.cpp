// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/verify_checkpoint.h"

#include "app/core/agent/agent_client.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <stop_token>
#include <utility>
#include <vector>

namespace rm {

namespace {

Result<void> verifyFolder(const ProcedureContext& context, const Node& node,
                          const std::string& folder, bool isCopy) {
    // The node reads every byte, which may take long.
    return context.hosts->ownWorker(node)
        ->ask<bool>(
            [=](HostSession& session, const std::string& agent, std::stop_token stop) {
                return verifyCheckpointOnNode(session, agent, folder, isCopy, stop).map([] {
                    return true;
                });
            },
            context.token->stop())
        .get()
        .map([](bool) {});
}

/// Makes a lost manifest damage: the checkpoint is known to lie there.
Result<void> asDamage(Result<void> verified) {
    if (!verified && verified.error().code == ErrorCode::kNotFound)
        verified.error().code = ErrorCode::kCorrupt;
    return verified;
}

} // namespace

Result<void> verifyPlace(const ProcedureContext& context, const Node& node,
                         const std::string& folder) {
    return asDamage(verifyFolder(context, node, folder, true));
}

Result<void> verifyCheckpoint(const ProcedureContext& context, const QString& run,
                              const std::string& which) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    RM_ASSIGN_OR_RETURN(const auto checkpoint, findCheckpoint(*reader, run, which));
    std::vector<VerifiedPlace> places;
    const auto verified = [&](const std::string& name, const std::string& folder, bool isCopy) {
        return nodeCalled(context, name).and_then([&](const Node& node) {
            return verifyFolder(context, node, folder, isCopy);
        });
    };
    if (!checkpoint.removed)
        places.push_back({checkpoint.node, false,
                          asDamage(verified(checkpoint.node, checkpoint.saved.path, false))});
    // Agents remove copies for newer ones, which is known here a little later.
    std::vector<VerifiedPlace> gone;
    for (const CheckpointCopy& copy : checkpoint.copies) {
        auto found = verified(copy.node, copy.folder, true);
        const bool isGone = !found && found.error().code == ErrorCode::kNotFound;
        (isGone ? gone : places).push_back({copy.node, true, asDamage(std::move(found))});
    }
    // Where nothing else is left, these are what there is to tell.
    if (places.empty())
        places.swap(gone);
    for (const VerifiedPlace& copy : gone)
        if (context.writer)
            (void)context.writer->call([&](StoreWriter& writer) {
                return writer.forgetCheckpointCopy(run, checkpoint.saved.path, copy.node);
            });
    const auto whole = verdictOf(places);
    if (whole && context.writer)
        (void)context.writer->call([&](StoreWriter& writer) {
            return writer.setCheckpointVerified(run, checkpoint.saved.path, wallNowNs());
        });
    return whole;
}

} // namespace rm
