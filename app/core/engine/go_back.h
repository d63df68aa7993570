// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"

#include <QFuture>
#include <QString>

namespace rm {

/// Begins the next attempt of a run from that checkpoint (ResumeRequest). One that trains is paused
/// before, so that a checkpoint of where it was stays. The answer is the run, or why it was not
/// paused or does not go on. If this process ends in between, the run is paused and no more.
/// In the engine's thread.
QFuture<ResumeRequest::Answer> goBackTo(Engine& engine, const RunSummary& run,
                                        const QString& checkpoint);

} // namespace rm
