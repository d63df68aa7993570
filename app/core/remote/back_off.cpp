// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/back_off.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace rm {

std::chrono::milliseconds BackOff::next() {
    std::uniform_int_distribution<int64_t> jitter(m_delay.count() / 2, m_delay.count());
    const std::chrono::milliseconds delay(jitter(m_random));
    m_delay = std::min(m_delay * 2, m_longest);
    return delay;
}

void waitUnlessStopped(const std::stop_token& stop, std::chrono::milliseconds delay) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, delay, [] { return false; });
}

} // namespace rm
