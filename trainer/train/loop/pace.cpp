// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/pace.h"

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

} // namespace rm
