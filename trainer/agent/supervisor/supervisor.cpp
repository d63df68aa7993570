// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/supervisor.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/journal/event_codes.h"
#include "shared/return_if_error.h"
#include "trainer/agent/run_dir/run_checkpoints.h"

#include <asio/post.hpp>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSampleNs = 1000 * kMs;
constexpr int64_t kRetryNs = 20 * kMs;   // between tries to post a command
constexpr int64_t kAnswerNs = 500 * kMs; // for the last answers to leave

std::string visibleDevices() {
    const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
    return value ? value : "";
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

/// What a person wants who sends this while no rank lives; nullopt: it waits for the next attempt.
std::optional<Outcome> outcomeAskedFor(CommandKind kind) {
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

std::string howAsked(bool isKill) {
    return isKill ? kKilledMessage : "ended on request, while no rank ran";
}

} // namespace

Supervisor::Supervisor(std::string runDir, NodePlan plan, RunSpec spec)
    : m_runDir(std::move(runDir))
    , m_spec(std::move(spec))
    , m_gpus(plan.device == "cuda" ? openNvmlGpus() : nullptr)
    , m_sampler(SysRoot{}, m_gpus.get(), visibleDevices())
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
    RM_RETURN_IF_ERROR(m_attempt->begin());
    RM_RETURN_IF_ERROR(m_server.listen("agent.sock"));
    // Before anyone knows our pid, so that an early signal waits for run().
    watchSignals();
    return {};
}

Result<void> Supervisor::launch() {
    RM_RETURN_IF_ERROR(open());
    return m_attempt->launch();
}

Result<void> Supervisor::adopt(const AgentState& state) {
    RM_RETURN_IF_ERROR(open());
    m_attempt->adopt(state);
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
    const auto outcome = outcomeAskedFor(command.kind);
    if (outcome)
        m_crew->personAsks();
    if (!outcome || !m_attempt->hasEnded() || m_isOver || m_next)
        return m_queue.onCommand(command);
    m_crew->ask(*outcome, howAsked(command.kind == CommandKind::kKill));
    return {{command.id, CommandProgress::kApplied, -1,
             "no rank of it ran at that moment; it does not go on by itself"}};
}

void Supervisor::endAttempt(const EndOrder& order) {
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
    if (!m_attempt->hasEnded())
        return m_attempt->end({static_cast<int32_t>(m_attempt->plan().attempt), true, order.why},
                              now);
    if (std::exchange(m_isOver, true))
        return;
    m_attempt->close(order.outcome, order.why);
    m_server.broadcast(m_queue.onEnded());
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

Result<std::string> Supervisor::newestCheckpoint() {
    RM_ASSIGN_OR_RETURN(const std::string folder, checkpointFolder("."));
    // Ranks make it before their first step; a file system may be gone.
    if (m_hasTrained && !std::filesystem::exists(folder))
        return fail(ErrorCode::kUnavailable,
                    "go on from a checkpoint: the folder " + folder + " is not there");
    RM_ASSIGN_OR_RETURN(const RunCheckpoints there, readCheckpoints("."));
    const CheckpointEntry* newest = there.newest();
    if (!newest)
        return std::string();
    return newest->path.starts_with("./") ? m_runDir + newest->path.substr(1) : newest->path;
}

void Supervisor::failAttempt(const StartOrder& order, const Error& why) {
    m_whyNot = why;
    startAttempt(order);
}

void Supervisor::watchSignals() {
    m_signals.async_wait([this](asio::error_code error, int signal) {
        if (error)
            return;
        if (m_attempt->hasEnded())
            m_crew->ask(Outcome::kStopped, howAsked(signal == SIGQUIT));
        else if (signal == SIGQUIT)
            m_attempt->kill(Moment::now());
        else
            m_attempt->stop(Moment::now());
        watchSignals();
        pump();
    });
}

// Does everything that is due and sets the timer for the next deadline.
void Supervisor::pump() {
    if (const auto order = std::exchange(m_next, std::nullopt); order && !m_isOver)
        beginNext(*order);
    const Moment now = Moment::now();
    m_attempt->tick(now);
    if (!m_attempt->hasEnded())
        m_server.broadcast(m_queue.tick());
    if (now.monotonicNs >= m_nextSampleNs) {
        if (!m_attempt->hasEnded())
            m_attempt->sample(now);
        m_nextSampleNs = std::max(m_nextSampleNs + kSampleNs, now.monotonicNs + kSampleNs / 2);
    }
    if (m_attempt->hasFailed() && !m_isOver)
        obeyEndings();
    if (!m_isOver) {
        const PeerStatus status = m_attempt->status();
        m_hasTrained = m_hasTrained || status.step > 0;
        m_crew->onStatus(status);
        m_crew->tick(now.monotonicNs);
        m_attempt->tick(now);
    }
    if (m_isOver)
        finish();
    armTimer();
}

/// What a person asked of ranks that failed instead: there must be no other attempt.
void Supervisor::obeyEndings() {
    for (const Command& command : m_queue.takeEndings()) {
        if (command.id.starts_with(kRegroup))
            continue;
        m_crew->ask(*outcomeAskedFor(command.kind), howAsked(false));
        m_server.broadcast(m_queue.onCommand(command));
    }
}

/// The journal of the attempt before is closed, and plan.toml is that of the new one, before any of
/// its ranks lives.
void Supervisor::beginNext(const StartOrder& order) {
    if (!m_attempt->hasEnded() || order.attempt <= m_attempt->plan().attempt)
        return;
    const NodePlan plan = planOf(order, m_attempt->plan());
    m_attempt->retire();
    m_server.broadcast(m_queue.onRestart(plan.attempt));
    auto next = makeAttempt(plan);
    const Result<void> begun =
        writeFileAtomically("plan.toml", toToml(plan)).and_then([&] { return next->begin(); });
    if (!begun) {
        std::fprintf(stderr, "%s\n", begun.error().message.c_str());
        return leave({{}, begun.error().message});
    }
    m_attempt = std::move(next);
    if (const auto why = std::exchange(m_whyNot, std::nullopt))
        return m_attempt->failToStart(*why);
    if (const Result<void> launched = m_attempt->launch(); !launched)
        m_attempt->failToStart(launched.error());
}

void Supervisor::armTimer() {
    if (m_io.stopped())
        return;
    int64_t nextNs = m_isOver ? monotonicNowNs() + kRetryNs : m_nextSampleNs;
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
    const bool isFlushed = m_server.isFlushed() && m_crew->isFlushed();
    if (isFlushed || monotonicNowNs() >= m_flushDeadlineNs)
        m_io.stop();
}

} // namespace rm
