// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/log_times.h"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// Notes when the logs of an attempt's ranks grow, so that each line has the time at which it was
/// written, whether anybody reads along or not. What is written within 100 ms has one time. A log
/// that is silent costs nothing.
class LogWatch {
public:
    explicit LogWatch(asio::io_context& io);

    /// Begins with these logs, relative to the working directory. `begins`: how long each was when
    /// its rank was started a moment ago; empty: they were started before.
    void watch(const std::vector<std::string>& logs, const std::vector<uint64_t>& begins);
    /// Notes what is new. Also where inotify does not tell of it, as on some network file systems:
    /// once a second.
    void look();
    /// Another attempt goes on with the same logs.
    void stop();

private:
    void await();

    asio::posix::stream_descriptor m_changes; ///< inotify's
    asio::steady_timer m_pause;
    std::array<char, 16 * 1024> m_buffer;
    std::vector<LogTimesWriter> m_times;
    std::shared_ptr<int> m_alive = std::make_shared<int>(); ///< for callbacks that come late
};

} // namespace rm
