// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/dist/world.h"

#include <string>

namespace rm {

// When one rank fails, all end; the errors of the others begin with "another rank failed:".

/// Whether the error's cause is on another rank and perhaps another node.
bool isOfAnotherRank(const Error& error);

/// Returns rank 0's result or error on every rank, so that all continue or all end. All ranks call
/// it together; only rank 0's `mine` counts.
Result<std::string> agreeOnFirst(const World& world, const Result<std::string>& mine);

/// Returns the results of the first rank of each node, which must be the same on all nodes. `mine`
/// counts on those ranks only. `what` is for the error: "read training data: the texts".
Result<std::string> agreeAcrossNodes(const World& world, const Result<std::string>& mine,
                                     const std::string& what);

/// The same for the results of all ranks.
Result<std::string> agreeAmongAll(const World& world, const Result<std::string>& mine,
                                  const std::string& what);

} // namespace rm
