// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal.h"
#include "app/core/launch/progress.h"

#include <chrono>

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

} // namespace rm::cli
