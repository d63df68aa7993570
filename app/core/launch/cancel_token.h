// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <stop_token>

namespace rm {

/// Decides whether a launch succeeds or is cancelled: the first call of cancel() or begin() wins.
/// Thread-safe.
class CancelToken {
public:
    /// Stops the waits of the launch.
    std::stop_token stop() const { return m_stop.get_token(); }
    bool isCancelled() const { return m_stop.stop_requested(); }

    /// False: too late, begin() was called before.
    bool cancel() {
        if (!settle(Is::kCancelled))
            return false;
        m_stop.request_stop();
        return true;
    }
    /// Call it when all ranks are started. False: the launch was cancelled before.
    bool begin() { return settle(Is::kBegun); }

private:
    enum class Is { kOpen, kCancelled, kBegun };

    bool settle(Is now) {
        Is before = Is::kOpen;
        return m_is.compare_exchange_strong(before, now) || before == now;
    }

    std::atomic<Is> m_is = Is::kOpen;
    std::stop_source m_stop;
};

} // namespace rm
