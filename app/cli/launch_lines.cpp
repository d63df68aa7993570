// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/launch_lines.h"

#include "app/cli/run_text.h"
#include "app/core/await.h"

#include <QTimer>

namespace rm::cli {

void LaunchLines::show(const Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (progress.stage != m_last.stage) {
        const std::chrono::duration<double> took = now - m_began;
        if (m_last.total > 0 && m_last.done >= m_last.total)
            m_status.print(sentText(m_last, took.count()));
        m_began = now;
    }
    m_last = progress;
    m_status.update(progressText(progress), nodeProgressTexts(progress));
}

Result<QString> awaitShown(CommandContext& context, const QString& id,
                           const QFuture<Result<QString>>& started,
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
        if (!interruption.isAsked())
            return;
        look.stop();
        cancel();
    });
    look.start(kLookForInterruption);
    return await(started);
}

} // namespace rm::cli
