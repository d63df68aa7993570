// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/telemetry/telemetry.h"

#include "shared/enforce.h"
#include "shared/io/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>

namespace rm {

Telemetry::Telemetry(JournalWriter journal, int rank)
    : m_journal(std::move(journal))
    , m_rank(rank) {
    m_journal.keepSynced();
    m_thread = std::thread([this] { drainLoop(); });
}

Telemetry::~Telemetry() {
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_one();
    m_thread.join();
}

void Telemetry::alsoNoteCommands(JournalWriter journal) {
    const std::scoped_lock lock(m_mutex);
    m_commands = std::move(journal);
}

void Telemetry::log(const MetricDef& own, double value) {
    if (own.scope != MetricScope::kRun || m_rank == 0)
        m_ownValues[idOf(own)] = static_cast<float>(value);
}

/// Derived from the name, so that all ranks give a metric the same id, whatever they log in which
/// order.
MetricId Telemetry::idOf(const MetricDef& own) {
    const auto known = m_ownIds.find(own.name);
    if (known != m_ownIds.end())
        return known->second;
    RM_ENFORCE(isValidMetricName(own.name) && !findBuiltinMetric(own.name));
    constexpr uint64_t kIds = kRegistered - metric::kFirstUser;
    RM_ENFORCE(m_ownIds.size() < kIds);
    uint64_t place = XXH3_64bits(own.name.data(), own.name.size()) % kIds;
    const auto idAt = [](uint64_t at) { return static_cast<MetricId>(metric::kFirstUser + at); };
    while (std::ranges::any_of(m_ownIds,
                               [&](const auto& other) { return other.second == idAt(place); }))
        place = (place + 1) % kIds;
    const MetricId id = idAt(place);
    size_t index = 0;
    {
        const std::scoped_lock lock(m_mutex);
        index = m_own.size();
        m_own.push_back(own);
        m_own.back().id = id;
        m_own.back().clock = MetricClock::kStep;
    }
    // Through the same ring as its values, so that none is written before it.
    put({static_cast<int64_t>(index), 0.0f, kRegistered});
    m_ownIds.emplace(own.name, id);
    return id;
}

void Telemetry::endStep(int64_t step, bool withOwn) {
    if (withOwn) {
        for (const auto& [id, value] : m_ownValues)
            push(id, value);
        m_ownValues.clear();
    }
    // The time is a separate item, so that items stay at 16 bytes.
    put({wallNowNs(), 0.0f, kWallTime});
    put({step, 0.0f, kEndOfStep});
}

void Telemetry::append(Record record) {
    {
        const std::scoped_lock lock(m_mutex);
        m_records.push_back(std::move(record));
        m_hurry = true;
    }
    m_wake.notify_one();
}

void Telemetry::flush() {
    std::unique_lock lock(m_mutex);
    const uint64_t mine = ++m_flushAsked;
    m_wake.notify_one();
    m_flushed.wait(lock, [&] { return m_flushDone >= mine; });
}

void Telemetry::waitForRoom(const Item& item) {
    do {
        {
            const std::scoped_lock lock(m_mutex);
            m_hurry = true;
        }
        m_wake.notify_one();
        std::this_thread::yield();
    } while (!m_ring.push(item));
}

void Telemetry::drainLoop() {
    bool complained = false;
    bool stop = false;
    while (!stop) {
        std::vector<Record> records;
        uint64_t asked = 0;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, std::chrono::milliseconds(kFlushMs),
                            [&] { return m_stop || m_hurry || m_flushAsked > m_flushDone; });
            m_hurry = false;
            stop = m_stop;
            asked = m_flushAsked;
            records.swap(m_records);
        }
        drainOnce(records);
        const auto flushed = m_journal.flush();
        if (!flushed && !complained)
            std::fprintf(stderr, "warning: %s (kept in memory, tried again)\n",
                         flushed.error().message.c_str());
        complained = !flushed;
        {
            const std::scoped_lock lock(m_mutex);
            m_flushDone = asked;
        }
        m_flushed.notify_all();
    }
}

void Telemetry::drainOnce(std::vector<Record>& records) {
    // Values first, so that a command's record follows the step after which it took effect.
    for (Item item; m_ring.pop(item);)
        take(item);
    bool hasCommands = false;
    for (const Record& record : records) {
        m_journal.append(record);
        if (m_commands && std::holds_alternative<CommandApplied>(record)) {
            m_commands->append(record);
            hasCommands = true;
        }
    }
    // First, as whoever sees the journal grow then looks there. It is tried again with the next.
    if (hasCommands)
        (void)m_commands->flush();
}

void Telemetry::take(const Item& item) {
    if (item.metric == kWallTime) {
        m_open.wallNs = item.step;
    } else if (item.metric == kRegistered) {
        const std::scoped_lock lock(m_mutex);
        m_journal.append(MetricRegistered{m_own[static_cast<size_t>(item.step)]});
    } else if (item.metric == kEndOfStep) {
        m_open.rank = m_rank;
        m_open.step = item.step;
        m_journal.append(m_open);
        m_open.metric.clear();
        m_open.value.clear();
    } else {
        m_open.metric.push_back(item.metric);
        m_open.value.push_back(item.value);
    }
}

} // namespace rm
