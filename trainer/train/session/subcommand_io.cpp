// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session/subcommand_io.h"

#include "shared/exit_code.h"
#include "trainer/train/session/session.h"

#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <thread>

namespace rm {

void endWithReader(int output) {
    std::thread([output] {
        pollfd out{output, 0, 0};
        while (::poll(&out, 1, -1) < 0)
            ;
        _exit(static_cast<int>(ExitCode::kUnavailable));
    }).detach();
}

std::string standardInput() {
    return {std::istreambuf_iterator<char>(std::cin), {}};
}

Result<RunSpec> specFrom(const std::string& path) {
    if (path != "-")
        return readSpec(path);
    return parseRunSpec(standardInput(), "standard input")
        .and_then([](RunSpec spec) { return check(std::move(spec)); })
        .map([](const CheckedSpec& checked) { return *checked; });
}

} // namespace rm
