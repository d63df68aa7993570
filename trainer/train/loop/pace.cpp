// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/pace.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace rm {

Pace::Pace() {
    if (const char* least = std::getenv("RINGMASTER_STEP_MS"))
        m_least = std::chrono::milliseconds(std::atoi(least));
}

void Pace::end() const {
    std::this_thread::sleep_until(m_began + m_least);
}

Slowness::Slowness(int rank) {
    const char* wanted = std::getenv("RINGMASTER_SLOW");
    int which = -1, ms = 0;
    char phase[8] = {};
    int64_t from = m_from, to = m_to;
    const int read = wanted ? std::sscanf(wanted, "%d:%7[a-z]:%d:%" SCNd64 ":%" SCNd64, &which,
                                          phase, &ms, &from, &to)
                            : 0;
    if (read < 3 || which != rank)
        return;
    m_phase = phase;
    m_ms = std::chrono::milliseconds(ms);
    m_from = from;
    m_to = to;
}

void Slowness::sleep(const char* phase, int64_t step) const {
    if (m_phase == phase && m_from <= step && step <= m_to)
        std::this_thread::sleep_for(m_ms);
}

} // namespace rm
