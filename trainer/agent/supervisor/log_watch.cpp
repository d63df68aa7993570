// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/log_watch.h"

#include "shared/io/clock.h"

#include <asio/buffer.hpp>
#include <sys/inotify.h>

#include <chrono>

namespace rm {

namespace {
constexpr std::chrono::milliseconds kBetweenLooks(100);
}

LogWatch::LogWatch(asio::io_context& io)
    : m_changes(io)
    , m_pause(io) {}

void LogWatch::watch(const std::vector<std::string>& logs, const std::vector<uint64_t>& begins) {
    for (size_t i = 0; i < logs.size(); ++i)
        m_times.emplace_back(logs[i], i < begins.size() ? std::optional(begins[i]) : std::nullopt);
    look();
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return;
    m_changes.assign(fd);
    // Not their folder, in which the times are written as well.
    for (const std::string& log : logs)
        ::inotify_add_watch(fd, log.c_str(), IN_MODIFY);
    look(); // what was written before it was watched
    await();
}

void LogWatch::look() {
    const int64_t now = wallNowNs();
    for (LogTimesWriter& times : m_times)
        times.look(now);
}

void LogWatch::stop() {
    look();
    m_times.clear();
    asio::error_code ignored;
    m_pause.cancel();
    m_changes.close(ignored);
}

/// A pause follows each look: of a rank that prints without end the next one has it all.
void LogWatch::await() {
    std::weak_ptr<int> alive = m_alive;
    m_changes.async_read_some(asio::buffer(m_buffer),
                              [this, alive](asio::error_code error, size_t) {
                                  if (error || alive.expired())
                                      return;
                                  look();
                                  m_pause.expires_after(kBetweenLooks);
                                  m_pause.async_wait([this, alive](asio::error_code late) {
                                      if (!late && !alive.expired() && m_changes.is_open())
                                          await();
                                  });
                              });
}

} // namespace rm
