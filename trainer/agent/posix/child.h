// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/posix/fd.h"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace rm {

/// A subcommand of this program that runs, as a child of this process.
struct Child {
    pid_t pid = 0;
    Descriptor output; ///< the end of the pipe that is its stdout
};

/// Starts this program with these words. `input`: its whole stdin, at most 32 KiB. No stderr.
Result<Child> startSelf(std::vector<std::string> words, const std::string& input);

/// Kills it, if it still runs, and waits for it for a moment. One that a file system holds in the
/// kernel is left to die when that lets go.
void endChild(pid_t pid);

/// Runs subcommands of this program, for work that could hold up this process: one at a time.
/// Belongs to one event loop. The destructor kills the child, and calls nobody.
class ChildReader {
public:
    static constexpr std::chrono::seconds kForEver{0};

    explicit ChildReader(asio::io_context& io);
    ~ChildReader();

    bool isBusy() const { return m_child != 0; }
    /// Kills the child; nobody is called.
    void stop();
    /// Lets the child go on, on its own.
    void leave() { m_child = 0; }
    /// `done` gets what it printed, at most 16 KiB of it, once it has ended, or after `patience`,
    /// when it is killed; nothing, and at once, if it cannot be started. Ignored while another one
    /// runs.
    void run(std::vector<std::string> words, const std::string& input,
             std::chrono::seconds patience, std::function<void(std::string text)> done);

private:
    void readOn();
    void finish();

    asio::posix::stream_descriptor m_output;
    asio::steady_timer m_deadline;
    pid_t m_child = 0; ///< 0: none runs
    std::string m_text;
    char m_buffer[4096] = {};
    std::function<void(std::string)> m_done;
    int m_runs = 0; ///< begun so far: what comes from an earlier one is passed over
};

} // namespace rm
