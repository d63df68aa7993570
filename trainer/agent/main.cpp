// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "trainer/agent/subcommands.h"

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const rm::Result<void> done = rm::runSubcommand(arguments);
    if (done)
        return 0;
    std::fprintf(stderr, "ringmaster-agent: %s\n", done.error().message.c_str());
    return static_cast<int>(rm::exitCodeFor(done.error().code));
}
