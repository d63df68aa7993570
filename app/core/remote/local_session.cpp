// SPDX-License-Identifier: GPL-3.0-or-later
// Starts processes on this computer as a node's; Linux only. (helper_program.h starts those that
// answer a question about a connection.)
#include "app/core/remote/local_session.h"

#include "app/core/findings/text.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/thread_owner.h"
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>

extern char** environ;

namespace rm {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Pipe {
    Descriptor readEnd;
    Descriptor writeEnd;

    bool open() {
        std::array<int, 2> ends{-1, -1};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            return false;
        readEnd = Descriptor(ends[0]);
        writeEnd = Descriptor(ends[1]);
        return true;
    }
};

// Children that outlive their HostProcess are reaped when the next such HostProcess is destroyed,
// so that none stays a zombie for long.
class Orphans {
public:
    void add(pid_t pid) {
        const std::lock_guard lock(m_mutex);
        m_pids.push_back(pid);
        reap();
    }

private:
    void reap() {
        std::erase_if(m_pids, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
    }
    std::mutex m_mutex;
    std::vector<pid_t> m_pids;
};

Orphans& orphans() {
    static Orphans instance;
    return instance;
}

class LocalProcess : public HostProcess {
public:
    LocalProcess(std::string name, std::stop_token stop, pid_t pid, Descriptor in, Descriptor out,
                 Descriptor err)
        : m_name(std::move(name))
        , m_stop(std::move(stop))
        , m_pid(pid)
        , m_in(std::move(in))
        , m_out(std::move(out))
        , m_err(std::move(err)) {
        for (const Descriptor* fd : {&m_in, &m_out, &m_err})
            ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    }
    ~LocalProcess() override {
        m_owner.enforce();
        if (m_pid > 0)
            orphans().add(m_pid);
    }

    Result<Bytes> read(milliseconds timeout, const Waker* waker) override;
    Result<void> write(std::span<const std::byte> bytes) override;
    Result<void> closeWrite() override {
        m_owner.enforce();
        m_in = {};
        return {};
    }
    Result<int> exitCode(milliseconds timeout) override;
    std::string errorText() const override { return m_tail.text(); }

private:
    std::string attempt(const char* phrase) const { return say(phrase, {{"program", m_name}}); }
    bool takeOutput();
    void takeErrors();
    void wait(milliseconds timeout, const Waker* waker, bool alsoInput);

    ThreadOwner m_owner;
    std::string m_name;
    std::stop_token m_stop;
    pid_t m_pid;
    std::optional<int> m_status;
    Descriptor m_in, m_out, m_err;
    std::vector<std::byte> m_pending;
    ErrorTail m_tail;
};

constexpr size_t kPiece = 64 * 1024;
constexpr milliseconds kLook{50}; // no descriptor becomes readable on a stop

/// False when nothing more can come.
bool LocalProcess::takeOutput() {
    if (!m_out)
        return false;
    const size_t had = m_pending.size();
    m_pending.resize(had + kPiece);
    const auto got = ::read(m_out.get(), m_pending.data() + had, kPiece);
    const int why = errno;
    m_pending.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0 || (got < 0 && (why == EINTR || why == EAGAIN)))
        return true;
    m_out = {};
    return false;
}

void LocalProcess::takeErrors() {
    std::array<char, 4096> piece;
    while (m_err) {
        const auto got = ::read(m_err.get(), piece.data(), piece.size());
        if (got > 0)
            m_tail.append({piece.data(), static_cast<size_t>(got)});
        else if (got == 0 || (errno != EINTR && errno != EAGAIN))
            m_err = {};
        else if (errno == EAGAIN)
            return;
    }
}

void LocalProcess::wait(milliseconds timeout, const Waker* waker, bool alsoInput) {
    std::array<pollfd, 4> fds{{{m_out.get(), POLLIN, 0},
                               {m_err.get(), POLLIN, 0},
                               {waker ? waker->fd() : -1, POLLIN, 0},
                               {alsoInput ? m_in.get() : -1, POLLOUT, 0}}};
    ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
}

Result<HostProcess::Bytes> LocalProcess::read(milliseconds timeout, const Waker* waker) {
    m_owner.enforce();
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        takeErrors();
        const bool more = takeOutput();
        if (!m_pending.empty())
            return Bytes{std::exchange(m_pending, {}), false};
        if (!more)
            return Bytes{{}, true};
        if ((waker && waker->isRaised()) || Clock::now() >= deadline)
            return Bytes{};
        wait(timeLeft(deadline), waker, false);
    }
}

Result<void> LocalProcess::write(std::span<const std::byte> bytes) {
    m_owner.enforce();
    while (!bytes.empty()) {
        const auto sent = ::write(m_in.get(), bytes.data(), bytes.size());
        if (sent >= 0) {
            bytes = bytes.subspan(static_cast<size_t>(sent));
            continue;
        }
        const int why = errno;
        if (why == EPIPE || why == EBADF)
            return failAs(attempt("ssh.write-to-it"),
                          {ErrorCode::kUnavailable, say("ssh.input-unread")});
        if (why != EAGAIN && why != EINTR)
            return failErrno(attempt("ssh.write-to-it"), why);
        // Both pipes may be full: the program reads no input until its output was taken.
        takeErrors();
        if (m_pending.size() < (64u << 20))
            takeOutput();
        if (m_stop.stop_requested())
            return failCancelled(attempt("ssh.write-to-it"));
        wait(kLook, nullptr, true);
    }
    return {};
}

Result<int> LocalProcess::exitCode(milliseconds timeout) {
    m_owner.enforce();
    const Descriptor pidFd(m_status ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, m_pid, 0)));
    const auto deadline = Clock::now() + timeout;
    while (!m_status) {
        takeErrors();
        int status = 0;
        if (::waitpid(m_pid, &status, WNOHANG) == m_pid) {
            m_status = status;
            m_pid = 0;
            takeErrors();
            break;
        }
        if (Clock::now() >= deadline)
            return failAs(attempt("ssh.wait-for-it"),
                          {ErrorCode::kUnavailable, say("ssh.not-ended-here")});
        if (m_stop.stop_requested())
            return failCancelled(attempt("ssh.wait-for-it"));
        std::array<pollfd, 2> fds{{{pidFd.get(), POLLIN, 0}, {m_err.get(), POLLIN, 0}}};
        ::poll(fds.data(), fds.size(),
               static_cast<int>(std::min(timeLeft(deadline), kLook).count()));
    }
    if (WIFEXITED(*m_status))
        return WEXITSTATUS(*m_status);
    return failAs(say("ssh.run", {{"program", m_name}, {"where", say("ssh.this-computer")}}),
                  {ErrorCode::kUnavailable,
                   say("ssh.killed-here", {{"signal", std::to_string(WTERMSIG(*m_status))}})});
}

/// Starts the child with no blocked signals and the default SIGPIPE, whatever this process has set.
class SpawnAttributes {
public:
    SpawnAttributes() {
        ::posix_spawnattr_init(&m_value);
        sigset_t none;
        sigemptyset(&none);
        sigset_t defaults;
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        ::posix_spawnattr_setsigmask(&m_value, &none);
        ::posix_spawnattr_setsigdefault(&m_value, &defaults);
        ::posix_spawnattr_setflags(&m_value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&m_value); }
    const posix_spawnattr_t* get() const { return &m_value; }

private:
    posix_spawnattr_t m_value;
};

Result<std::unique_ptr<HostProcess>> spawn(const std::vector<std::string>& words,
                                           std::stop_token stop) {
    const std::string& name = words.front();
    const std::string attempt = say("ssh.start-it", {{"program", name}});
    Pipe in, out, err;
    if (!in.open() || !out.open() || !err.open())
        return failErrno(attempt, errno);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.readEnd.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out.writeEnd.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err.writeEnd.get(), STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : words)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const SpawnAttributes attributes;
    const int rc =
        ::posix_spawnp(&pid, name.c_str(), &actions, attributes.get(), argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return failErrno(attempt, rc);
    return std::make_unique<LocalProcess>(name, std::move(stop), pid, std::move(in.writeEnd),
                                          std::move(out.readEnd), std::move(err.readEnd));
}

} // namespace

std::string LocalSession::where() const {
    return say("ssh.this-computer");
}

Result<std::unique_ptr<HostProcess>> LocalSession::start(const std::string& program,
                                                         const std::vector<std::string>& arguments,
                                                         std::stop_token stop) {
    // No shell reads the program's path here, and a person may have installed it below any folder.
    RM_RETURN_IF_ERROR(checkWords("program", arguments));
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words, std::move(stop));
}

Result<std::unique_ptr<HostProcess>> LocalSession::startScript(const std::string& fixedScript,
                                                               std::stop_token stop) {
    return spawn({"/bin/sh", "-c", fixedScript}, std::move(stop));
}

} // namespace rm
