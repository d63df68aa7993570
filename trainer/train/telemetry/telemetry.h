// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/journal/journal.h"
#include "trainer/train/telemetry/backlog.h"
#include "trainer/train/telemetry/ring.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rm {

/// Writes a rank's journal. The training thread pushes values; a second thread makes records of
/// them and keeps these in memory, and a third writes them, so that no step waits for the disk.
/// Pushed values reach the kernel within kFlushMs. While the disk is full or hangs, up to
/// kMostPending bytes of records wait; beyond that samples are dropped and counted (Backlog). The
/// board shows both, and when the disk can be written again an event in the journal tells it.
class Telemetry {
public:
    static constexpr int64_t kFlushMs = 50;
    static constexpr size_t kMostPending = size_t{64} << 20;
    /// How long flush() waits for a disk that hangs, and the last flush for one that is full.
    static constexpr int64_t kPatienceMs = 5000;

    /// `board`: where the state of the journal is shown; it must outlive this.
    Telemetry(JournalWriter journal, int rank, Board* board = nullptr,
              size_t mostPending = kMostPending);
    /// Writes everything that was pushed, or as much as it can within kPatienceMs.
    ~Telemetry();

    /// Rank 0's: writes each CommandApplied to this journal, too. Before the first append().
    void alsoNoteCommands(JournalWriter journal);

    // The training thread alone.
    /// Adds a value to the record that endStep() closes. About 10 ns.
    void push(MetricId metric, float value) { put({0, value, metric}); }
    /// The same for a metric of the run's own, which only needs a name and a description of how to
    /// show it; its first value registers it. `own.id` and `own.clock` are ignored, as a rank's
    /// values belong to its steps. The name must be valid and not one of Ringmaster's own. Only the
    /// newest value since the last logged step is kept, and for run scope only rank 0's.
    void log(const MetricDef& own, double value);
    /// Closes a Samples record with the values pushed since the last one. `withOwn`: include the
    /// run's own metrics, which belong to the current step and not to an earlier one.
    void endStep(int64_t step, bool withOwn = true);

    /// Any thread. Records keep their order among each other.
    void append(Record record);

    /// Waits until everything pushed so far is with the kernel. False: the disk does not take it,
    /// and it is kept in memory.
    bool flush() { return flush(false); }
    /// The same before the process ends: a full disk is tried again for kPatienceMs.
    bool flushAtLast() { return flush(true); }
    /// What the disk does not take, for a sentence: "its figures after step 93 are in its memory
    /// alone: WHY". After a flush() that failed. Any thread.
    std::string unwritten();

private:
    struct Item {
        int64_t step; ///< kEndOfStep: the step; kWallTime: the time
        float value;
        MetricId metric; ///< kEndOfStep: closes a record
    };
    static constexpr MetricId kEndOfStep = 0;
    static constexpr MetricId kWallTime = 0xffff;
    static constexpr MetricId kRegistered = 0xfffe; ///< `step` is an index of m_own
    static constexpr size_t kRingItems = 1 << 16;

    void put(const Item& item);
    void waitForRoom(const Item& item);
    bool flush(bool triesAgain);
    void drainLoop();
    std::vector<Record> drainRing();
    void take(const Item& item, std::vector<Record>& records);
    void writeLoop();
    bool write(const std::vector<Record>& records);
    void reportOutage();
    void showState(std::optional<ErrorCode> problem);
    MetricId idOf(const MetricDef& own);

    JournalWriter m_journal;                 ///< the write thread's
    std::optional<JournalWriter> m_commands; ///< likewise
    int m_rank;
    Board* m_board;
    SpscRing<Item> m_ring{kRingItems};
    Samples m_open; ///< the drain thread's
    /// The write thread's: since when the disk takes nothing, and why.
    struct Outage {
        int64_t sinceNs = 0; ///< CLOCK_MONOTONIC
        std::string why;
    };
    std::optional<Outage> m_outage;
    int64_t m_appendedStep = 0; ///< the write thread's: of the last values given to the journal
    // The training thread's.
    std::map<std::string, MetricId> m_ownIds; ///< by name
    std::map<MetricId, float> m_ownValues;    ///< since the last record that has them

    std::mutex m_mutex;                  ///< guards all below
    std::condition_variable m_wake;      ///< the drain thread waits
    std::condition_variable m_unwritten; ///< the write thread waits
    std::condition_variable m_tried;     ///< flush() waits
    std::vector<Record> m_records;
    std::vector<MetricDef> m_own; ///< registered, or about to be
    Backlog m_backlog;
    bool m_stop = false;
    bool m_hurry = false;
    bool m_isDrained = false; ///< for good
    std::string m_whyUnwritten;
    int64_t m_writtenStep = 0;
    // Numbers of flushes.
    uint64_t m_flushRequested = 0;
    uint64_t m_flushDrained = 0; ///< whose records are in the backlog
    uint64_t m_flushTried = 0;   ///< given to the kernel, with or without success
    uint64_t m_flushDone = 0;
    std::thread m_drainer;
    std::thread m_writer;
};

inline void Telemetry::put(const Item& item) {
    if (!m_ring.push(item)) [[unlikely]]
        waitForRoom(item);
}

} // namespace rm
