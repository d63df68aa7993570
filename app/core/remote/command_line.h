// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// The text as one word of a POSIX shell, whatever it holds.
std::string quotedForShell(const std::string& text);

/// kInvalid unless the program is an absolute path without control characters, and the arguments
/// (and a program that is a name alone) consist of [A-Za-z0-9._:/=,@%+-], so that no login shell
/// reads anything into them.
Result<void> checkWords(const std::string& program, const std::vector<std::string>& arguments);

/// The checked words as the command of an exec channel, for any login shell: it becomes /bin/sh,
/// whatever its PATH names, and that the program. The program's own output begins after StartMark's
/// line on stdout and stderr.
Result<std::string> commandLine(const std::string& program,
                                const std::vector<std::string>& arguments);

/// A script for /bin/sh as such a command, likewise. It is one line, as the csh takes no other;
/// what a shell might read otherwise in single quotes is written as octal numbers.
std::string scriptLine(const std::string& script);

} // namespace rm
