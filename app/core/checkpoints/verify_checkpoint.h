// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/procedure_context.h"

#include <QString>

#include <string>

namespace rm {

/// Compares every byte of what lies in a folder of the node with its manifest, which may take long.
/// kCorrupt: it is damaged, or is not there.
Result<void> verifyPlace(const ProcedureContext& context, const Node& node,
                         const std::string& folder);

/// Compares every byte of a checkpoint (see findCheckpoint()) with its manifest, in each place
/// where it lies, and stores when all of them were whole. The error is that of verdictOf();
/// kCorrupt: what is wrong, or that it is not there any more.
Result<void> verifyCheckpoint(const ProcedureContext& context, const QString& run,
                              const std::string& which);

} // namespace rm
