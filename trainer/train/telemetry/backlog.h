// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace rm {

/// The records of a rank that wait for its state disk, in order. Above `mostBytes` of memory the
/// newest samples are dropped and counted; an event then says in their place how many are missing.
/// Other records are few and have room of their own, as a checkpoint or the end of a command must
/// not be lost. Not thread-safe.
class Backlog {
public:
    Backlog(int rank, size_t mostBytes)
        : m_rank(rank)
        , m_mostBytes(mostBytes) {}

    void add(std::vector<Record> records);
    /// Takes the oldest records, about as many as `bytes` of memory hold; empty: there are none.
    std::vector<Record> take(size_t bytes);
    /// Adds the event about dropped records at the end, behind which no record follows.
    void close();

    bool isEmpty() const { return m_records.empty(); }
    uint64_t dropped() const { return m_dropped; } ///< since the rank began

private:
    bool hasRoomFor(const Record& record, size_t bytes) const;
    void drop(const Record& record);
    void reportGap();
    void push(Record record, size_t bytes);

    int m_rank;
    size_t m_mostBytes;
    std::deque<Record> m_records;
    size_t m_bytes = 0;
    uint64_t m_dropped = 0;
    struct Gap {
        uint64_t records = 0;
        int64_t firstStep = -1, lastStep = -1;
    };
    Gap m_gap; ///< since the last record that was added
};

} // namespace rm
