// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/telemetry/backlog.h"

#include "shared/counted.h"
#include "shared/io/clock.h"

#include <utility>

namespace rm {
namespace {

constexpr size_t kOwnRoom = 8 << 20; ///< bytes, for records that are no samples
constexpr const char* kGapEvent = "journal-gap";

/// The approximate bytes of memory that a record takes.
size_t bytesOf(const Record& record) {
    size_t bytes = sizeof(Record);
    if (const auto* samples = std::get_if<Samples>(&record))
        bytes += samples->metric.size() * (sizeof(MetricId) + sizeof(float));
    else if (const auto* text = std::get_if<SampleText>(&record))
        bytes +=
            text->prompt.size() + text->text.size() + text->reference.size() + text->picture.size();
    else if (const auto* matrix = std::get_if<ConfusionMatrix>(&record))
        bytes += matrix->counts.size() * sizeof(uint32_t) + matrix->names.size() * sizeof(Record);
    else if (const auto* trace = std::get_if<TraceRecorded>(&record))
        bytes += trace->slices.size() * sizeof(TraceSlice);
    else if (const auto* event = std::get_if<Event>(&record))
        bytes += event->message.size();
    return bytes;
}

} // namespace

void Backlog::add(std::vector<Record> records) {
    for (Record& record : records) {
        const size_t bytes = bytesOf(record);
        if (!hasRoomFor(record, bytes)) {
            drop(record);
            continue;
        }
        reportGap();
        push(std::move(record), bytes);
    }
}

bool Backlog::hasRoomFor(const Record& record, size_t bytes) const {
    const bool isSample = std::holds_alternative<Samples>(record) ||
                          std::holds_alternative<SampleText>(record) ||
                          std::holds_alternative<ConfusionMatrix>(record) ||
                          std::holds_alternative<TraceRecorded>(record);
    // An open gap is closed once there is room again, and not for each record that comes between.
    const size_t most = m_gap.records > 0 ? m_mostBytes / 2 : m_mostBytes;
    return m_bytes + bytes <= (isSample ? most : m_mostBytes + kOwnRoom);
}

void Backlog::drop(const Record& record) {
    ++m_dropped;
    ++m_gap.records;
    const auto* samples = std::get_if<Samples>(&record);
    if (!samples)
        return;
    if (m_gap.firstStep < 0)
        m_gap.firstStep = samples->step;
    m_gap.lastStep = samples->step;
}

void Backlog::reportGap() {
    if (m_gap.records == 0)
        return;
    const Gap gap = std::exchange(m_gap, {});
    const bool isOne = gap.records == 1;
    std::string what =
        counted(static_cast<int64_t>(gap.records), "record was dropped", "records were dropped");
    if (gap.firstStep >= 0 && gap.firstStep == gap.lastStep)
        what += ", of step " + std::to_string(gap.firstStep);
    else if (gap.firstStep >= 0)
        what +=
            ", of steps " + std::to_string(gap.firstStep) + " to " + std::to_string(gap.lastStep);
    Event event{m_rank,
                gap.firstStep,
                wallNowNs(),
                Severity::kWarning,
                kGapEvent,
                what + ": the journal of rank " + std::to_string(m_rank) +
                    " could not be written for too long; training went on without " +
                    (isOne ? "it" : "them")};
    const size_t bytes = bytesOf(event);
    push(std::move(event), bytes);
}

void Backlog::push(Record record, size_t bytes) {
    m_records.push_back(std::move(record));
    m_bytes += bytes;
}

std::vector<Record> Backlog::take(size_t bytes) {
    std::vector<Record> taken;
    for (size_t sum = 0; !m_records.empty() && (taken.empty() || sum < bytes);) {
        const size_t size = bytesOf(m_records.front());
        sum += size;
        m_bytes -= size;
        taken.push_back(std::move(m_records.front()));
        m_records.pop_front();
    }
    return taken;
}

void Backlog::close() {
    reportGap();
}

} // namespace rm
