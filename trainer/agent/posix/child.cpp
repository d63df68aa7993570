// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/child.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/agent/posix/process.h"

#include <asio/buffer.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace rm {

namespace {

constexpr size_t kMostInput = 32 << 10; ///< a pipe holds more, so that writing does not wait
constexpr size_t kMostText = 16 << 10;
constexpr int kDyingMs = 100; ///< usually a killed process is gone within one

/// Children that were killed and had not ended yet. For the one thread that has children.
std::vector<pid_t>& dying() {
    static std::vector<pid_t> pids;
    return pids;
}

void reapDying() {
    std::erase_if(dying(), [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

struct Pipe {
    Descriptor read, write;
};

Result<Pipe> makePipe(const std::string& attempt) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return failErrno(attempt, errno);
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

} // namespace

Result<Child> startSelf(std::vector<std::string> words, const std::string& input) {
    const std::string attempt = "start ringmaster-agent " + words.front();
    if (input.size() > kMostInput)
        return fail(ErrorCode::kInvalid, attempt + ": its input is too long");
    RM_ASSIGN_OR_RETURN(Pipe in, makePipe(attempt));
    RM_ASSIGN_OR_RETURN(Pipe out, makePipe(attempt));
    RM_RETURN_IF_ERROR(writeText(in.write.get(), input, attempt));
    words.insert(words.begin(), "/proc/self/exe");
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.read.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    Child child;
    const int error =
        ::posix_spawn(&child.pid, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error)
        return failErrno(attempt, error);
    child.output = std::move(out.read);
    return child;
}

void endChild(pid_t pid) {
    if (pid <= 0)
        return;
    ::kill(pid, SIGKILL);
    waitGone(openProcess(identify(pid)), kDyingMs);
    dying().push_back(pid);
    reapDying();
}

ChildReader::ChildReader(asio::io_context& io)
    : m_output(io)
    , m_deadline(io) {}

ChildReader::~ChildReader() {
    endChild(m_child);
}

void ChildReader::run(std::vector<std::string> words, const std::string& input,
                      std::chrono::seconds patience, std::function<void(std::string)> done) {
    if (isBusy())
        return;
    auto child = startSelf(std::move(words), input);
    if (!child)
        return done({});
    ++m_runs;
    m_child = child->pid;
    m_output.assign(child->output.release());
    m_done = std::move(done);
    m_text.clear();
    if (patience != kForEver) {
        m_deadline.expires_after(patience);
        m_deadline.async_wait([this](asio::error_code error) {
            if (!error && isBusy())
                finish(); // by what it printed until now
        });
    }
    readOn();
}

void ChildReader::stop() {
    m_deadline.cancel();
    asio::error_code ignored;
    m_output.close(ignored);
    endChild(std::exchange(m_child, 0));
    m_done = {};
    ++m_runs;
}

void ChildReader::readOn() {
    m_output.async_read_some(
        asio::buffer(m_buffer), [this, run = m_runs](asio::error_code error, size_t size) {
            if (error == asio::error::operation_aborted || run != m_runs)
                return;
            m_text.append(m_buffer, std::min(size, kMostText - std::min(kMostText, m_text.size())));
            if (error)
                finish();
            else
                readOn();
        });
}

void ChildReader::finish() {
    m_deadline.cancel();
    m_output.close();
    endChild(std::exchange(m_child, 0));
    const auto done = std::exchange(m_done, {});
    done(std::exchange(m_text, {}));
}

} // namespace rm
