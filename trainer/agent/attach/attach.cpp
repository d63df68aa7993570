// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/attach.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/agent/attach/attach_session.h"
#include "trainer/agent/attach/job_part.h"
#include "trainer/agent/posix/process.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/slurm/job_file.h"
#include "trainer/agent/supervisor/run_state.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

namespace rm {

namespace {

using Stream = asio::posix::stream_descriptor;
using Local = asio::local::stream_protocol;

constexpr std::chrono::seconds kFarewell(2);

/// The loop around one AttachSession. The working directory is the run directory.
class AttachLoop {
public:
    AttachLoop(const std::string& runId, int32_t nodeIndex, bool isInJob)
        : m_runId(runId)
        , m_nodeIndex(nodeIndex)
        , m_job(isInJob ? std::make_unique<JobPart>(m_io, runId) : nullptr)
        , m_session(".", runId, nodeIndex, ports(), monotonicNowNs()) {}

    Result<void> run();

private:
    AttachSession::Ports ports();
    AttachSession::Ports portsOfJob();
    Result<void> forward(const Command& command);
    void ask();
    static void endSupervisor();
    void adopt();
    void readInput();
    void readSupervisor();
    bool onSupervisorBytes(size_t count);
    void dropSupervisor();
    void watchFiles();
    void readFileEvents();
    void armTimer();
    void armEnd();
    void pump();
    void write();

    std::string m_runId;
    int32_t m_nodeIndex;
    asio::io_context m_io{1};
    Stream m_input{m_io};
    Stream m_output{m_io};
    Stream m_fileEvents{m_io};
    Local::socket m_supervisor{m_io};
    asio::steady_timer m_timer{m_io};
    std::unique_ptr<JobPart> m_job; ///< null: the supervisor is, or was, on this machine
    AttachSession m_session;
    FrameScanner m_supervisorFrames;
    bool m_isEnding = false;
    std::vector<std::byte> m_writing;
    std::array<std::byte, 64 * 1024> m_inputBuffer;
    std::array<std::byte, 16 * 1024> m_supervisorBuffer;
    std::array<char, 16 * 1024> m_eventBuffer;
};

Result<void> AttachLoop::run() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGCHLD, SIG_IGN);
    asio::error_code error;
    m_input.assign(::dup(STDIN_FILENO), error);
    if (!error)
        m_output.assign(::dup(STDOUT_FILENO), error);
    if (error)
        return failErrno("attach: stdin and stdout must be pipes or sockets", error.value());
    watchFiles();
    readInput();
    pump();
    m_io.run();
    if (m_session.failure())
        return tl::unexpected(*m_session.failure());
    return {};
}

/// Through files, so that a supervisor that is slow to answer need not hang: Slurm watches it.
AttachSession::Ports AttachLoop::portsOfJob() {
    return {[this] { return m_job->look(); },
            [this](const Command& command) { return m_job->forward(command); },
            [this] { m_session.onSupervisorAlive(); }, [] {}, [this] { adopt(); }};
}

AttachSession::Ports AttachLoop::ports() {
    if (m_job)
        return portsOfJob();
    return {[] { return readRunState("."); },
            [this](const Command& command) { return forward(command); }, [this] { ask(); },
            [] { endSupervisor(); }, [this] { adopt(); }};
}

/// Sends a heartbeat, which the supervisor answers and which does nothing else.
void AttachLoop::ask() {
    asio::error_code error;
    asio::write(m_supervisor, asio::buffer(frameMessage(Heartbeat{monotonicNowNs(), 0})), error);
}

void AttachLoop::endSupervisor() {
    if (const Result<AgentState> state = loadAgentState("."); state && state->boot == bootId())
        sendSignal(openProcess(state->supervisor), SIGKILL);
}

/// By another process, since a supervisor outlives this link.
void AttachLoop::adopt() {
    const Result<pid_t> child =
        spawnDetached({"/proc/self/exe", "adopt", m_runId, std::to_string(m_nodeIndex)});
    if (!child)
        std::fprintf(stderr, "%s\n", child.error().message.c_str());
}

// Connects when first needed, and again when the supervisor of a later attempt has taken over.
Result<void> AttachLoop::forward(const Command& command) {
    asio::error_code error;
    if (!m_supervisor.is_open()) {
        m_supervisor.connect(Local::endpoint("agent.sock"), error);
        if (error) {
            asio::error_code ignored;
            m_supervisor.close(ignored);
            return fail(ErrorCode::kUnavailable, "the run is not running on this node");
        }
        m_supervisorFrames = FrameScanner();
        readSupervisor();
    }
    asio::write(m_supervisor, asio::buffer(frameMessage(command)), error);
    if (error)
        return fail(ErrorCode::kUnavailable, "the agent of this node does not answer");
    return {};
}

void AttachLoop::readInput() {
    m_input.async_read_some(
        asio::buffer(m_inputBuffer), [this](asio::error_code error, size_t count) {
            if (error)
                return m_io.stop();
            m_session.onBytes(std::span(m_inputBuffer).first(count), monotonicNowNs());
            pump();
            readInput();
        });
}

void AttachLoop::readSupervisor() {
    m_supervisor.async_read_some(asio::buffer(m_supervisorBuffer),
                                 [this](asio::error_code error, size_t count) {
                                     if (error)
                                         return dropSupervisor();
                                     // Else pump() may have connected again, and reads.
                                     if (onSupervisorBytes(count))
                                         readSupervisor();
                                     pump();
                                 });
}

/// False: the link is dropped.
bool AttachLoop::onSupervisorBytes(size_t count) {
    m_supervisorFrames.feed(std::span(m_supervisorBuffer).first(count));
    while (true) {
        const auto payload = m_supervisorFrames.next();
        if (!payload) {
            dropSupervisor();
            return false;
        }
        if (!*payload)
            return true;
        const Result<Message> message = decodeMessage(**payload);
        m_session.onSupervisorAlive();
        const CommandState* state = message ? std::get_if<CommandState>(&*message) : nullptr;
        if (state)
            m_session.onCommandState(*state);
    }
}

void AttachLoop::dropSupervisor() {
    asio::error_code ignored;
    m_supervisor.close(ignored);
    m_session.onSupervisorGone();
    pump();
}

// Only speeds things up: without inotify the session still looks every 200 ms.
void AttachLoop::watchFiles() {
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return;
    m_fileEvents.assign(fd);
    for (const char* folder : {"journal", "log"})
        ::inotify_add_watch(fd, folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO);
    readFileEvents();
}

void AttachLoop::readFileEvents() {
    m_fileEvents.async_read_some(asio::buffer(m_eventBuffer),
                                 [this](asio::error_code error, size_t) {
                                     if (error)
                                         return;
                                     m_session.onFilesChanged();
                                     pump();
                                     readFileEvents();
                                 });
}

void AttachLoop::armTimer() {
    if (m_session.failure())
        return armEnd();
    m_timer.expires_at(
        std::chrono::steady_clock::time_point(std::chrono::nanoseconds(m_session.nextDeadline())));
    m_timer.async_wait([this](asio::error_code error) {
        if (!error)
            pump();
    });
}

// A peer that does not read its refusal must not keep this process alive.
void AttachLoop::armEnd() {
    if (std::exchange(m_isEnding, true))
        return;
    m_timer.expires_after(kFarewell);
    m_timer.async_wait([this](asio::error_code error) {
        if (!error)
            m_io.stop();
    });
}

void AttachLoop::pump() {
    if (m_job)
        for (const CommandState& state : m_job->takeAnswers())
            m_session.onCommandState(state);
    m_session.tick(monotonicNowNs());
    write();
    armTimer();
}

void AttachLoop::write() {
    if (!m_writing.empty())
        return;
    std::optional<std::vector<std::byte>> frame = m_session.nextFrame();
    if (!frame) {
        if (m_session.failure())
            m_io.stop();
        return;
    }
    m_writing = std::move(*frame);
    asio::async_write(m_output, asio::buffer(m_writing), [this](asio::error_code error, size_t) {
        m_writing.clear();
        if (error)
            return m_io.stop();
        write();
    });
}

} // namespace

Result<void> attachRun(const Folders& folders, const std::string& runId, int64_t nodeIndex) {
    const Result<std::string> runDir = folders.existingPartDir(runId, nodeIndex);
    const Result<NodePlan> plan = runDir ? loadPlan(*runDir) : tl::unexpected(runDir.error());
    if (!plan) {
        const Refusal refusal{static_cast<uint8_t>(plan.error().code), plan.error().message};
        (void)writeAll(STDOUT_FILENO, frameMessage(refusal), "stdout");
        return tl::unexpected(plan.error());
    }
    RM_ASSIGN_OR_RETURN(const auto job, loadJobFile(runFolderOf(*runDir)));
    if (::chdir(runDir->c_str()) != 0)
        return failErrno("enter " + *runDir, errno);
    return AttachLoop(runId, static_cast<int32_t>(plan->nodeIndex), job.has_value()).run();
}

} // namespace rm
