// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/messages.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rm {

/// The phase that a rank is in. Stored and sent: never renumber.
enum class Phase : uint8_t {
    kStarting = 0,
    kData = 1,
    kForward = 2,
    kBackward = 3,
    kAllreduce = 4,
    kOptimizer = 5,
    kValidation = 6,
    kCheckpoint = 7,
    kHeld = 8,
    kEnding = 9,
    kRendezvous = 10,
};
const char* phaseName(Phase phase);

/// The kind of a collective. Stored: never renumber.
enum class CollectiveKind : uint8_t {
    kOther = 0,
    kAllReduce = 1,
    kBroadcast = 2,
    kAllGather = 3,
    kGather = 4,
    kReduceScatter = 5,
    kAllToAll = 6,
    kBarrier = 7,
};
const char* collectiveName(CollectiveKind kind);

/// Which group of ranks: the one of gradients and parameters, or the one that carries commands.
enum class CollectiveGroup : uint8_t { kMain = 0, kSide = 1 };

/// One rank's page in shared memory (`board/rank-00003`, 4096 bytes, LAYOUT.md). The rank writes
/// its status, the agent writes the command slot. Both sides only load and store, without waits and
/// locks. A page of another layout version is refused.
class Board {
public:
    /// The rank's side: creates or takes over the page. A command that waits for this attempt of
    /// this rank stays; one for another attempt is dropped. A page of another layout is replaced,
    /// so the agent has to reopen the page when an attempt starts.
    static Result<Board> create(const std::string& path, int rank, int attempt);
    /// The agent's side. kNotFound until the rank created it.
    static Result<Board> open(const std::string& path);
    /// For status() alone, and also on a disk that is read-only: the other methods end the process.
    static Result<Board> view(const std::string& path);

    Board(Board&&) noexcept;
    Board& operator=(Board&&) noexcept;
    ~Board();

    // The rank's side, one thread.
    void setStep(int64_t step);
    void setPhase(Phase phase); ///< stamps the coarse monotonic clock
    /// Any thread: why the journal cannot be written now, and how many records were dropped in this
    /// attempt.
    void setJournalState(std::optional<ErrorCode> problem, uint64_t droppedRecords);
    /// The command waiting, if any; it stays until commandDone(). The agent may ask, too.
    std::optional<Command> pendingCommand() const;
    void commandDone(); ///< frees the slot
    /// A collective of this rank begins. Any thread, one after the other in each group.
    void beginCollective(CollectiveGroup group, CollectiveKind kind, uint64_t bytes);
    /// The collective has ended, well or not. Any thread. Called for all collectives of a group, or
    /// for none after countEnds(group, false).
    void endCollective(CollectiveGroup group);
    void countEnds(CollectiveGroup group, bool areKnown);
    /// The last call before the process exits, so that processes other than its parent know how it
    /// ended.
    void setLastWord(int exitCode);

    // The agent's side.
    struct Collectives {
        uint64_t begun = 0; ///< in this attempt
        uint64_t ended = 0; ///< how many of these have ended, if `endsAreKnown`
        bool endsAreKnown = false;
        CollectiveKind kind = CollectiveKind::kOther; ///< the latest's
        uint64_t bytes = 0;                           ///< what this rank gave to the latest
        int64_t sinceMs = 0;                          ///< since the latest began; 0: none did
    };
    struct Status {
        int32_t rank = 0;
        int32_t attempt = 0;
        int64_t pid = 0;
        int64_t step = 0;
        Phase phase = Phase::kStarting;
        int64_t sinceMs = 0;                     ///< in this phase
        std::optional<int> lastWord;             ///< the exit code, once the rank has named it
        std::optional<ErrorCode> journalProblem; ///< kExhausted: its disk is full
        uint64_t droppedRecords = 0;             ///< in this attempt
        Collectives main, side;                  ///< by CollectiveGroup
    };
    Status status() const;
    /// False while the slot is taken; try again. kInvalid when the command does not fit (1 KiB).
    Result<bool> postCommand(const Command& command);

private:
    static Result<Board> mapped(const std::string& path, bool isRead);
    Board();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
