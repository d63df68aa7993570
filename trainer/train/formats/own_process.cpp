// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/own_process.h"

#include "shared/exit_code.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace rm {
namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";
constexpr size_t kMaxWords = 64 * 1024;

struct Pipe {
    Descriptor read;
    Descriptor write;
};

Result<Pipe> makePipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failErrno("make a pipe", errno);
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<pid_t> spawn(const std::vector<std::string>& arguments, int errors,
                    const std::string& attempt) {
    std::vector<char*> words{const_cast<char*>(kOwnProgram)};
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // The child must not inherit the blocked signals, which have to end it.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = -1;
    const int error =
        posix_spawn(&child, kOwnProgram, &actions, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return failErrno(attempt + ": start a process for it", error);
    return child;
}

/// Reads until the other end is closed; drops bytes beyond the limit.
std::string readWords(int fd) {
    std::string words;
    std::array<std::byte, 4096> buffer;
    while (true) {
        const auto got = readSome(fd, buffer, "a pipe");
        if (!got || *got == 0)
            return words;
        words.append(reinterpret_cast<const char*>(buffer.data()), *got);
        words.resize(std::min(words.size(), kMaxWords));
    }
}

std::string lastLine(std::string words) {
    while (!words.empty() && words.back() == '\n')
        words.pop_back();
    constexpr std::string_view kPrefix = "error: ";
    const size_t begin = words.rfind('\n');
    std::string line = begin == words.npos ? words : words.substr(begin + 1);
    return line.starts_with(kPrefix) ? line.substr(kPrefix.size()) : line;
}

ErrorCode codeOf(int exitCode) {
    for (const ErrorCode code :
         {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kTooNew,
          ErrorCode::kUnavailable, ErrorCode::kDenied, ErrorCode::kExhausted})
        if (static_cast<int>(exitCodeFor(code)) == exitCode)
            return code;
    return ErrorCode::kInternal;
}

} // namespace

Result<void> runOwnProgram(const std::vector<std::string>& arguments, const std::string& attempt) {
    RM_ASSIGN_OR_RETURN(auto pipe, makePipe());
    RM_ASSIGN_OR_RETURN(const auto child, spawn(arguments, pipe.write.get(), attempt));
    pipe.write = Descriptor();
    const std::string words = readWords(pipe.read.get());
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return failErrno(attempt + ": wait for its process", errno);
    if (WIFSIGNALED(status))
        return fail(ErrorCode::kCorrupt, attempt + ": the process that read it was ended by " +
                                             strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fail(codeOf(WEXITSTATUS(status)), lastLine(words));
    return {};
}

} // namespace rm
