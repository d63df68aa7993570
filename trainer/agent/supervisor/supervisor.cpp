// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/supervisor.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/agent/run_dir/log_cap.h"
#include "trainer/agent/supervisor/log_tail.h"
#include "trainer/agent/supervisor/lost_attempt.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace rm {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSampleNs = 1000 * kMs;
constexpr int64_t kRetryNs = 20 * kMs;   // between tries to post a command
constexpr int64_t kAnswerNs = 500 * kMs; // for the last answers to leave

RankGroup::Config groupConfig(const NodePlan& plan) {
    RankGroup::Config config;
    config.attempt = static_cast<int32_t>(plan.attempt);
    config.firstRank = static_cast<int32_t>(plan.firstRank);
    config.localRanks = static_cast<int32_t>(plan.localRanks);
    return config;
}

std::string visibleDevices() {
    const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
    return value ? value : "";
}

uint64_t sizeOf(const std::string& path) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
}

std::string logPath(int rank) {
    return "log/" + rankLogName(rank);
}
std::string boardPath(int rank) {
    return "board/" + rankName(rank);
}

} // namespace

Supervisor::Supervisor(std::string runDir, NodePlan plan, RunSpec spec)
    : m_runDir(std::move(runDir))
    , m_plan(std::move(plan))
    , m_spec(std::move(spec))
    , m_gpus(m_plan.device == "cuda" ? openNvmlGpus() : nullptr)
    , m_sampler(SysRoot{}, m_gpus.get(), visibleDevices())
    , m_applied(".")
    , m_queue(m_plan.firstRank == 0, *this, m_applied)
    , m_server(m_io,
               [this](const Command& command) {
                   std::vector<CommandState> states = m_queue.onCommand(command);
                   asio::post(m_io, [this] { pump(); });
                   return states;
               })
    , m_group(groupConfig(m_plan), *this)
    , m_boards(static_cast<size_t>(m_plan.localRanks))
    , m_outOfMemoryKills(outOfMemoryKills()) {}

Supervisor::~Supervisor() = default;

Result<void> Supervisor::openReports() {
    RM_ASSIGN_OR_RETURN(m_journal, beginNodeJournal(".", m_plan.nodeIndex, m_plan.attempt));
    m_journal->keepSynced();
    RM_RETURN_IF_ERROR(m_server.listen("agent.sock"));
    // Before anyone knows our pid, so that an early signal waits for run().
    watchSignals();
    return {};
}

Result<void> Supervisor::launch() {
    RM_RETURN_IF_ERROR(openReports());
    if (const Result<void> spawned = spawnRanks(); !spawned) {
        abandonRanks();
        return spawned;
    }
    recordStart();
    return {};
}

Result<void> Supervisor::adopt(const AgentState& state) {
    RM_RETURN_IF_ERROR(openReports());
    m_state = state;
    m_state.supervisor = identify(::getpid());
    for (const AgentState::Rank& rank : state.ranks) {
        m_processes.push_back(RankProcess::adopt(rank.exited ? ProcessId{} : rank.process));
        m_logStarts.push_back(0);
    }
    const Moment now = Moment::now();
    for (int i = 0; i < m_plan.localRanks; ++i)
        if (state.ranks[i].exited)
            m_group.onEarlierExit(i, exitOf(state.ranks[i]), now);
    m_journal->append(Event{-1, -1, now.wallNs, Severity::kWarning, "agent-replaced",
                            "the agent of this node was gone; another one took over its ranks"});
    flush();
    saveState();
    return {};
}

void Supervisor::run() {
    for (int i = 0; i < m_plan.localRanks; ++i)
        watchRank(i);
    m_nextSampleNs = monotonicNowNs();
    pump();
    m_io.run();
    if (const Result<void> synced = m_journal->sync(); !synced)
        std::fprintf(stderr, "%s\n", synced.error().message.c_str());
    ::unlink("agent.sock");
}

void Supervisor::terminate(int localRank) {
    m_processes[localRank].terminate();
}

void Supervisor::kill(int localRank) {
    m_processes[localRank].killGroup();
}

/// kNotFound: rank 0 has not made it in this attempt (yet).
Result<Board> Supervisor::boardOfRankZero() {
    Result<Board> board = Board::open(boardPath(0));
    if (board && board->status().attempt != m_plan.attempt)
        return fail(ErrorCode::kNotFound, "the board is of another attempt");
    return board;
}

Result<bool> Supervisor::post(const Command& command) {
    Result<Board> board = boardOfRankZero();
    if (!board)
        return board.error().code == ErrorCode::kNotFound ? Result<bool>(false)
                                                          : tl::unexpected(board.error());
    return board->postCommand(command);
}

bool Supervisor::isPosted(const std::string& id) {
    const Result<Board> board = boardOfRankZero();
    const std::optional<Command> posted = board ? board->pendingCommand() : std::nullopt;
    return posted && posted->id == id;
}

void Supervisor::killAll() {
    m_group.kill(Moment::now());
}

Result<void> Supervisor::spawnRanks() {
    const Environment inherited = currentEnvironment();
    const std::vector<std::string> command = rankCommand(m_plan, m_runDir);
    for (int i = 0; i < m_plan.localRanks; ++i) {
        const int rank = static_cast<int>(m_plan.firstRank) + i;
        // Removes the page of an earlier attempt, whose step would be wrong.
        ::unlink(boardPath(rank).c_str());
        m_logStarts.push_back(sizeOf(logPath(rank)));
        Result<RankProcess> process = RankProcess::spawn(
            command, rankEnvironment(inherited, m_plan, m_spec, i), logPath(rank));
        if (!process)
            return failAs("start rank " + std::to_string(rank), process.error());
        m_processes.push_back(std::move(*process));
    }
    return {};
}

void Supervisor::abandonRanks() {
    for (RankProcess& process : m_processes) {
        process.killGroup();
        pollfd gone{process.pidfd(), POLLIN, 0};
        ::poll(&gone, 1, 5000);
        process.reap();
    }
}

void Supervisor::recordStart() {
    m_state.supervisor = identify(::getpid());
    m_state.boot = bootId();
    m_state.machine = machineId();
    m_state.attempt = static_cast<int32_t>(m_plan.attempt);
    m_state.nodeIndex = static_cast<int32_t>(m_plan.nodeIndex);
    for (int i = 0; i < m_plan.localRanks; ++i) {
        const auto rank = static_cast<int32_t>(m_plan.firstRank + i);
        m_state.ranks.push_back({rank, m_processes[i].id(), false, 0, 0});
        m_journal->append(RankStarted{m_state.attempt, rank, m_processes[i].id().pid, wallNowNs()});
    }
    flush();
    saveState();
}

void Supervisor::watchRank(int localRank) {
    m_watches.push_back(std::make_unique<asio::posix::stream_descriptor>(m_io));
    if (m_group.hasExited(localRank))
        return;
    if (m_processes[localRank].pidfd() < 0)
        return asio::post(m_io, [this, localRank] { onRankReadable(localRank); });
    // Duplicated, as Asio owns and closes the descriptors that it watches.
    const int copy = ::fcntl(m_processes[localRank].pidfd(), F_DUPFD_CLOEXEC, 3);
    m_watches.back()->assign(copy);
    m_watches.back()->async_wait(asio::posix::descriptor_base::wait_read,
                                 [this, localRank](asio::error_code error) {
                                     if (!error)
                                         onRankReadable(localRank);
                                 });
}

void Supervisor::onRankReadable(int localRank) {
    std::optional<ChildStatus> status = m_processes[localRank].reap();
    if (!status)
        return;
    m_watches[localRank]->close();
    AgentState::Rank& state = m_state.ranks[localRank];
    if (!status->isKnown)
        status = lastWordOf(".", state.rank, m_state.attempt);
    status->outOfMemory = status->signal == SIGKILL && isMemoryShort();
    const ChildStatus recorded = m_group.onChildExit(
        localRank, *status, logTail(logPath(state.rank), m_logStarts[localRank]), Moment::now());
    state.exited = true;
    state.exitCode = recordedCode(recorded);
    state.signal = recorded.signal;
    pump();
    saveState();
}

void Supervisor::watchSignals() {
    m_signals.async_wait([this](asio::error_code error, int signal) {
        if (error)
            return;
        if (signal == SIGQUIT)
            m_group.kill(Moment::now());
        else
            m_group.stop(Moment::now());
        watchSignals();
        pump();
    });
}

// Does everything that is due and sets the timer for the next deadline.
void Supervisor::pump() {
    const Moment now = Moment::now();
    m_group.tick(now);
    if (m_group.state() != RankGroup::State::kEnded) {
        m_server.broadcast(m_queue.tick());
        if (now.monotonicNs >= m_nextSampleNs)
            sample(now);
    }
    for (const Record& record : m_group.takeRecords())
        m_journal->append(record);
    flush();
    if (m_group.state() == RankGroup::State::kEnded)
        finish();
    armTimer();
}

void Supervisor::armTimer() {
    if (m_io.stopped())
        return;
    const bool isEnded = m_group.state() == RankGroup::State::kEnded;
    int64_t nextNs = isEnded ? monotonicNowNs() + kRetryNs : m_nextSampleNs;
    if (const std::optional<int64_t> deadlineNs = m_group.nextDeadline())
        nextNs = std::min(nextNs, *deadlineNs);
    if (m_queue.isWaiting())
        nextNs = std::min(nextNs, monotonicNowNs() + kRetryNs);
    m_timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nextNs)));
    m_timer.async_wait([this](asio::error_code error) {
        if (!error)
            pump();
    });
}

void Supervisor::sample(Moment now) {
    std::vector<SampledRank> ranks;
    std::vector<HangWatch::SeenRank> seen;
    for (int i = 0; i < m_plan.localRanks; ++i) {
        if (m_group.hasExited(i))
            continue;
        const int32_t rank = m_state.ranks[i].rank;
        if (capLog(logPath(rank)).value_or(false)) {
            m_logStarts[i] = 0;
            m_journal->append(Event{rank, -1, now.wallNs, Severity::kWarning, "log-emptied",
                                    "the log of this rank was emptied on its node, as it had " +
                                        std::to_string(kMostLogBytes >> 20) + " MiB"});
        }
        const auto status = statusOf(i);
        ranks.push_back({rank, i, m_processes[i].id().pid, status ? status->step : 0});
        if (status)
            seen.push_back({rank, status->step, status->phase, isStopped(m_processes[i].id())});
    }
    for (const Record& record : m_sampler.sample(ranks, now))
        m_journal->append(record);
    for (const Record& record : m_hangs.look(seen, now))
        m_journal->append(record);
    m_nextSampleNs = std::max(m_nextSampleNs + kSampleNs, now.monotonicNs + kSampleNs / 2);
}

/// nullopt: the rank has no board yet.
std::optional<Board::Status> Supervisor::statusOf(int localRank) {
    std::optional<Board>& board = m_boards[localRank];
    if (!board) {
        Result<Board> opened = Board::open(boardPath(m_state.ranks[localRank].rank));
        if (!opened)
            return std::nullopt;
        board = std::move(*opened);
    }
    return board->status();
}

bool Supervisor::isMemoryShort() {
    const int64_t before = std::exchange(m_outOfMemoryKills, outOfMemoryKills());
    return before >= 0 && m_outOfMemoryKills > before;
}

void Supervisor::flush() {
    const Result<void> flushed = m_journal->flush();
    if (!flushed && !m_isJournalStuck)
        std::fprintf(stderr, "%s; tried again each second\n", flushed.error().message.c_str());
    m_isJournalStuck = !flushed;
}

void Supervisor::saveState() {
    if (const Result<void> saved = saveAgentState(".", m_state); !saved)
        std::fprintf(stderr, "%s\n", saved.error().message.c_str());
}

void Supervisor::finish() {
    const int64_t nowNs = monotonicNowNs();
    if (!m_state.ended) {
        m_state.ended = true;
        m_state.outcome = m_group.verdict().outcome;
        saveState();
        m_server.broadcast(m_queue.onEnded());
        m_flushDeadlineNs = nowNs + kAnswerNs;
    }
    if (m_server.isFlushed() || nowNs >= m_flushDeadlineNs)
        m_io.stop();
}

} // namespace rm
