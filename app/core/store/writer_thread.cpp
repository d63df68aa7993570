// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/writer_thread.h"

#include "app/core/store/store_writer.h"

namespace rm {

namespace {
constexpr auto kIdleBeforeWalCheckpoint = std::chrono::seconds(5);
}

WriterThread::WriterThread(std::unique_ptr<StoreWriter> writer)
    : m_writer(std::move(writer))
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
    std::unique_lock lock(m_mutex);
    for (;;) {
        const bool any = m_wake.wait_for(lock, stop, kIdleBeforeWalCheckpoint,
                                         [this] { return !m_tasks.empty(); });
        if (any) {
            auto task = std::move(m_tasks.front());
            m_tasks.pop_front();
            lock.unlock();
            task(*m_writer);
            dirty = true;
            lock.lock();
        } else if (stop.stop_requested()) {
            break;
        } else if (dirty) {
            m_writer->checkpointWal();
            dirty = false;
        }
    }
    m_writer->checkpointWal();
}

} // namespace rm
