// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

namespace rm {

/// After the end of stdout: fine when the program exits with 0. Otherwise an error of `attempt`
/// with the last line of its stderr as the cause and the ErrorCode that its rm::ExitCode stands
/// for.
Result<void> checkEnd(HostProcess& process, const std::string& attempt,
                      std::chrono::milliseconds timeout);

} // namespace rm
