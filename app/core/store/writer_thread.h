// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_writer.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

namespace rm {

/// The one thread that writes the database. Tasks run in the order in which they were posted;
/// what was posted before the destructor is still done. Thread-safe.
class WriterThread {
public:
    using Task = std::function<Result<void>(StoreWriter&)>;

    /// `onFailure`: hears of what fails that nobody has posted, in this thread and once until it
    /// works again.
    explicit WriterThread(std::unique_ptr<StoreWriter> writer,
                          std::function<void(const Error&)> onFailure = {});
    ~WriterThread();

    std::future<Result<void>> post(Task task);
    /// post() and wait. Never on the GUI thread.
    Result<void> call(Task task) { return post(std::move(task)).get(); }

private:
    void loop(std::stop_token stop);
    bool fillLogSearch();

    std::unique_ptr<StoreWriter> m_writer;
    std::function<void(const Error&)> m_onFailure;
    bool m_cannotFill = false; ///< the thread's: the last time failed
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<std::packaged_task<Result<void>(StoreWriter&)>> m_tasks;
    std::jthread m_thread; ///< last: starts when all the rest exists
};

} // namespace rm
