// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace rm::cli {

class CommandContext;

/// Follows a run until it ends: a status line with bar, loss and speed, events as they come, the
/// last sample of text at the end. Ctrl+C leaves the run alone. The exit code says how it ended:
/// 0 finished, else ExitCode::kRunFailed, kPaused, kStopped or kPreempted.
int watchRun(CommandContext& context, const QString& run);

} // namespace rm::cli
