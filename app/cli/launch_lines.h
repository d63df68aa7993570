// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command_context.h"
#include "app/cli/interruption.h"
#include "app/cli/terminal.h"
#include "app/core/launch/progress.h"

#include <QFuture>

#include <chrono>
#include <functional>

namespace rm::cli {

/// Prints the stages of a launch or trial below each other, on stderr; finished transfers stay on
/// the screen.
class LaunchLines {
public:
    ~LaunchLines() { show({}); }
    void show(const Progress& progress);

private:
    StatusLine m_status;
    Progress m_last;
    std::chrono::steady_clock::time_point m_began;
};

/// The answer to what Engine::progressed() calls `id`, a launch or trial, with its stages shown
/// meanwhile. `cancel` is called once if an interruption asks for it before the answer is there.
Result<QString> awaitShown(CommandContext& context, const QString& id,
                           const QFuture<Result<QString>>& started,
                           const Interruption& interruption, const std::function<void()>& cancel);

} // namespace rm::cli
