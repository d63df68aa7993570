// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/posix/process.h"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <functional>
#include <string>

namespace rm {

/// Reads where a process is (stackOf()) in a process of its own, `ringmaster-agent stack`, which is
/// killed if it takes longer than 5 s: one that cannot be stopped never holds up this one.
class StackReader {
public:
    explicit StackReader(asio::io_context& io);
    ~StackReader();

    /// `done` gets the lines joined to one; it is not called if there are none. Ignored while
    /// another one is read.
    void read(int64_t pid, std::function<void(std::string text)> done);

private:
    void readOn();
    void finish();

    asio::posix::stream_descriptor m_output;
    asio::steady_timer m_deadline;
    pid_t m_child = 0; ///< 0: none is read
    std::string m_text;
    char m_buffer[4096] = {};
    std::function<void(std::string)> m_done;
};

} // namespace rm
