// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/posix/child.h"

#include <functional>
#include <string>

namespace rm {

/// Reads where a process is (stackOf()) in a process of its own, `ringmaster-agent stack`, which is
/// killed if it takes longer than 5 s: one that cannot be stopped never holds up this one.
class StackReader {
public:
    explicit StackReader(asio::io_context& io)
        : m_child(io) {}

    bool isReading() const { return m_child.isBusy(); }
    /// `done` gets the lines joined to one; it is not called if there are none. Ignored while
    /// another one is read.
    void read(int64_t pid, std::function<void(std::string text)> done);

private:
    ChildReader m_child;
};

} // namespace rm
