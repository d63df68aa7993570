// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/batch_feed.h"

#include "shared/return_if_error.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

namespace rm {

BatchFeed::BatchFeed(BatchSource& source, const BatchPartition& partition, int64_t rank,
                     int64_t cursor, Settings settings)
    : m_source(source)
    , m_partition(partition)
    , m_rank(rank)
    , m_cursor(cursor)
    , m_settings(std::move(settings)) {
    if (m_settings.readers == 0)
        return;
    m_slots.resize(static_cast<size_t>(heldBy(m_settings.readers)));
    for (int64_t i = 0; i < m_settings.readers; ++i)
        m_readers.emplace_back([this] { readAhead(); });
}

BatchFeed::~BatchFeed() {
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_room.notify_all();
    for (std::thread& reader : m_readers)
        reader.join();
}

BatchPartition::Share BatchFeed::shareOf(int64_t number) const {
    const int64_t step = number / m_partition.accumulation();
    return m_partition.at(m_cursor + step * m_partition.positionsPerStep(),
                          number % m_partition.accumulation(), m_rank);
}

BatchFeed::Slot BatchFeed::read(int64_t number) {
    try {
        const BatchPartition::Share share = shareOf(number);
        auto batch = m_source.read(share.first, share.count);
        if (batch && m_settings.change)
            *batch = m_settings.change(*batch);
        if (batch)
            *batch = pinned(std::move(*batch), m_settings.device);
        return {std::move(batch), nullptr};
    } catch (...) { // LibTorch's, for the thread that calls next()
        return {std::nullopt, std::current_exception()};
    }
}

void BatchFeed::readAhead() {
    const at::NoGradGuard noGrad;
    std::optional<c10::DeviceGuard> guard; // or pinning would initialize device 0 in all ranks
    if (!m_settings.device.is_cpu())
        guard.emplace(m_settings.device);
    const auto slots = static_cast<int64_t>(m_slots.size());
    std::unique_lock lock(m_mutex);
    while (true) {
        m_room.wait(lock, [&] { return m_stop || m_begun < m_taken + slots; });
        if (m_stop)
            return;
        const int64_t number = m_begun++;
        lock.unlock();
        Slot slot = read(number);
        lock.lock();
        m_slots[static_cast<size_t>(number % slots)] = std::move(slot);
        m_ready.notify_one();
    }
}

BatchFeed::Slot BatchFeed::take(int64_t number) {
    if (m_readers.empty())
        return read(number);
    std::unique_lock lock(m_mutex);
    Slot& slot = m_slots[static_cast<size_t>(number) % m_slots.size()];
    m_ready.wait(lock, [&] { return slot.isReady(); });
    Slot taken = std::exchange(slot, {});
    ++m_taken;
    lock.unlock();
    m_room.notify_one();
    return taken;
}

Result<Batch> BatchFeed::next() {
    const int64_t number = m_next++;
    Slot slot = take(number);
    if (slot.exception)
        std::rethrow_exception(slot.exception);
    if (*slot.batch && m_settings.bad)
        RM_RETURN_IF_ERROR(m_settings.bad->add(shareOf(number).count, **slot.batch));
    return std::move(*slot.batch);
}

} // namespace rm
