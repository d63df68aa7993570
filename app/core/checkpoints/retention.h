// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/spec/run_spec.h"

#include <set>
#include <string>

namespace rm {

/// What window and terminal call such a checkpoint.
inline constexpr const char* kRemovedNext = "removed next";

/// Paths of the checkpoints of a run that rank 0 removes once it has saved the next one, by the
/// rules of `spec`: what checkpointsToRemove() says of those that are stored. Also for rules that
/// the run does not have.
std::set<std::string> removedNext(StoreReader& reader, const RunSummary& run, const RunSpec& spec);

} // namespace rm
