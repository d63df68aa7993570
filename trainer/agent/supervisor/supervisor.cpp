// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/supervisor.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/journal/event_codes.h"
#include "shared/return_if_error.h"
#include "trainer/agent/receive/bundle_check.h"
#include "trainer/agent/run_dir/folders.h"
#include "trainer/agent/run_dir/log_cap.h"
#include "trainer/agent/supervisor/rank_environment.h"
#include "trainer/agent/supervisor/run_state.h"

#include <asio/post.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSampleNs = 1000 * kMs;
constexpr int64_t kRetryNs = 20 * kMs;       // between tries to post a command
constexpr int64_t kAnswerNs = 500 * kMs;     // for the last answers to leave
constexpr int64_t kFilesNs = 250 * kMs;      // between looks for commands that come as files
constexpr int64_t kRoomNs = 600 * kSampleNs; // for a full disk to have room for the last records

/// Whether the working directory, which was at `path`, was removed for good. Both answers have to
/// be definite: a server of homes that is away for a while gives errors, or says that a handle is
/// stale, and a folder that was moved may come back. Some file systems count no links.
bool isRemoved(const std::string& path) {
    struct stat own = {}, there = {};
    if (::stat(".", &own) != 0 || own.st_nlink > 0)
        return false;
    if (::stat(path.c_str(), &there) != 0)
        return errno == ENOENT;
    return there.st_dev != own.st_dev || there.st_ino != own.st_ino;
}

NodePlan planOf(const StartOrder& order, NodePlan plan) {
    plan.plannedNodes = plan.nodes();
    plan.attempt = order.attempt;
    plan.nodeCount = static_cast<int64_t>(order.members.size());
    plan.members.assign(order.members.begin(), order.members.end());
    plan.firstRank = order.firstRank;
    plan.worldSize = order.worldSize;
    plan.masterPort = order.masterPort;
    plan.startFrom = order.startFrom;
    plan.startFromIsExact = order.startFromIsExact;
    plan.storeNonce = order.storeNonce;
    plan.restartsInARow = order.restartsInARow;
    plan.reachedStep = order.reachedStep;
    return plan;
}

/// The outcome that this asks for while no rank lives; nullopt: it waits for the next attempt.
std::optional<Outcome> requestedOutcome(CommandKind kind) {
    switch (kind) {
    case CommandKind::kStop:
    case CommandKind::kKill:
        return Outcome::kStopped;
    case CommandKind::kPause:
        return Outcome::kPaused;
    default:
        return std::nullopt;
    }
}

std::string whyFolderGone(const NodePlan& plan, const std::string& folder) {
    return "the folder of the run on " + nameOfNode(plan, plan.nodeIndex) + ", " + folder +
           ", was removed while it ran";
}

std::string howRequested(bool isKill) {
    return isKill ? kKilledMessage : "ended on request, while no rank ran";
}

} // namespace

Supervisor::Supervisor(std::string runDir, NodePlan plan, RunSpec spec)
    : m_runDir(std::move(runDir))
    , m_spec(std::move(spec))
    , m_gpus(plan.device == "cuda" ? openNvmlGpus() : nullptr)
    , m_sampler(SysRoot{}, m_gpus.get(), visibleDevices(plan, m_spec))
    , m_applied(".")
    , m_queue(plan.firstRank == 0, *this, m_applied)
    , m_server(m_io, [this](const Command& command) { return onCommand(command); })
    , m_attempt(makeAttempt(plan))
    , m_crew(Crew::make(m_io, plan, m_spec, *this)) {}

Supervisor::~Supervisor() = default;

std::unique_ptr<Attempt> Supervisor::makeAttempt(const NodePlan& plan) {
    return std::make_unique<Attempt>(m_io, m_runDir, plan, m_spec, m_sampler, m_stacks,
                                     [this] { asio::post(m_io, [this] { pump(); }); });
}

Result<void> Supervisor::open() {
    RM_RETURN_IF_ERROR(m_attempt->begin(m_appliedBefore));
    RM_RETURN_IF_ERROR(m_server.listen("agent.sock"));
    asio::error_code ignored;
    m_signals.add(SIGURG, ignored);
    // Before anyone knows our pid, so that an early signal waits for run().
    watchSignals();
    return {};
}

void Supervisor::inJob(std::optional<AttemptPlanned> planned) {
    m_files.emplace(m_runDir);
    m_planned = std::move(planned);
    asio::error_code ignored;
    m_signals.add(SIGUSR1, ignored);
}

Result<void> Supervisor::launch() {
    m_appliedBefore = m_applied.size();
    if (m_files)
        RM_RETURN_IF_ERROR(m_files->open());
    RM_RETURN_IF_ERROR(open());
    if (m_planned)
        m_attempt->journal(*m_planned);
    return m_attempt->launch();
}

Result<void> Supervisor::adopt(const AgentState& state) {
    m_appliedBefore = state.appliedBefore;
    RM_RETURN_IF_ERROR(open());
    m_attempt->adopt(state);
    // What the agent before had heard, and no rank has obeyed yet.
    if (const auto posted = m_attempt->posted())
        (void)m_queue.onCommand(*posted);
    return {};
}

void Supervisor::run() {
    m_nextSampleNs = monotonicNowNs();
    pump();
    m_io.run();
    ::unlink("agent.sock");
}

Result<bool> Supervisor::post(const Command& command) {
    return m_attempt->post(command);
}

bool Supervisor::isPosted(const std::string& id) {
    return m_attempt->isPosted(id);
}

void Supervisor::killAll() {
    m_attempt->kill(Moment::now());
}

std::vector<CommandState> Supervisor::onCommand(const Command& command) {
    asio::post(m_io, [this] { pump(); });
    const auto outcome = requestedOutcome(command.kind);
    if (outcome)
        m_crew->onPersonRequest();
    const bool isKill = command.kind == CommandKind::kKill;
    const bool isAboutToBegin = m_next && m_roomByNs == 0;
    if (!outcome || !m_attempt->hasEnded() || m_isOver || (isAboutToBegin && !isKill)) {
        auto states = m_queue.onCommand(command);
        if (m_isOver) // it waits for room on a disk: nothing will be posted any more
            std::ranges::move(m_queue.onEnded(), std::back_inserter(states));
        return states;
    }
    if (m_next)
        m_whyNot = Error{ErrorCode::kUnavailable, howRequested(isKill)};
    m_crew->ask(*outcome, howRequested(isKill));
    return {{command.id, CommandProgress::kApplied, -1,
             "no rank of it ran at that moment; it does not go on by itself"}};
}

/// Ranks that write their checkpoint for the end of the job are given the time that Slurm gives.
void Supervisor::endAttempt(const EndOrder& order) {
    if (!m_isPreempted)
        m_attempt->end(order, Moment::now());
}

void Supervisor::startAttempt(const StartOrder& order) {
    m_next = order;
    asio::post(m_io, [this] { pump(); });
}

void Supervisor::awaitAttempt() {
    if (m_attempt->hasEnded())
        m_attempt->markAwaited();
}

void Supervisor::leave(const OverOrder& order) {
    const Moment now = Moment::now();
    if (!m_attempt->hasEnded()) {
        m_over = order;
        return m_attempt->endForOthers(order.why, now);
    }
    if (std::exchange(m_isOver, true))
        return;
    m_resumesInJob = !order.outcome && m_files && m_attempt->isPreempted(m_isPreempted);
    if (m_resumesInJob)
        m_attempt->retire();
    else
        m_attempt->close(order.outcome, order.why);
    // A job's devices are others' as soon as it ends, and a full disk is to get the last records.
    if (!m_files && m_unwritten.empty() && m_attempt->isWritten())
        m_crew->copyLast(m_attempt->status().end);
    sendStates(m_queue.onEnded());
    m_flushDeadlineNs = now.monotonicNs + kAnswerNs;
}

void Supervisor::pauseRanks(const std::string& commandId) {
    (void)m_queue.onCommand(Command{commandId, CommandKind::kPause, {}});
}

bool Supervisor::hasDone(const std::string& commandId) {
    const auto applied = m_applied.find(commandId);
    return applied && applied->progress == CommandProgress::kApplied;
}

void Supervisor::journal(const Record& record) {
    m_attempt->journal(record);
}

void Supervisor::failAttempt(const StartOrder& order, const Error& why) {
    m_whyNot = why;
    startAttempt(order);
}

void Supervisor::watchSignals() {
    m_signals.async_wait([this](asio::error_code error, int signal) {
        if (error)
            return;
        onSignal(signal);
        watchSignals();
        pump();
    });
}

void Supervisor::onSignal(int signal) {
    if (m_isOver)
        m_crew->giveUpCopy();
    if (signal == SIGURG)
        return;
    const bool isOfJob = m_files && (signal == SIGTERM || signal == SIGUSR1);
    if (m_isOver && !isOfJob)
        m_flushDeadlineNs = std::min(m_flushDeadlineNs, monotonicNowNs() - kRoomNs);
    else if (isOfJob && !m_isOver)
        m_isPreempted = true;
    m_isTimeOver = m_isTimeOver || (isOfJob && signal == SIGUSR1);
    if (m_isOver)
        return;
    if (isOfJob)
        m_attempt->preempt();
    else if (m_attempt->hasEnded())
        m_crew->ask(Outcome::kStopped, howRequested(signal == SIGQUIT));
    else if (signal == SIGQUIT)
        m_attempt->kill(Moment::now());
    else
        m_attempt->stop(Moment::now());
}

void Supervisor::sendStates(const std::vector<CommandState>& states) {
    m_server.broadcast(states);
    if (m_files)
        m_files->answer(states);
}

void Supervisor::serveFiles() {
    const int64_t nowNs = monotonicNowNs();
    if (!m_files || nowNs < m_nextFilesNs)
        return;
    m_nextFilesNs = nowNs + kFilesNs;
    for (const Command& command : m_files->takeCommands())
        m_files->answer(onCommand(command));
}

// Does everything that is due and sets the timer for the next deadline.
void Supervisor::pump() {
    if (const auto order = std::exchange(m_next, std::nullopt); order && !m_isOver)
        beginNext(*order);
    serveFiles();
    const Moment now = Moment::now();
    m_attempt->tick(now);
    if (!m_attempt->hasEnded())
        sendStates(m_queue.tick());
    if (now.monotonicNs >= m_nextSampleNs) {
        lookForFolder(now);
        if (!m_attempt->hasEnded())
            m_attempt->sample(now);
        (void)capLog(kAgentLog);
        if (m_files)
            m_files->publish(readRunState("."));
        m_nextSampleNs = std::max(m_nextSampleNs + kSampleNs, now.monotonicNs + kSampleNs / 2);
    }
    if (m_attempt->hasEnded() && !m_isOver) {
        lookForFolder(now); // the leader hears of it with how the ranks ended
        obeyEndings();
    }
    if (!m_isOver || m_crew->isCopying()) {
        m_crew->onStatus(status());
        m_crew->tick(now.monotonicNs);
        m_attempt->tick(now);
    }
    leaveBelated();
    // Last, so that the leader has heard how the ranks ended.
    if (m_isFolderGone && m_attempt->hasEnded() && !m_isOver)
        m_crew->ask(Outcome::kFailed, whyFolderGone(m_attempt->plan(), m_runDir));
    if (m_isOver)
        finish();
    armTimer();
}

/// Nobody sees a run without its folder, or can end it. Its checkpoints would be lost as well.
void Supervisor::lookForFolder(Moment now) {
    if (m_isFolderGone || !isRemoved(m_runDir))
        return;
    m_isFolderGone = true;
    const NodePlan& plan = m_attempt->plan();
    const std::string why = whyFolderGone(plan, m_runDir);
    std::fprintf(stderr, "%s; its ranks are killed\n", why.c_str());
    m_attempt->end({static_cast<int32_t>(plan.attempt), true, why}, now);
}

PeerStatus Supervisor::status() {
    PeerStatus own = m_attempt->status();
    if (m_isFolderGone)
        own.whyGone = whyFolderGone(m_attempt->plan(), m_runDir);
    return own;
}

/// The leader need not say it again, and may be gone.
void Supervisor::leaveBelated() {
    if (m_over && m_attempt->hasEnded() && !m_isOver)
        leave(*std::exchange(m_over, std::nullopt));
}

/// Obeys pauses and stops that ranks did not live to obey, or after which they failed: there must
/// be no other attempt.
void Supervisor::obeyEndings() {
    if (const auto obeyed = m_applied.endingSince(m_appliedBefore))
        m_crew->onObeyed(*obeyed, howObeyed(*obeyed));
    if (!m_attempt->hasFailed())
        return;
    for (const Command& command : m_queue.takeEndings()) {
        if (command.id.starts_with(kRegroup))
            continue;
        m_crew->ask(*requestedOutcome(command.kind), howRequested(false));
        sendStates(m_queue.onCommand(command));
    }
}

void Supervisor::beginNext(const StartOrder& order) {
    if (!m_attempt->hasEnded() || order.attempt <= m_attempt->plan().attempt)
        return;
    if (m_isPreempted) // the job's next start begins it
        return leave({});
    if (mustWaitForRoom()) {
        m_next = order;
        return;
    }
    const NodePlan plan = planOf(order, m_attempt->plan());
    m_attempt->retire();
    sendStates(m_queue.onRestart(plan.attempt, m_appliedBefore));
    m_unwritten.push_back(std::move(m_attempt));
    m_attempt = makeAttempt(plan);
    // There may be room for the next try, so this is no error that ends the run.
    if (const Result<void> begun = begin(plan); !begun)
        return m_attempt->failToStart({ErrorCode::kUnavailable, begun.error().message});
    if (const auto why = std::exchange(m_whyNot, std::nullopt))
        return m_attempt->failToStart(*why);
    const Result<void> launched =
        verifyBundle(Folders::fromEnvironment().home, plan.bundle).and_then([this] {
            return m_attempt->launch();
        });
    if (!launched)
        m_attempt->failToStart(launched.error());
}

/// A full disk often gets room again, so the run waits for that. An error of the disk is not waited
/// for, nor is anything when it is known that the attempt cannot begin.
bool Supervisor::mustWaitForRoom() {
    const int why = whyNotWritten(".", kNeededRoom);
    const int64_t nowNs = monotonicNowNs();
    if (!isDiskFull(why) || m_whyNot || (m_roomByNs != 0 && nowNs >= m_roomByNs)) {
        m_roomByNs = 0;
        return false;
    }
    if (m_roomByNs == 0) {
        m_roomByNs = nowNs + kRoomNs;
        std::fprintf(stderr, "%s; the next attempt waits for room\n",
                     failErrno("write in " + m_runDir, why).value().message.c_str());
    }
    return true;
}

/// Followers take a journal for whole once there is one of a later attempt, so the rest is written
/// first. plan.toml is the new attempt's before any of its ranks lives.
Result<void> Supervisor::begin(const NodePlan& plan) {
    RM_RETURN_IF_ERROR(writeRest());
    RM_RETURN_IF_ERROR(writeFileAtomically("plan.toml", toToml(plan)));
    return m_attempt->begin(m_appliedBefore);
}

Result<void> Supervisor::writeRest() {
    for (; !m_unwritten.empty(); m_unwritten.pop_front())
        RM_RETURN_IF_ERROR(m_unwritten.front()->writeRest());
    return m_isOver ? m_attempt->writeRest() : Result<void>();
}

void Supervisor::armTimer() {
    if (m_io.stopped())
        return;
    int64_t nextNs = m_nextSampleNs;
    if (m_isOver && monotonicNowNs() < m_flushDeadlineNs)
        nextNs = monotonicNowNs() + kRetryNs;
    if (m_files)
        nextNs = std::min(nextNs, m_nextFilesNs);
    for (const auto deadlineNs : {m_attempt->nextDeadline(), m_crew->nextDeadline()})
        if (deadlineNs)
            nextNs = std::min(nextNs, std::max(*deadlineNs, monotonicNowNs() + kMs));
    if (m_queue.isWaiting() && !m_attempt->hasEnded())
        nextNs = std::min(nextNs, monotonicNowNs() + kRetryNs);
    m_timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nextNs)));
    m_timer.async_wait([this](asio::error_code error) {
        if (!error)
            pump();
    });
}

void Supervisor::finish() {
    if (m_crew->isCopying()) { // the rest has its time after that
        m_flushDeadlineNs = std::max(m_flushDeadlineNs, monotonicNowNs());
        return;
    }
    const int64_t lateNs = monotonicNowNs() - m_flushDeadlineNs;
    const bool isFlushed = (m_server.isFlushed() && m_crew->isFlushed()) || lateNs >= 0;
    if (isFlushed && (writeRest() || m_isFolderGone || lateNs >= kRoomNs))
        m_io.stop();
}

} // namespace rm
