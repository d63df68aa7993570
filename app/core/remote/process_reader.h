// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

#include <functional>

namespace rm {

/// Reads a program's output, with a deadline and a stop. The end of the program is an error with
/// the last line of its stderr.
class ProcessReader {
public:
    ProcessReader(HostProcess& process, std::string attempt, std::stop_token stop);

    /// Some bytes. Zero timeout: what is there, maybe none.
    Result<std::vector<std::byte>> bytes(std::chrono::milliseconds timeout);
    /// One line without its end; at most 4 KiB.
    Result<std::string> line(std::chrono::milliseconds timeout);

private:
    HostProcess& m_process;
    std::string m_attempt;
    std::stop_token m_stop;
    Waker m_waker;
    std::stop_callback<std::function<void()>> m_wakeOnStop;
    std::string m_text; ///< read, not yet given as lines
};

} // namespace rm
