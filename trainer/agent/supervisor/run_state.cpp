// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/run_state.h"

#include "shared/amounts.h"
#include "shared/board/board.h"
#include "shared/io/clock.h"
#include "shared/journal/segment.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/hang.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace rm {

namespace {

void addBoard(const std::string& runDir, int attempt, RankState& state) {
    const Result<Board> board = Board::view(runDir + "/board/" + rankName(state.rank));
    if (!board)
        return;
    const Board::Status status = board->status();
    if (status.attempt != attempt || status.rank != state.rank)
        return;
    state.step = status.step;
    state.phase = static_cast<uint8_t>(status.phase);
    state.sinceMs = status.sinceMs;
    if (status.journalProblem)
        state.journalProblem = static_cast<uint8_t>(1 + static_cast<int>(*status.journalProblem));
    state.droppedRecords = static_cast<int64_t>(status.droppedRecords);
    state.isWaiting = seenRank(state.rank, status, false).isWaiting().value_or(false);
}

std::string wholePath(const std::string& runDir) {
    std::error_code ignored;
    const std::string whole = std::filesystem::canonical(runDir, ignored).string();
    return whole.empty() ? std::string("its folder") : whole;
}

/// RunState::noRoom where there is less than what a supervisor wants to begin an attempt, or where
/// nothing can be written.
std::string noRoomIn(const std::string& runDir) {
    const int file = ::open((runDir + "/agent.pid").c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0 && errno == EROFS)
        return wholePath(runDir) + std::string(kReadOnlyDisk);
    if (file >= 0)
        ::close(file);
    struct statvfs disk = {};
    if (::statvfs(runDir.c_str(), &disk) != 0 || disk.f_blocks == 0)
        return {};
    const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
    if (free >= kNeededRoom)
        return {};
    return wholePath(runDir) + " has " + bytesWords(static_cast<int64_t>(free)) + ", and " +
           bytesWords(kNeededRoom) + " are needed";
}

// Phases of an ordinary step count as the same.
uint8_t visiblePhase(uint8_t phase) {
    switch (static_cast<Phase>(phase)) {
    case Phase::kForward:
    case Phase::kBackward:
    case Phase::kAllreduce:
    case Phase::kOptimizer:
        return static_cast<uint8_t>(Phase::kData);
    default:
        return phase;
    }
}

} // namespace

RunState readRunState(const std::string& runDir) {
    RunState state;
    state.wallNs = wallNowNs();
    state.noRoom = noRoomIn(runDir);
    state.hasNoRoom = !state.noRoom.empty();
    state.supervised = RunLock::isHeld(runDir);
    const Result<AgentState> agent = loadAgentState(runDir);
    if (!agent)
        return state;
    state.attempt = agent->attempt;
    state.ended = agent->ended;
    state.outcome = static_cast<uint8_t>(agent->outcome);
    const bool isSameBoot = agent->boot == bootId();
    for (const AgentState::Rank& rank : agent->ranks) {
        RankState seen;
        seen.rank = rank.rank;
        seen.exitCode = rank.exitCode;
        seen.signal = rank.signal;
        if (isSameBoot && !rank.exited && isAlive(rank.process))
            seen.pid = rank.process.pid;
        seen.isStopped = seen.pid != 0 && isStopped(rank.process);
        addBoard(runDir, agent->attempt, seen);
        state.ranks.push_back(seen);
    }
    return state;
}

bool differsVisibly(const RunState& a, const RunState& b) {
    const auto isSame = [](const RankState& x, const RankState& y) {
        return x.rank == y.rank && x.pid == y.pid && x.exitCode == y.exitCode &&
               x.signal == y.signal && x.isStopped == y.isStopped &&
               x.journalProblem == y.journalProblem &&
               visiblePhase(x.phase) == visiblePhase(y.phase);
    };
    return a.hasNoRoom != b.hasNoRoom || a.waitsFor != b.waitsFor || a.attempt != b.attempt ||
           a.supervised != b.supervised || a.ended != b.ended || a.outcome != b.outcome ||
           !std::equal(a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(), isSame);
}

} // namespace rm
