// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"
#include "app/core/launch/progress.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace rm {

/// Adds up several simultaneous transfers of one stage, and tells their pace over the last seconds:
/// an average from the start would hide a link that slows down. Thread-safe; reports at most every
/// 100 ms, and always the end.
class TransferRate {
public:
    using Clock = std::chrono::steady_clock;

    TransferRate(QString stage, std::function<void(const Progress&)> sink,
                 std::function<Clock::time_point()> now = &Clock::now);

    void update(size_t transfer, const Transferred& transferred);

private:
    struct Moment {
        Clock::time_point when;
        int64_t done = 0, sent = 0;
    };

    Transferred sum() const;
    void remember(const Moment& moment);

    QString m_stage;
    std::function<void(const Progress&)> m_sink;
    std::function<Clock::time_point()> m_now;
    std::mutex m_mutex;
    std::map<size_t, Transferred> m_parts;
    std::deque<Moment> m_moments; ///< of the last seconds, oldest first
    Clock::time_point m_reported{};
};

} // namespace rm
