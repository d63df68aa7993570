// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/window.h"

/// With a subcommand a terminal program, else the window.
int main(int argc, char** argv) {
    if (rm::isTerminalCommand(argc, argv))
        return rm::runTerminalCommand(argc, argv);
    return rm::runWindow(argc, argv);
}
