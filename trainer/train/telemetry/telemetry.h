// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/journal.h"
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

/// Writes a rank's journal. The training thread pushes; a separate thread encodes and writes, so
/// that neither disk nor encoder delays a step. Pushed values reach the kernel within kFlushMs;
/// nothing is dropped, even when the disk is full for a while.
class Telemetry {
public:
    static constexpr int64_t kFlushMs = 50;

    Telemetry(JournalWriter journal, int rank);
    ~Telemetry(); ///< writes all that was pushed

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

    /// Waits until everything pushed so far is with the kernel.
    void flush();

private:
    struct Item {
        int64_t step; ///< of an end of step; or its time
        float value;
        MetricId metric; ///< kEndOfStep: closes a record
    };
    static constexpr MetricId kEndOfStep = 0;
    static constexpr MetricId kWallTime = 0xffff;
    static constexpr MetricId kRegistered = 0xfffe; ///< `step` is an index of m_own
    static constexpr size_t kRingItems = 1 << 16;

    void put(const Item& item);
    void waitForRoom(const Item& item);
    void drainLoop();
    void drainOnce(std::vector<Record>& records);
    void take(const Item& item);
    MetricId idOf(const MetricDef& own);

    JournalWriter m_journal;
    std::optional<JournalWriter> m_commands;
    int m_rank;
    SpscRing<Item> m_ring{kRingItems};
    Samples m_open; ///< the drain thread's
    // The training thread's.
    std::map<std::string, MetricId> m_ownIds; ///< by name
    std::map<MetricId, float> m_ownValues;    ///< since the last record that has them

    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::condition_variable m_flushed;
    std::vector<Record> m_records;
    std::vector<MetricDef> m_own; ///< registered, or about to be
    bool m_stop = false;
    bool m_hurry = false;
    uint64_t m_flushAsked = 0;
    uint64_t m_flushDone = 0;
    std::thread m_thread;
};

inline void Telemetry::put(const Item& item) {
    if (!m_ring.push(item)) [[unlikely]]
        waitForRoom(item);
}

} // namespace rm
