// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// kInvalid unless program and arguments consist of [A-Za-z0-9._:/=,@%+-] alone, so that no login
/// shell reads anything into them.
Result<void> checkWords(const std::string& program, const std::vector<std::string>& arguments);

/// The checked words as the command of an exec channel, for any login shell: it becomes /bin/sh,
/// whatever its PATH names, and that the program. The program's own output begins after StartMark's
/// line on stdout and stderr.
Result<std::string> commandLine(const std::string& program,
                                const std::vector<std::string>& arguments);

/// A fixed script of ours as such a command, likewise; it must not hold a single quote.
Result<std::string> scriptLine(const std::string& fixedScript);

} // namespace rm
