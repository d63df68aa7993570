// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/window.h"

/// Given a subcommand, runs in the terminal; otherwise opens the window.
int main(int argc, char** argv) {
    if (rm::isTerminalCommand(argc, argv))
        return rm::runTerminalCommand(argc, argv);
    return rm::runWindow(argc, argv);
}
