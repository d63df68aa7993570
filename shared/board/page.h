// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rm {

inline constexpr char kBoardMagic[8] = {'R', 'M', 'B', 'O', 'A', 'R', 'D', '\0'};
inline constexpr uint32_t kBoardVersion = 1;
inline constexpr uint32_t kSlotFree = 0;
inline constexpr uint32_t kSlotFull = 1;

/// The collectives of a rank in one of its groups, on a cache line of its own.
struct alignas(64) CollectiveCell {
    std::atomic<uint64_t> begun{0};
    std::atomic<uint64_t> ended{0};
    std::atomic<uint64_t> latest{0}; ///< its begin: CLOCK_MONOTONIC ms << 8 | rm::CollectiveKind
    std::atomic<uint64_t> bytes{0};  ///< what the rank gave to the latest
    std::atomic<uint32_t> endsAreKnown{0}; ///< 0: `ended` says nothing
};

/// The page of board.h as it lies in shared memory (LAYOUT.md). Little-endian.
struct alignas(64) BoardPage {
    char magic[8] = {'R', 'M', 'B', 'O', 'A', 'R', 'D', '\0'};
    uint32_t version = kBoardVersion;
    std::atomic<int32_t> rank{0};
    std::atomic<int32_t> attempt{0};
    uint32_t reserved = 0;
    std::atomic<int64_t> pid{0};
    std::atomic<int64_t> step{0};
    std::atomic<uint64_t> phase{0}; ///< CLOCK_MONOTONIC ms << 8 | rm::Phase, so both are one word
    std::atomic<uint32_t> lastWord{0};       ///< exit code + 1; 0: not ending
    std::atomic<uint32_t> journalProblem{0}; ///< 0: none; else 1 + rm::ErrorCode
    std::atomic<uint64_t> droppedRecords{0}; ///< in this attempt

    /// On its own cache line: the rank polls it, and the agent seldom writes it.
    alignas(64) std::atomic<uint32_t> slot{kSlotFree};
    uint32_t commandSize = 0;     ///< belongs to the side that `slot` tells
    std::byte command[1024] = {}; ///< likewise; encodeMessage(Command)

    CollectiveCell collectives[2]; ///< by rm::CollectiveGroup
    std::byte unused[4096 - 1152 - 2 * sizeof(CollectiveCell)] = {};
};

static_assert(sizeof(BoardPage) == 4096);
static_assert(offsetof(BoardPage, journalProblem) == 52 &&
              offsetof(BoardPage, droppedRecords) == 56);
static_assert(offsetof(BoardPage, slot) == 64 && offsetof(BoardPage, command) == 72);
static_assert(offsetof(BoardPage, collectives) == 1152 && sizeof(CollectiveCell) == 64);
static_assert(offsetof(CollectiveCell, latest) == 16 &&
              offsetof(CollectiveCell, endsAreKnown) == 32);
static_assert(std::atomic<int32_t>::is_always_lock_free && sizeof(std::atomic<int32_t>) == 4);
static_assert(std::atomic<int64_t>::is_always_lock_free && sizeof(std::atomic<int64_t>) == 8);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

} // namespace rm
