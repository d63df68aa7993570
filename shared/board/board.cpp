// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"

#include "shared/board/page.h"
#include "shared/enforce.h"
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace rm {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

// Written with write(2), so that a full disk is an error here instead of a SIGBUS later.
Result<void> writeFreshPage(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    const BoardPage page;
    return writeAll(file.get(), std::as_bytes(std::span(&page, 1)), path);
}

Result<void> replaceWithFreshPage(const std::string& path) {
    const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
    auto done = writeFreshPage(temporary);
    if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
        done = failErrno("create " + path, errno);
    if (!done)
        ::unlink(temporary.c_str());
    return done;
}

Result<BoardPage*> mapPage(const std::string& path, bool isRead) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, isRead ? O_RDONLY : O_RDWR));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0)
        return failErrno("open " + path, errno);
    if (!S_ISREG(info.st_mode) || info.st_size != off_t(sizeof(BoardPage)))
        return fail(ErrorCode::kCorrupt, "open " + path + ": not a board page");
    void* memory = ::mmap(nullptr, sizeof(BoardPage), isRead ? PROT_READ : PROT_READ | PROT_WRITE,
                          MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED)
        return failErrno("map " + path, errno);
    return static_cast<BoardPage*>(memory);
}

Result<void> checkLayout(const BoardPage& page, const std::string& path) {
    if (std::memcmp(page.magic, kBoardMagic, sizeof page.magic) != 0)
        return fail(ErrorCode::kCorrupt, "open " + path + ": not a board page");
    if (page.version == kBoardVersion)
        return {};
    const bool newer = page.version > kBoardVersion;
    return fail(newer ? ErrorCode::kTooNew : ErrorCode::kCorrupt,
                "open " + path + ": board layout " + std::to_string(page.version) +
                    ", this release has " + std::to_string(kBoardVersion));
}

// The page may hold anything.
std::optional<ErrorCode> problemOf(const BoardPage& page) {
    const uint32_t stored = page.journalProblem.load(std::memory_order_relaxed);
    if (stored == 0)
        return std::nullopt;
    const bool isKnown = stored <= 1 + uint32_t(ErrorCode::kInternal);
    return isKnown ? ErrorCode(stored - 1) : ErrorCode::kInternal;
}

/// The time now and a byte in one word.
uint64_t stamped(uint8_t value) {
    return uint64_t(coarseMonotonicNowNs() / kNsPerMs) << 8 | value;
}

int64_t sinceMs(uint64_t stamp) {
    const int64_t elapsedMs = coarseMonotonicNowNs() / kNsPerMs - int64_t(stamp >> 8);
    return std::max<int64_t>(elapsedMs, 0);
}

void clear(CollectiveCell& cell) {
    for (auto* word : {&cell.begun, &cell.ended, &cell.latest, &cell.bytes})
        word->store(0, std::memory_order_relaxed);
    cell.endsAreKnown.store(0, std::memory_order_relaxed);
}

Board::Collectives read(const CollectiveCell& cell) {
    Board::Collectives seen;
    seen.begun = cell.begun.load(std::memory_order_acquire);
    seen.ended = cell.ended.load(std::memory_order_relaxed);
    seen.endsAreKnown = cell.endsAreKnown.load(std::memory_order_relaxed) == 1;
    const uint64_t latest = cell.latest.load(std::memory_order_relaxed);
    seen.kind = CollectiveKind(uint8_t(latest));
    seen.bytes = cell.bytes.load(std::memory_order_relaxed);
    seen.sinceMs = latest ? sinceMs(latest) : 0;
    return seen;
}

} // namespace

struct Board::Impl {
    explicit Impl(BoardPage* mapped)
        : page(mapped) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() { ::munmap(page, sizeof(BoardPage)); }

    std::optional<Command> command() const;

    BoardPage* page;
};

// The page may hold anything; what does not decode as a command is ignored.
std::optional<Command> Board::Impl::command() const {
    if (page->slot.load(std::memory_order_acquire) != kSlotFull)
        return std::nullopt;
    if (page->commandSize > sizeof page->command)
        return std::nullopt;
    auto message = decodeMessage(std::span(page->command).first(page->commandSize));
    auto* command = message ? std::get_if<Command>(&*message) : nullptr;
    return command ? std::optional(std::move(*command)) : std::nullopt;
}

Board::Board() = default;
Board::Board(Board&&) noexcept = default;
Board& Board::operator=(Board&&) noexcept = default;
Board::~Board() = default;

Result<Board> Board::open(const std::string& path) {
    return mapped(path, false);
}

Result<Board> Board::view(const std::string& path) {
    return mapped(path, true);
}

Result<Board> Board::mapped(const std::string& path, bool isRead) {
    RM_ASSIGN_OR_RETURN(auto page, mapPage(path, isRead));
    Board board;
    board.m_impl = std::make_unique<Impl>(page);
    RM_RETURN_IF_ERROR(checkLayout(*page, path));
    return board;
}

Result<Board> Board::create(const std::string& path, int rank, int attempt) {
    auto board = open(path);
    if (!board) {
        RM_RETURN_IF_ERROR(replaceWithFreshPage(path));
        board = open(path);
    }
    if (!board)
        return board;
    BoardPage& page = *board->m_impl->page;
    // A command meant for an earlier attempt must not act on this one.
    if (page.attempt.load() != attempt || page.rank.load() != rank || !board->pendingCommand())
        page.slot.store(kSlotFree, std::memory_order_release);
    page.rank = rank;
    page.attempt = attempt;
    page.step = 0;
    page.lastWord = 0;
    board->setJournalState(std::nullopt, 0);
    for (CollectiveCell& cell : page.collectives)
        clear(cell);
    board->setPhase(Phase::kStarting);
    page.pid = ::getpid();
    return board;
}

void Board::setStep(int64_t step) {
    m_impl->page->step.store(step, std::memory_order_relaxed);
}

void Board::setPhase(Phase phase) {
    m_impl->page->phase.store(stamped(uint8_t(phase)), std::memory_order_relaxed);
}

void Board::beginCollective(CollectiveGroup group, CollectiveKind kind, uint64_t bytes) {
    CollectiveCell& cell = m_impl->page->collectives[size_t(group)];
    cell.bytes.store(bytes, std::memory_order_relaxed);
    cell.latest.store(stamped(uint8_t(kind)), std::memory_order_relaxed);
    cell.begun.fetch_add(1, std::memory_order_release);
}

void Board::endCollective(CollectiveGroup group) {
    m_impl->page->collectives[size_t(group)].ended.fetch_add(1, std::memory_order_relaxed);
}

void Board::countEnds(CollectiveGroup group, bool areKnown) {
    m_impl->page->collectives[size_t(group)].endsAreKnown.store(areKnown ? 1 : 0,
                                                                std::memory_order_relaxed);
}

void Board::setLastWord(int exitCode) {
    m_impl->page->lastWord.store(uint32_t(exitCode) + 1, std::memory_order_release);
}

void Board::setJournalState(std::optional<ErrorCode> problem, uint64_t droppedRecords) {
    BoardPage& page = *m_impl->page;
    page.journalProblem.store(problem ? 1 + uint32_t(*problem) : 0, std::memory_order_relaxed);
    page.droppedRecords.store(droppedRecords, std::memory_order_relaxed);
}

std::optional<Command> Board::pendingCommand() const {
    return m_impl->command();
}

void Board::commandDone() {
    m_impl->page->slot.store(kSlotFree, std::memory_order_release);
}

Board::Status Board::status() const {
    const BoardPage& page = *m_impl->page;
    const uint64_t packed = page.phase.load(std::memory_order_relaxed);
    const uint32_t lastWord = page.lastWord.load(std::memory_order_acquire);
    return {page.rank.load(),
            page.attempt.load(),
            page.pid.load(),
            page.step.load(),
            Phase(uint8_t(packed)),
            sinceMs(packed),
            lastWord ? std::optional(int(lastWord - 1)) : std::nullopt,
            problemOf(page),
            page.droppedRecords.load(),
            read(page.collectives[size_t(CollectiveGroup::kMain)]),
            read(page.collectives[size_t(CollectiveGroup::kSide)])};
}

Result<bool> Board::postCommand(const Command& command) {
    BoardPage& page = *m_impl->page;
    const auto bytes = encodeMessage(command);
    if (bytes.size() > sizeof page.command)
        return fail(ErrorCode::kInvalid, std::string("post command ") +
                                             commandKindName(command.kind) + ": larger than " +
                                             std::to_string(sizeof page.command) + " bytes");
    if (page.slot.load(std::memory_order_acquire) == kSlotFull)
        return false;
    page.commandSize = uint32_t(bytes.size());
    std::ranges::copy(bytes, page.command);
    page.slot.store(kSlotFull, std::memory_order_release);
    return true;
}

const char* phaseName(Phase phase) {
    switch (phase) {
    case Phase::kStarting:
        return "starting";
    case Phase::kData:
        return "data";
    case Phase::kForward:
        return "forward";
    case Phase::kBackward:
        return "backward";
    case Phase::kAllreduce:
        return "all-reduce";
    case Phase::kOptimizer:
        return "optimizer";
    case Phase::kValidation:
        return "validation";
    case Phase::kCheckpoint:
        return "checkpoint";
    case Phase::kHeld:
        return "held";
    case Phase::kEnding:
        return "ending";
    case Phase::kRendezvous:
        return "rendezvous";
    }
    return "unknown";
}

const char* collectiveName(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kOther:
        break;
    case CollectiveKind::kAllReduce:
        return "all-reduce";
    case CollectiveKind::kBroadcast:
        return "broadcast";
    case CollectiveKind::kAllGather:
        return "all-gather";
    case CollectiveKind::kGather:
        return "gather";
    case CollectiveKind::kReduceScatter:
        return "reduce-scatter";
    case CollectiveKind::kAllToAll:
        return "all-to-all";
    case CollectiveKind::kBarrier:
        return "barrier";
    }
    return "collective";
}

} // namespace rm
