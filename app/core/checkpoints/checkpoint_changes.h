// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/procedure_context.h"

#include <QString>

#include <string>

namespace rm {

// Each blocks until its node has answered, then stores the change. A checkpoint is named as for
// findCheckpoint().

/// See PinCheckpointRequest.
Result<void> pinCheckpoint(const ProcedureContext& context, const QString& run,
                           const std::string& which, bool pinned);

/// Removes a checkpoint of a line that was set aside from the node where it was saved. kInvalid: it
/// is of the living line.
Result<void> removeCheckpoint(const ProcedureContext& context, const QString& run,
                              const std::string& which);

/// Undoes removeCheckpoint(). kNotFound: too late, or there was none of that name.
Result<void> bringBackCheckpoint(const ProcedureContext& context, const QString& run,
                                 const std::string& which);

} // namespace rm
