// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <random>
#include <stop_token>

namespace rm {

/// Pauses between attempts to reach a host. They double from 0.2 s up to `longest`; half of each is
/// random, so that 64 nodes do not reconnect at the same moment.
class BackOff {
public:
    explicit BackOff(std::chrono::milliseconds longest)
        : m_longest(longest) {}

    std::chrono::milliseconds next();
    void reset() { m_delay = kFirst; }

private:
    static constexpr std::chrono::milliseconds kFirst{200};

    std::mt19937 m_random{std::random_device{}()};
    std::chrono::milliseconds m_longest;
    std::chrono::milliseconds m_delay = kFirst;
};

void waitUnlessStopped(const std::stop_token& stop, std::chrono::milliseconds delay);

} // namespace rm
