// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/slurm/slurm.h"

#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

namespace rm {

namespace {

constexpr size_t kMostOutput = 4 << 20;
constexpr int64_t kPatienceS = 30;

/// A program whose stdout and stderr are read.
struct Tool {
    pid_t pid = 0;
    Descriptor output, complaint;
};

Result<Tool> spawnTool(std::vector<std::string>& words) {
    const std::string attempt = "run " + words.front();
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0)
        return failErrno(attempt, errno);
    Tool tool;
    tool.output = Descriptor(out[0]);
    const Descriptor outEnd(out[1]);
    if (::pipe2(err, O_CLOEXEC) != 0)
        return failErrno(attempt, errno);
    tool.complaint = Descriptor(err[0]);
    const Descriptor errEnd(err[1]);
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, outEnd.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errEnd.get(), STDERR_FILENO);
    const int error =
        ::posix_spawnp(&tool.pid, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error == ENOENT)
        return fail(ErrorCode::kNotFound,
                    attempt + ": Slurm's programs are not installed here, or not in PATH");
    if (error)
        return failErrno(attempt, error);
    return tool;
}

/// False: the time is over.
bool readBoth(const Tool& tool, std::string& output, std::string& complaint, int64_t deadlineNs) {
    pollfd ends[] = {{tool.output.get(), POLLIN, 0}, {tool.complaint.get(), POLLIN, 0}};
    std::string* texts[] = {&output, &complaint};
    char buffer[4096];
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        const int64_t leftMs = (deadlineNs - monotonicNowNs()) / 1'000'000;
        if (leftMs <= 0 || (::poll(ends, 2, static_cast<int>(leftMs)) < 0 && errno != EINTR))
            return false;
        for (int i = 0; i < 2; ++i) {
            if (ends[i].fd < 0 || ends[i].revents == 0)
                continue;
            const ssize_t count = ::read(ends[i].fd, buffer, sizeof buffer);
            if (count <= 0)
                ends[i].fd = -1; // poll() passes over it
            else if (texts[i]->size() < kMostOutput)
                texts[i]->append(buffer, static_cast<size_t>(count));
        }
    }
    return true;
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

std::string ordinal(size_t number) {
    const size_t last = number % 10;
    const bool isTeen = number % 100 >= 11 && number % 100 <= 13;
    const char* ending = isTeen      ? "th"
                         : last == 1 ? "st"
                         : last == 2 ? "nd"
                         : last == 3 ? "rd"
                                     : "th";
    return std::to_string(number) + ending;
}

std::vector<std::string> linesOf(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(trimmed(line));
    return lines;
}

/// "2nd of 3 in main"; empty: it cannot be told.
std::string placeOf(const SlurmJob& job) {
    const auto text = runTool({"squeue", "--noheader", "--states=PENDING", "--sort=-p,i",
                               "--partition=" + job.partition, "--format=%i"});
    if (!text)
        return {};
    const std::vector<std::string> waiting = linesOf(*text);
    const auto found = std::ranges::find(waiting, job.id);
    if (found == waiting.end())
        return {};
    return ordinal(static_cast<size_t>(found - waiting.begin()) + 1) + " of " +
           std::to_string(waiting.size()) + " in " + job.partition;
}

/// The job by sacct, if squeue shows it no more and the cluster keeps accounts.
std::optional<SlurmJob> accountOf(const std::string& id) {
    const auto text =
        runTool({"sacct", "--noheader", "--parsable2", "--allocations", "--jobs=" + id,
                 "--format=JobID,State,Reason,Partition,NodeList,Start"});
    if (!text || text->empty())
        return std::nullopt;
    auto job = parseSlurmJob(*text);
    if (!job)
        return std::nullopt;
    job->state = job->state.substr(0, job->state.find(' ')); // "CANCELLED by 0"
    return *job;
}

/// `refusal`: the error's code where the program ended by itself.
Result<std::string> runOrFailAs(ErrorCode refusal, std::vector<std::string> words) {
    RM_ASSIGN_OR_RETURN(const Tool tool, spawnTool(words));
    std::string output, complaint;
    const bool isRead =
        readBoth(tool, output, complaint, monotonicNowNs() + kPatienceS * 1'000'000'000);
    if (!isRead)
        ::kill(tool.pid, SIGKILL);
    int status = 0;
    while (::waitpid(tool.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (isRead && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return output;
    const std::string why = !isRead
                                ? "it gave no answer within " + std::to_string(kPatienceS) + " s"
                            : complaint.empty() ? "it failed without a word"
                                                : trimmed(complaint);
    return fail(isRead ? refusal : ErrorCode::kUnavailable, "run " + words.front() + ": " + why);
}

} // namespace

Result<std::string> runTool(std::vector<std::string> words) {
    return runOrFailAs(ErrorCode::kUnavailable, std::move(words));
}

Result<std::string> slurmInfo() {
    RM_ASSIGN_OR_RETURN(const auto version, runTool({"sinfo", "--version"}));
    RM_ASSIGN_OR_RETURN(const auto partitions,
                        runTool({"sinfo", "--noheader", std::string("--format=") + kSinfoFormat}));
    return trimmed(version) + "\n" + partitions;
}

Result<std::optional<SlurmJob>> findJob(const std::string& id) {
    const auto text = runTool({"squeue", "--noheader", "--states=all", "--jobs=" + id,
                               std::string("--format=") + kSqueueFormat});
    if (text && !text->empty())
        return parseSlurmJob(*text).map([](const SlurmJob& job) { return std::optional(job); });
    const bool isForgotten =
        text || text.error().message.find("Invalid job id") != std::string::npos;
    if (!isForgotten)
        return tl::unexpected(text.error());
    return accountOf(id);
}

Result<std::optional<SlurmJob>> findJobNamed(const std::string& name) {
    RM_ASSIGN_OR_RETURN(const auto text,
                        runTool({"squeue", "--noheader", "--states=all", "--name=" + name,
                                 "--user=" + std::to_string(::geteuid()), "--sort=-i",
                                 std::string("--format=") + kSqueueFormat}));
    if (text.empty())
        return std::nullopt;
    return parseSlurmJob(text).map([](const SlurmJob& job) { return std::optional(job); });
}

std::string whyItWaits(const SlurmJob& job) {
    std::string words = "job " + job.id + " waits in the queue of Slurm";
    if (const std::string place = placeOf(job); !place.empty())
        words += ", " + place;
    if (!job.reason.empty() && job.reason != "None")
        words += " (" + job.reason + ")";
    if (job.start.empty() || job.start == "N/A")
        return words + "; when it starts is not known yet";
    std::string start = job.start;
    std::ranges::replace(start, 'T', ' ');
    return words + "; expected to start at " + start;
}

Result<std::string> submitJob(const std::string& script, const std::string& name,
                              const std::string& logFile) {
    RM_ASSIGN_OR_RETURN(const auto text, runOrFailAs(ErrorCode::kInvalid,
                                                     {"sbatch", "--parsable", "--job-name=" + name,
                                                      "--output=" + logFile, script}));
    // "12;cluster" where there are several clusters.
    const std::string id = trimmed(text.substr(0, text.find(';')));
    const bool isNumber =
        !id.empty() && std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
    if (!isNumber)
        return fail(ErrorCode::kCorrupt, "run sbatch: its answer names no job: " + trimmed(text));
    return id;
}

Result<void> cancelJob(const std::string& id, bool kill) {
    if (kill) // its steps and its script; the job itself is ended below
        (void)runTool({"scancel", "--full", "--signal=KILL", id});
    const auto done = runTool({"scancel", id});
    const bool isOver = !done && done.error().message.find("Invalid job id") != std::string::npos;
    return done || isOver ? Result<void>() : tl::unexpected(done.error());
}

} // namespace rm
