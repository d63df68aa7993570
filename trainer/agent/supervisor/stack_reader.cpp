// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/stack_reader.h"

#include <asio/buffer.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace rm {

namespace {

constexpr auto kPatience = std::chrono::seconds(5);
constexpr size_t kMostText = 16 << 10;

/// Returns 0 if it could not be started.
pid_t startReading(int64_t pid, int output) {
    std::string words[] = {"/proc/self/exe", "stack", std::to_string(pid)};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, arguments[0], &files, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return error ? 0 : child;
}

} // namespace

StackReader::StackReader(asio::io_context& io)
    : m_output(io)
    , m_deadline(io) {}

StackReader::~StackReader() {
    if (m_child == 0)
        return;
    ::kill(m_child, SIGKILL);
    ::waitpid(m_child, nullptr, 0);
}

void StackReader::read(int64_t pid, std::function<void(std::string)> done) {
    int ends[2];
    if (m_child != 0 || ::pipe2(ends, O_CLOEXEC) != 0)
        return;
    m_child = startReading(pid, ends[1]);
    ::close(ends[1]);
    m_output.assign(ends[0]);
    m_done = std::move(done);
    m_text.clear();
    m_deadline.expires_after(kPatience);
    m_deadline.async_wait([this](asio::error_code error) {
        if (!error && m_child != 0)
            ::kill(m_child, SIGKILL); // its output ends then
    });
    readOn();
}

void StackReader::readOn() {
    m_output.async_read_some(asio::buffer(m_buffer), [this](asio::error_code error, size_t size) {
        m_text.append(m_buffer, std::min(size, kMostText - std::min(kMostText, m_text.size())));
        if (error)
            finish();
        else
            readOn();
    });
}

void StackReader::finish() {
    m_deadline.cancel();
    m_output.close();
    if (const pid_t child = std::exchange(m_child, 0); child != 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    while (m_text.ends_with('\n'))
        m_text.pop_back();
    for (size_t at = 0; (at = m_text.find('\n', at)) != m_text.npos; at += 2)
        m_text.replace(at, 1, "; ");
    if (!m_text.empty())
        m_done(std::move(m_text));
}

} // namespace rm
