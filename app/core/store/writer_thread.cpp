// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/writer_thread.h"

#include "app/core/store/store_writer.h"

#include <utility>

namespace rm {

namespace {
constexpr std::chrono::milliseconds kIdleBeforeWalCheckpoint(5000);
constexpr std::chrono::milliseconds kBetweenFills(20);
} // namespace

WriterThread::WriterThread(std::unique_ptr<StoreWriter> writer,
                           std::function<void(const Error&)> onFailure)
    : m_writer(std::move(writer))
    , m_onFailure(std::move(onFailure))
    , m_thread([this](std::stop_token stop) { loop(stop); }) {}

WriterThread::~WriterThread() {
    m_thread.request_stop();
    m_wake.notify_all();
}

std::future<Result<void>> WriterThread::post(Task task) {
    std::packaged_task<Result<void>(StoreWriter&)> packaged(std::move(task));
    auto answer = packaged.get_future();
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(packaged));
    }
    m_wake.notify_one();
    return answer;
}

void WriterThread::loop(std::stop_token stop) {
    bool dirty = false;
    bool mustFill = true; // the index of words
    auto patience = kIdleBeforeWalCheckpoint;
    std::unique_lock lock(m_mutex);
    for (;;) {
        const bool any = m_wake.wait_for(lock, stop, patience, [this] { return !m_tasks.empty(); });
        patience = mustFill || any ? kBetweenFills : kIdleBeforeWalCheckpoint;
        if (any) {
            auto task = std::move(m_tasks.front());
            m_tasks.pop_front();
            lock.unlock();
            task(*m_writer);
            dirty = mustFill = true;
            lock.lock();
        } else if (stop.stop_requested()) {
            break;
        } else if (mustFill) {
            lock.unlock();
            mustFill = fillLogSearch();
            lock.lock();
            dirty = true;
            patience = mustFill ? kBetweenFills : kIdleBeforeWalCheckpoint;
        } else if (dirty) {
            m_writer->checkpointWal();
            dirty = false;
        }
    }
    m_writer->checkpointWal();
}

/// False: there are no more lines, or it failed, and is tried again after the next task.
bool WriterThread::fillLogSearch() {
    const auto filled = m_writer->fillLogSearch();
    const bool failedBefore = std::exchange(m_cannotFill, !filled);
    if (!filled && !failedBefore && m_onFailure)
        m_onFailure(filled.error());
    return filled.value_or(false);
}

} // namespace rm
