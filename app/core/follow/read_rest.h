// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/follow/node_follower.h"
#include "app/core/runs/procedure_context.h"
#include "app/core/store/store_reader.h"

#include <QString>

#include <functional>
#include <stop_token>

namespace rm {

// Reading what nodes have of a run that nobody follows any more. Each call blocks.

/// Copies what a node has of a run and the database has not, of attempts that were asked for with
/// that node: only these count. Its part of the run has ended. Blocks. What is not there holds
/// nothing, if the node says so for `missingFor`.
Result<void> fetchRest(const ProcedureContext& context, const Node& node, const QString& run,
                       std::stop_token unwanted, std::chrono::seconds missingFor = kMissingFor);

/// fetchRest() on those nodes of a run that answer at once, if it has ended: its agents may have
/// copied the last checkpoint since it was followed. Blocks for a few seconds at most.
void fetchLate(const ProcedureContext& context, StoreReader& reader, const QString& run);

/// Ends what lives of a run on a node that was declared lost, copies what the node has of the run
/// (fetchRest()), and stores that this is done. True: something lived. `onEnded` is called before
/// the copying, which may take long, with whether something lived, or why it could not be ended.
Result<bool> endDeclaredLost(const ProcedureContext& context, const Node& node,
                             const DeclaredLostNode& declaredLost, std::stop_token unwanted,
                             const std::function<void(const Result<bool>&)>& onEnded = {});

/// Ends what lives of the run on nodes that were declared lost, where they answer at once: a run
/// alone there would remove, by its own rules, what an attempt elsewhere resumes from. On others it
/// is ended later, see DeclaredLostNodes. What they have of the run is read later, too: before the
/// run goes on elsewhere, what a node did alone would count. Blocks for a few seconds at most.
void endReachable(const ProcedureContext& context, StoreReader& reader, const QString& run);

} // namespace rm
