// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace rm {

/// For tests alone: if the environment has RINGMASTER_STEP_MS=N, a step takes at least N
/// milliseconds; the rank sleeps for the rest of them. So a small model's run lasts as long on any
/// processor, and leaves it to the other tests. An agent passes on all variables whose names begin
/// with RINGMASTER_. One thread.
class Pace {
public:
    Pace();

    void begin() { m_began = std::chrono::steady_clock::now(); }
    /// Returns when the step that begin() began has taken long enough.
    void end() const;

private:
    std::chrono::milliseconds m_least{0};
    std::chrono::steady_clock::time_point m_began;
};

} // namespace rm
