// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/checkpoints/checkpoint_orders.h"
#include "app/core/launch/launcher.h"
#include "app/core/runs/procedure_context.h"

#include <QString>

#include <stop_token>
#include <string>

namespace rm {

/// The name of a trial in Engine::progressed(); no id of a run.
QString tryName(const QString& id);

/// See TryCheckpointRequest. Blocks until the node has answered.
Result<TriedCheckpoint> tryCheckpoint(const ProcedureContext& context, const QString& run,
                                      const std::string& which, const TryOrder& order,
                                      const ProgressSink& progress, std::stop_token stop);

} // namespace rm
