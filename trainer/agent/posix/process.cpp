// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/process.h"

#include "shared/io/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace rm {

namespace {

struct ProcStat {
    char state = 0;
    int64_t parent = 0;
    int64_t threads = 0;
    int64_t startTicks = 0;
};

// The name in parentheses may hold anything, so fields are counted from the last ')'.
ProcStat readStat(int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t close = line.rfind(')');
    if (close == std::string::npos)
        return {};
    std::istringstream fields(line.substr(close + 1));
    ProcStat stat;
    fields >> stat.state >> stat.parent;
    std::string skipped;
    for (int field = 5; field < 20; ++field)
        fields >> skipped;
    fields >> stat.threads >> skipped >> stat.startTicks;
    return stat;
}

/// The process that traces it; 0: none does.
int64_t tracerOf(int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    const std::string key = "TracerPid:";
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key))
            return std::atoll(line.c_str() + key.size());
    return 0;
}

bool isTracedByChild(int64_t pid) {
    const int64_t tracer = tracerOf(pid);
    return tracer > 0 && readStat(tracer).parent == ::getpid();
}

} // namespace

ProcessId identify(int64_t pid) {
    const ProcStat stat = readStat(pid);
    return stat.state ? ProcessId{pid, stat.startTicks} : ProcessId{};
}

bool isAlive(const ProcessId& process) {
    if (process.pid <= 0)
        return false;
    const ProcStat stat = readStat(process.pid);
    // The first thread of a killed process may be gone before the others, which hold its files and
    // locks.
    const bool isGone = (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
    return stat.state && !isGone && stat.startTicks == process.startTicks;
}

bool isStopped(const ProcessId& process) {
    const ProcStat stat = process.pid > 0 ? readStat(process.pid) : ProcStat{};
    const bool isStopped =
        stat.state == 'T' || (stat.state == 't' && !isTracedByChild(process.pid));
    return isStopped && stat.startTicks == process.startTicks;
}

bool isTraced(const ProcessId& process) {
    const ProcStat stat = process.pid > 0 ? readStat(process.pid) : ProcStat{};
    return stat.state == 't' && stat.startTicks == process.startTicks;
}

Descriptor openProcess(const ProcessId& process) {
    if (process.pid <= 0)
        return {};
    Descriptor fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
    // Checked after opening: from then on the descriptor cannot refer to another process.
    if (!fd || !isAlive(process))
        return {};
    return fd;
}

bool sendSignal(const Descriptor& process, int signal) {
    return process && ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

bool waitGone(const Descriptor& process, int64_t timeoutMs) {
    if (!process)
        return true;
    const int64_t deadlineNs = monotonicNowNs() + timeoutMs * 1'000'000;
    while (true) {
        const int64_t leftMs = (deadlineNs - monotonicNowNs()) / 1'000'000;
        pollfd poll{process.get(), POLLIN, 0};
        const int ready = ::poll(&poll, 1, static_cast<int>(std::max<int64_t>(leftMs, 0)));
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

Result<pid_t> spawnDetached(std::vector<std::string> command) {
    std::vector<char*> arguments;
    for (std::string& argument : command)
        arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, command.front().c_str(), &files, &attributes,
                                    arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error ? Result<pid_t>(failErrno("start " + command.front(), error)) : pid;
}

namespace {

std::string firstLine(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

} // namespace

std::string machineId() {
    return firstLine("/etc/machine-id");
}

std::string bootId() {
    return firstLine("/proc/sys/kernel/random/boot_id");
}

} // namespace rm
