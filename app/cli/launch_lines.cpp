// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/launch_lines.h"

#include "app/cli/run_text.h"

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

} // namespace rm::cli
