// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/telemetry/telemetry.h"

#include "shared/enforce.h"
#include "shared/io/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>

namespace rm {

namespace {

constexpr size_t kBatchBytes = 1 << 20; ///< given to the kernel at once
constexpr int64_t kNsPerMs = 1'000'000;

} // namespace

Telemetry::Telemetry(JournalWriter journal, int rank, Board* board, size_t mostPending)
    : m_journal(std::move(journal))
    , m_rank(rank)
    , m_board(board)
    , m_backlog(rank, mostPending)
    , m_drainer([this] { drainLoop(); })
    , m_writer([this] { writeLoop(); }) {}

Telemetry::~Telemetry() {
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_one();
    m_drainer.join();
    m_writer.join();
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

bool Telemetry::flush(bool triesAgain) {
    std::unique_lock lock(m_mutex);
    const uint64_t mine = ++m_flushRequested;
    m_wake.notify_one();
    m_tried.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                     [&] { return m_flushDone >= mine || (!triesAgain && m_flushTried >= mine); });
    return m_flushDone >= mine;
}

std::string Telemetry::unwritten() {
    const std::scoped_lock lock(m_mutex);
    const std::string since =
        m_writtenStep > 0 ? " after step " + std::to_string(m_writtenStep) : std::string();
    return "its figures" + since + " are in its memory alone: " +
           (m_whyUnwritten.empty() ? "its disk does not answer" : m_whyUnwritten);
}

/// Returns as soon as the drain thread has run, as that needs no disk to make room.
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
    bool stop = false;
    while (!stop) {
        std::vector<Record> records;
        uint64_t requested = 0;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, std::chrono::milliseconds(kFlushMs),
                            [&] { return m_stop || m_hurry || m_flushRequested > m_flushDrained; });
            m_hurry = false;
            stop = m_stop;
            requested = m_flushRequested;
            records.swap(m_records);
        }
        // Values first, so that a command's record follows the step after which it took effect.
        std::vector<Record> samples = drainRing();
        {
            const std::scoped_lock lock(m_mutex);
            m_backlog.add(std::move(samples));
            m_backlog.add(std::move(records));
            if (stop)
                m_backlog.close();
            m_flushDrained = requested;
            m_isDrained = stop;
        }
        m_unwritten.notify_one();
    }
}

std::vector<Record> Telemetry::drainRing() {
    std::vector<Record> records;
    Item item;
    // Not more, or memory would be above its limit while training pushes faster than this pops.
    for (size_t count = 0; count < kRingItems && m_ring.pop(item); ++count)
        take(item, records);
    return records;
}

void Telemetry::take(const Item& item, std::vector<Record>& records) {
    if (item.metric == kWallTime) {
        m_open.wallNs = item.step;
    } else if (item.metric == kRegistered) {
        const std::scoped_lock lock(m_mutex);
        records.emplace_back(MetricRegistered{m_own[static_cast<size_t>(item.step)]});
    } else if (item.metric == kEndOfStep) {
        m_open.rank = m_rank;
        m_open.step = item.step;
        records.emplace_back(m_open);
        m_open.metric.clear();
        m_open.value.clear();
    } else {
        m_open.metric.push_back(item.metric);
        m_open.value.push_back(item.value);
    }
}

/// Ends once everything is written, or kPatienceMs after the last records came.
void Telemetry::writeLoop() {
    std::optional<int64_t> endsNs;
    while (true) {
        std::vector<Record> batch;
        uint64_t flush = 0;
        bool isAll = false;
        {
            std::unique_lock lock(m_mutex);
            const auto hasWork = [&] {
                return !m_backlog.isEmpty() || m_flushDrained > m_flushTried || m_isDrained;
            };
            if (m_outage)
                m_unwritten.wait_for(lock, std::chrono::milliseconds(kFlushMs));
            else
                m_unwritten.wait(lock, hasWork);
            if (!m_outage) // else the journal still has the batch before
                batch = m_backlog.take(kBatchBytes);
            isAll = m_backlog.isEmpty();
            flush = m_flushDrained;
            if (m_isDrained && !endsNs)
                endsNs = monotonicNowNs() + kPatienceMs * kNsPerMs;
        }
        const bool isWritten = write(batch);
        {
            const std::scoped_lock lock(m_mutex);
            if (isAll || !isWritten)
                m_flushTried = flush;
            if (isAll && isWritten)
                m_flushDone = flush;
        }
        m_tried.notify_all();
        if (endsNs && ((isAll && isWritten) || monotonicNowNs() >= *endsNs))
            return;
    }
}

bool Telemetry::write(const std::vector<Record>& records) {
    for (const Record& record : records) {
        m_journal.append(record);
        if (const auto* samples = std::get_if<Samples>(&record))
            m_appendedStep = std::max(m_appendedStep, samples->step);
        if (m_commands && std::holds_alternative<CommandApplied>(record))
            m_commands->append(record);
    }
    // Flushed first, as readers look there when they see the journal grow.
    auto written = m_commands ? m_commands->flush() : Result<void>();
    if (auto journal = m_journal.flush(); !journal)
        written = std::move(journal);
    if (written && m_outage) {
        reportOutage();
        written = m_journal.flush();
    }
    if (!written && !m_outage) {
        m_outage = Outage{monotonicNowNs(), written.error().message};
        std::fprintf(stderr, "warning: %s (kept in memory, tried again)\n", m_outage->why.c_str());
    }
    showState(written ? std::nullopt : std::optional(written.error().code));
    return written.has_value();
}

void Telemetry::reportOutage() {
    const int64_t ms = (monotonicNowNs() - m_outage->sinceNs) / kNsPerMs;
    m_journal.append(Event{m_rank, -1, wallNowNs(), Severity::kWarning, "disk-full",
                           m_outage->why + " for " + std::to_string(ms) +
                               " ms; what was kept in memory is written now"});
    m_outage.reset();
}

void Telemetry::showState(std::optional<ErrorCode> problem) {
    uint64_t dropped = 0;
    {
        const std::scoped_lock lock(m_mutex);
        dropped = m_backlog.dropped();
        m_whyUnwritten = m_outage ? m_outage->why : std::string();
        if (!m_outage)
            m_writtenStep = m_appendedStep;
    }
    if (m_board)
        m_board->setJournalState(problem, dropped);
}

} // namespace rm
