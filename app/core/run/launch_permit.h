// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <stop_token>

namespace rm {

/// Whether a launch may end in ranks that train: cancel() takes that away, begin() uses it up,
/// whichever comes first. Thread-safe.
class LaunchPermit {
public:
    /// For the waits of the launch.
    std::stop_token stop() const { return m_stop.get_token(); }
    bool isCancelled() const { return m_stop.stop_requested(); }

    /// False: too late, its ranks train.
    bool cancel() {
        if (!settle(Is::kCancelled))
            return false;
        m_stop.request_stop();
        return true;
    }
    /// To be called when all ranks are started. False: they are not wanted any more.
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
