// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

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

/// For tests alone: if the environment has RINGMASTER_SLOW=RANK:PHASE:MS, or that with :FROM or
/// :FROM:TO behind it, that rank sleeps MS milliseconds more in each step (from FROM to TO), while
/// it waits for a batch (PHASE "data") or in the forward pass ("compute"). With several
/// micro-batches each of them takes so much longer.
class Slowness {
public:
    explicit Slowness(int rank);

    void inData(int64_t step) const { sleep("data", step); }
    void inCompute(int64_t step) const { sleep("compute", step); }

private:
    void sleep(const char* phase, int64_t step) const;

    std::string m_phase; ///< empty: it is as fast as it can
    std::chrono::milliseconds m_ms{0};
    int64_t m_from = 0, m_to = std::numeric_limits<int64_t>::max();
};

} // namespace rm
