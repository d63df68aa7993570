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

/// How fast one transfer goes, by its last seconds: an average from the start would hide a link
/// that slows down.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    void remember(Clock::time_point now, const Transferred& transferred);
    Progress progress(const QString& stage) const;

private:
    struct Moment {
        Clock::time_point when;
        Transferred transferred;
    };
    std::deque<Moment> m_moments; ///< of the last seconds, oldest first
};

/// Adds up several simultaneous transfers of one stage, one to each node. Thread-safe; reports at
/// most every 100 ms, and always the end.
class TransferRate {
public:
    using Clock = Pace::Clock;

    /// `nodes`: the names of the transfers' ends.
    TransferRate(QString stage, std::vector<std::string> nodes,
                 std::function<void(const Progress&)> sink,
                 std::function<Clock::time_point()> now = &Clock::now);

    void update(size_t node, const Transferred& transferred);

private:
    struct Part {
        Transferred transferred;
        Pace pace;
    };

    QString m_stage;
    std::vector<std::string> m_nodes;
    std::function<void(const Progress&)> m_sink;
    std::function<Clock::time_point()> m_now;
    std::mutex m_mutex;
    std::map<size_t, Part> m_parts; ///< of those nodes that something is sent to
    Pace m_pace;                    ///< of all together
    Clock::time_point m_reported{};
};

} // namespace rm
