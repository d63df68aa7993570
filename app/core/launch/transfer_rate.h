// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/progress.h"

#include <chrono>
#include <functional>
#include <map>
#include <mutex>

namespace rm {

/// Adds up the bytes of several simultaneous transfers of one stage and derives rate and time
/// left. Thread-safe; reports at most every 100 ms, and always the end.
class TransferRate {
public:
    using Clock = std::chrono::steady_clock;

    TransferRate(QString stage, std::function<void(const Progress&)> sink);

    /// `transfer` has moved `done` of `total` bytes.
    void update(size_t transfer, int64_t done, int64_t total);

private:
    struct Part {
        int64_t done = 0, total = 0;
    };

    QString m_stage;
    std::function<void(const Progress&)> m_sink;
    std::mutex m_mutex;
    std::map<size_t, Part> m_parts;
    Clock::time_point m_started = Clock::now();
    Clock::time_point m_reported{};
};

} // namespace rm
