// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command_context.h"
#include "app/cli/interruption.h"
#include "app/cli/terminal.h"
#include "app/core/await.h"
#include "app/core/launch/progress.h"

#include <QFuture>
#include <QTimer>

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

/// The answer to what Engine::progressed() calls `id`, a launch, trial or measurement, with its
/// stages shown meanwhile. `cancel` is called once if an interruption asks for it before the answer
/// is there.
template <class T>
T awaitShown(CommandContext& context, const QString& id, const QFuture<T>& started,
             const Interruption& interruption, const std::function<void()>& cancel) {
    constexpr std::chrono::milliseconds kLookForInterruption{50};
    LaunchLines lines;
    QObject receiver;
    QObject::connect(&context.engine(), &Engine::progressed, &receiver,
                     [&](const QString& which, const Progress& progress) {
                         if (which == id)
                             lines.show(progress);
                     });
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &receiver, [&] {
        if (!interruption.isRequested())
            return;
        look.stop();
        cancel();
    });
    look.start(kLookForInterruption);
    return await(started);
}

} // namespace rm::cli
