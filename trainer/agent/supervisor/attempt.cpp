// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/attempt.h"

#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/journal/first_cause.h"
#include "shared/journal/segment.h"
#include "shared/return_if_error.h"
#include "trainer/agent/run_dir/log_cap.h"
#include "trainer/agent/supervisor/log_tail.h"
#include "trainer/agent/supervisor/lost_attempt.h"

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace rm {

namespace {

constexpr auto kTracedPause = std::chrono::milliseconds(20);

RankGroup::Config groupConfig(const NodePlan& plan) {
    RankGroup::Config config;
    config.attempt = static_cast<int32_t>(plan.attempt);
    config.firstRank = static_cast<int32_t>(plan.firstRank);
    config.localRanks = static_cast<int32_t>(plan.localRanks);
    return config;
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

Attempt::Attempt(asio::io_context& io, std::string runDir, NodePlan plan, const RunSpec& spec,
                 Sampler& sampler, StackReader& stacks, std::function<void()> rankEnded)
    : m_io(io)
    , m_runDir(std::move(runDir))
    , m_plan(std::move(plan))
    , m_spec(spec)
    , m_sampler(sampler)
    , m_rankEnded(std::move(rankEnded))
    , m_hangs(nameOfNode(m_plan, m_plan.nodeIndex))
    , m_stacks(stacks)
    , m_group(groupConfig(m_plan), *this)
    , m_logs(io)
    , m_boards(static_cast<size_t>(m_plan.localRanks))
    , m_outOfMemoryKills(outOfMemoryKills()) {
    m_state.supervisor = identify(::getpid());
    m_state.boot = bootId();
    m_state.machine = machineId();
    m_state.attempt = static_cast<int32_t>(m_plan.attempt);
    m_state.nodeIndex = static_cast<int32_t>(m_plan.nodeIndex);
}

Attempt::~Attempt() = default;

Result<void> Attempt::begin(uint64_t appliedBefore) {
    m_state.appliedBefore = appliedBefore;
    RM_ASSIGN_OR_RETURN(m_journal, beginNodeJournal(".", m_plan.nodeIndex, m_plan.attempt));
    m_journal->keepSynced();
    for (const Record& record : std::exchange(m_early, {}))
        m_journal->append(record);
    return {};
}

Result<void> Attempt::launch() {
    const Result<void> spawned = spawnRanks();
    if (!spawned) {
        abandonRanks();
        return spawned;
    }
    watchLogs(m_logStarts);
    recordStart();
    for (int i = 0; i < m_plan.localRanks; ++i)
        watchRank(i);
    return {};
}

void Attempt::failToStart(const Error& why) {
    m_end = AttemptEnded{
        m_state.attempt, Outcome::kFailed, -1, static_cast<int32_t>(exitCodeFor(why.code)),
        wallNowNs(),     why.message};
    saveState();
}

void Attempt::adopt(const AgentState& state) {
    // The agent before ended between the plan of this attempt and the note of its ranks.
    if (state.attempt != m_plan.attempt ||
        static_cast<int64_t>(state.ranks.size()) != m_plan.localRanks)
        return failToStart(
            {ErrorCode::kUnavailable, "the agent of " + nameOfNode(m_plan, m_plan.nodeIndex) +
                                          " was gone before it had noted its ranks"});
    m_state = state;
    m_state.supervisor = identify(::getpid());
    for (const AgentState::Rank& rank : state.ranks) {
        m_processes.push_back(RankProcess::adopt(rank.exited ? ProcessId{} : rank.process));
        m_logStarts.push_back(0);
    }
    watchLogs({});
    const Moment now = Moment::now();
    for (int i = 0; i < m_plan.localRanks; ++i)
        if (state.ranks[i].exited)
            m_group.onEarlierExit(i, exitOf(state.ranks[i]), now);
    journal(Event{-1, -1, now.wallNs, Severity::kWarning, "agent-replaced",
                  "the agent of " + nameOfNode(m_plan, m_plan.nodeIndex) +
                      " was gone; another one took over its ranks"});
    flush();
    saveState();
    for (int i = 0; i < m_plan.localRanks; ++i)
        watchRank(i);
}

PeerStatus Attempt::status() {
    PeerStatus status;
    status.node = static_cast<int32_t>(m_plan.nodeIndex);
    status.ranks = static_cast<int32_t>(m_plan.localRanks);
    status.attempt = static_cast<int32_t>(m_plan.attempt);
    status.hasEnded = hasEnded();
    status.isFailing = m_group.isFailing();
    if (m_end)
        status.end = *m_end;
    std::optional<int64_t> least;
    for (int i = 0; i < m_plan.localRanks; ++i) {
        const auto board = statusOf(i);
        const bool isOurs = board && board->attempt == m_plan.attempt;
        least = std::min(least.value_or(INT64_MAX), isOurs ? board->step : 0);
        status.isBusy = status.isBusy || (isOurs && mayTakeLong(seenRank(i, *board, false)));
    }
    status.step = least.value_or(0);
    status.hasObeyed = m_group.hasObeyed();
    status.patienceNs = m_hangs.limitNs();
    if (!m_end)
        status.hang = hang();
    return status;
}

void Attempt::end(const EndOrder& order, Moment now) {
    if (order.attempt != m_plan.attempt || hasEnded())
        return;
    m_group.end(order.kill, order.why, now);
    tick(now);
}

void Attempt::endForOthers(const std::string& why, Moment now) {
    m_group.end(false, why, now); // the first reason counts, and it is not of this node
    m_group.end(true, why, now);
    tick(now);
}

void Attempt::preempt() {
    for (int i = 0; i < static_cast<int>(m_processes.size()); ++i)
        if (!m_group.hasExited(i))
            m_processes[i].terminate();
}

void Attempt::tick(Moment now) {
    m_group.tick(now);
    for (const Record& record : m_group.takeRecords()) {
        if (const auto* end = std::get_if<AttemptEnded>(&record))
            m_end = *end; // written when it is known whether another attempt follows
        else
            journal(record);
    }
    flush();
}

void Attempt::terminate(int localRank) {
    m_processes[localRank].terminate();
}

void Attempt::kill(int localRank) {
    if (localRank < static_cast<int>(m_processes.size())) // else none could be started
        m_processes[localRank].killGroup();
}

/// kNotFound: rank 0 has not made it in this attempt (yet).
Result<Board> Attempt::boardOfRankZero() {
    Result<Board> board = Board::open(boardPath(0));
    if (board && (board->status().attempt != m_plan.attempt || hasEnded()))
        return fail(ErrorCode::kNotFound, "the board is of another attempt");
    return board;
}

Result<bool> Attempt::post(const Command& command) {
    Result<Board> board = boardOfRankZero();
    if (!board)
        return board.error().code == ErrorCode::kNotFound ? Result<bool>(false)
                                                          : tl::unexpected(board.error());
    return board->postCommand(command);
}

bool Attempt::isPosted(const std::string& id) {
    const std::optional<Command> command = posted();
    return command && command->id == id;
}

std::optional<Command> Attempt::posted() {
    const Result<Board> board = boardOfRankZero();
    return board ? board->pendingCommand() : std::nullopt;
}

Result<void> Attempt::spawnRanks() {
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

void Attempt::abandonRanks() {
    for (RankProcess& process : m_processes) {
        process.killGroup();
        pollfd gone{process.pidfd(), POLLIN, 0};
        ::poll(&gone, 1, 5000);
        process.reap();
    }
}

void Attempt::recordStart() {
    for (int i = 0; i < m_plan.localRanks; ++i) {
        const auto rank = static_cast<int32_t>(m_plan.firstRank + i);
        m_state.ranks.push_back({rank, m_processes[i].id(), false, 0, 0});
        journal(RankStarted{m_state.attempt, rank, m_processes[i].id().pid, wallNowNs()});
    }
    flush();
    saveState();
}

void Attempt::watchLogs(const std::vector<uint64_t>& begins) {
    std::vector<std::string> logs;
    for (int i = 0; i < m_plan.localRanks; ++i)
        logs.push_back(logPath(static_cast<int>(m_plan.firstRank) + i));
    m_logs.watch(logs, begins);
}

void Attempt::watchRank(int localRank) {
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

void Attempt::onRankReadable(int localRank) {
    std::optional<ChildStatus> status = m_processes[localRank].reap();
    if (!status)
        return lookAgain(localRank);
    m_watches[localRank]->close();
    m_logs.look();
    AgentState::Rank& state = m_state.ranks[localRank];
    if (!status->isKnown)
        status = lastWordOf(".", state.rank, m_state.attempt);
    status->outOfMemory = status->signal == SIGKILL && isMemoryShort();
    const ChildStatus recorded = m_group.onChildExit(
        localRank, *status, logTail(logPath(state.rank), m_logStarts[localRank]), Moment::now());
    state.exited = true;
    state.exitCode = recordedCode(recorded);
    state.signal = recorded.signal;
    tick(Moment::now());
    saveState();
    m_rankEnded();
}

/// A debugger, or a reader of its stack, keeps a dead rank from its parent until it lets go.
void Attempt::lookAgain(int localRank) {
    auto timer = std::make_shared<asio::steady_timer>(m_io, kTracedPause);
    std::weak_ptr<int> alive = m_alive;
    timer->async_wait([this, timer, alive, localRank](asio::error_code error) {
        if (!error && !alive.expired())
            onRankReadable(localRank);
    });
}

void Attempt::sample(Moment now) {
    m_logs.look();
    std::vector<SampledRank> ranks;
    std::vector<SeenRank> seen;
    for (int i = 0; i < m_plan.localRanks; ++i) {
        if (m_group.hasExited(i))
            continue;
        const int32_t rank = m_state.ranks[i].rank;
        if (capLog(logPath(rank)).value_or(false)) {
            m_logStarts[i] = 0;
            journal(Event{rank, -1, now.wallNs, Severity::kWarning, "log-emptied",
                          "the log of this rank was emptied on its node, as it had " +
                              std::to_string(kMostLogBytes >> 20) + " MiB"});
        }
        const auto status = statusOf(i);
        ranks.push_back({rank, i, m_processes[i].id().pid, status ? status->step : 0});
        if (status)
            seen.push_back(seenRank(rank, *status, isStopped(m_processes[i].id())));
    }
    for (const Record& record : m_sampler.sample(ranks, now))
        journal(record);
    watchHangs(seen, now);
    flush();
}

void Attempt::watchHangs(const std::vector<SeenRank>& ranks, Moment now) {
    const std::vector<Record> news = m_hangs.look(ranks, now);
    for (const Record& record : news)
        journal(record);
    if (news.empty() || !m_hangs.hang() || m_hangs.hang()->named.empty())
        return;
    const SeenRank& named = m_hangs.hang()->named.front();
    const int localRank = named.rank - m_state.ranks.front().rank;
    std::weak_ptr<int> alive = m_alive;
    m_stacks.read(m_processes[localRank].id().pid, [this, alive, named](const std::string& text) {
        if (alive.expired())
            return; // it is another attempt's now
        journal(Event{named.rank, named.step, wallNowNs(), Severity::kWarning, "rank-stack",
                      "rank " + std::to_string(named.rank) + " is here: " + text});
    });
}

/// The hang as the leader is told of it. The leader ends a sure hang at once, and a dead rank has
/// no stack: while one is being read, no hang is sure.
PeerStatus::Hang Attempt::hang() const {
    const std::optional<Hang>& seen = m_hangs.hang();
    if (!seen)
        return {};
    // A person looks at one that a debugger stopped.
    const auto isTracedHere = [this](const SeenRank& rank) {
        return isTraced(m_processes[rank.rank - m_state.ranks.front().rank].id());
    };
    const bool isSure = seen->cause == Hang::Cause::kStopped && !m_stacks.isReading() &&
                        std::ranges::none_of(seen->named, isTracedHere);
    return {true, isSure, seen->named.empty() ? -1 : seen->named.front().rank,
            m_hangs.limitsPassed(),
            describeHang(*seen, nameOfNode(m_plan, m_plan.nodeIndex), monotonicNowNs())};
}

/// nullopt: the rank has no board yet.
std::optional<Board::Status> Attempt::statusOf(int localRank) {
    std::optional<Board>& board = m_boards[localRank];
    if (!board) {
        Result<Board> opened =
            Board::open(boardPath(static_cast<int>(m_plan.firstRank) + localRank));
        if (!opened)
            return std::nullopt;
        board = std::move(*opened);
    }
    return board->status();
}

bool Attempt::isMemoryShort() {
    const int64_t before = std::exchange(m_outOfMemoryKills, outOfMemoryKills());
    return before >= 0 && m_outOfMemoryKills > before;
}

void Attempt::journal(const Record& record) {
    if (m_journal)
        m_journal->append(record);
    else if (!m_isOver)
        m_early.push_back(record);
}

void Attempt::flush() {
    const Result<void> flushed = m_journal ? m_journal->flush() : Result<void>();
    if (!flushed && !m_isJournalStuck)
        std::fprintf(stderr, "%s; tried again each second\n", flushed.error().message.c_str());
    m_isJournalStuck = !flushed;
}

void Attempt::saveState() {
    const Result<void> saved = saveAgentState(".", m_state);
    if (!saved && m_isStateSaved)
        std::fprintf(stderr, "%s\n", saved.error().message.c_str());
    m_isStateSaved = saved.has_value();
}

void Attempt::writeEnd(bool resumes) {
    m_end->resumes = resumes;
    journal(*m_end);
    flush();
}

void Attempt::markAwaited() {
    if (!std::exchange(m_isAwaited, true))
        writeEnd(true);
}

void Attempt::close(std::optional<Outcome> requested, const std::string& why) {
    if (requested) {
        *m_end = endedOnRequest(*m_end, *requested, why);
    } else if (!why.empty()) {
        m_end->message += "; " + why;
    }
    m_end->wallNs = wallNowNs();
    writeEnd(false);
    m_state.ended = true;
    m_state.outcome = m_end->outcome;
    saveState();
    m_isOver = true;
    m_logs.stop();
}

void Attempt::retire() {
    markAwaited();
    m_isOver = true;
    m_logs.stop();
}

Result<void> Attempt::writeRest() {
    if (!m_journal && !m_early.empty())
        RM_RETURN_IF_ERROR(begin(m_state.appliedBefore));
    if (m_journal)
        RM_RETURN_IF_ERROR(m_journal->flush());
    // The state of an attempt that another one follows is the next one's to write.
    if (m_state.ended && !m_isStateSaved)
        RM_RETURN_IF_ERROR(saveAgentState(".", m_state));
    m_isStateSaved = true;
    // A kernel that failed to write once may call the next try a success: it is tried once.
    if (const Result<void> synced = m_journal ? m_journal->sync() : Result<void>(); !synced)
        std::fprintf(stderr, "%s\n", synced.error().message.c_str());
    m_journal.reset();
    return {};
}

} // namespace rm
