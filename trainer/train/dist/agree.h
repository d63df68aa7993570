// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/dist/world.h"

#include <string>

namespace rm {

// Where all end because one of them failed, the others' errors begin with "another rank failed:".

/// It is such an error: the cause lies on another rank, and perhaps on another node.
bool isOfAnotherRank(const Error& error);

/// What rank 0 found, or why it failed, on every rank: so that all go on or all end alike. All
/// ranks call it together; `mine` counts on rank 0 only.
Result<std::string> agreeOnFirst(const World& world, const Result<std::string>& mine);

/// What the first rank of each node found, which must be the same on all nodes. `mine` counts on
/// those ranks only. `what` is for the error: "read training data: the texts".
Result<std::string> agreeAcrossNodes(const World& world, const Result<std::string>& mine,
                                     const std::string& what);

/// What every rank found, which must be the same on all.
Result<std::string> agreeAmongAll(const World& world, const Result<std::string>& mine,
                                  const std::string& what);

} // namespace rm
