// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/rank_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

namespace rm {

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> lines(const Environment& environment) {
    std::vector<std::string> result;
    for (const auto& [name, value] : environment)
        result.push_back(name + "=" + value);
    return result;
}

// posix_spawn's two settings objects, released together.
struct SpawnSettings {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;

    explicit SpawnSettings(const std::string& logPath) {
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, 1, logPath.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                         0600);
        posix_spawn_file_actions_adddup2(&files, 1, 2);
        posix_spawnattr_init(&attributes);
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETPGROUP);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
};

} // namespace

Result<RankProcess> RankProcess::spawn(const std::vector<std::string>& command,
                                       const Environment& environment, const std::string& logPath) {
    std::vector<std::string> arguments = command;
    std::vector<std::string> variables = lines(environment);
    const SpawnSettings settings(logPath);
    pid_t pid = 0;
    const int error =
        ::posix_spawn(&pid, command.front().c_str(), &settings.files, &settings.attributes,
                      pointers(arguments).data(), pointers(variables).data());
    if (error)
        return failErrno("start " + command.front(), error);
    RankProcess process;
    process.m_isChild = true;
    process.m_id = identify(pid);
    process.m_pidfd = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (process.m_pidfd)
        return process;
    const int cause = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return failErrno("watch " + command.front(), cause);
}

RankProcess RankProcess::adopt(const ProcessId& id) {
    RankProcess process;
    process.m_id = id;
    process.m_pidfd = openProcess(id);
    return process;
}

void RankProcess::terminate() const {
    sendSignal(m_pidfd, SIGTERM);
}

// The pid of a child cannot have been reused: until reap() the leader holds it, alive or as a
// zombie. That of an adopted one is held while it lives.
void RankProcess::killGroup() const {
    if (m_isChild || isAlive(m_id))
        ::kill(static_cast<pid_t>(-m_id.pid), SIGKILL);
}

std::optional<ChildStatus> RankProcess::reap() {
    if (!m_isChild && waitGone(m_pidfd, 0)) {
        m_pidfd = Descriptor();
        return ChildStatus{.isKnown = false};
    }
    if (!m_isChild)
        return std::nullopt;
    const auto pid = static_cast<id_t>(m_id.pid);
    siginfo_t info = {};
    if (::waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return std::nullopt;
    killGroup();
    ::waitid(P_PID, pid, &info, WEXITED);
    m_pidfd = Descriptor();
    if (info.si_code == CLD_EXITED)
        return ChildStatus{info.si_status, 0, false};
    return ChildStatus{0, info.si_status, false};
}

int64_t outOfMemoryKills() {
    std::ifstream file("/proc/vmstat");
    std::string name;
    int64_t value = 0;
    while (file >> name >> value)
        if (name == "oom_kill")
            return value;
    return -1;
}

} // namespace rm
