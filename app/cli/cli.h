// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm {

/// Whether these arguments are for the terminal: a subcommand, --help or --version. Anything else
/// opens the window.
bool isTerminalCommand(int argc, char** argv);

/// Runs one subcommand to its end; the value is the program's exit code (shared/exit_code.h).
int runTerminalCommand(int argc, char** argv);

} // namespace rm
