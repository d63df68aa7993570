// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/hang_watch.h"

#include <algorithm>

namespace rm {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kGapNs = 3 * kSecondNs; // between looks: this process did not run meanwhile
constexpr size_t kSteps = 200;

bool takesItsTime(Phase phase) {
    switch (phase) {
    case Phase::kStarting:
    case Phase::kRendezvous:
    case Phase::kValidation:
    case Phase::kCheckpoint:
    case Phase::kHeld:
    case Phase::kEnding:
        return true;
    default:
        return false;
    }
}

std::string nameOf(const HangWatch::SeenRank& rank) {
    return "rank " + std::to_string(rank.rank);
}

} // namespace

std::vector<Record> HangWatch::look(const std::vector<SeenRank>& ranks, Moment now) {
    const int64_t gapNs = m_lastLookNs ? now.monotonicNs - m_lastLookNs : 0;
    m_lastLookNs = now.monotonicNs;
    if (ranks.empty())
        return {};
    const int64_t step = std::ranges::min_element(ranks, {}, &SeenRank::step)->step;
    const bool anyStopped = std::ranges::any_of(ranks, &SeenRank::isStopped);
    const bool counts = anyStopped || std::ranges::none_of(ranks, [](const SeenRank& rank) {
                            return takesItsTime(rank.phase);
                        });
    if (step != m_step) {
        // The first steps take longer: kernels are chosen, memory is taken.
        if (m_step > 0 && step > m_step && counts && !m_isHanging)
            m_times.push_back((now.monotonicNs - m_sinceNs) / (step - m_step));
        if (m_times.size() > kSteps)
            m_times.pop_front();
        m_step = step;
        m_sinceNs = now.monotonicNs;
    } else if (!counts || gapNs > kGapNs) {
        m_sinceNs += gapNs;
    }
    const bool hangs = now.monotonicNs - m_sinceNs >= limitNs();
    if (hangs == m_isHanging)
        return {};
    m_isHanging = hangs;
    if (hangs)
        return {hangOf(ranks, now)};
    return {Event{-1, step, now.wallNs, Severity::kInfo, "rank-goes-on",
                  "the ranks of this node get on again"}};
}

int64_t HangWatch::limitNs() const {
    if (m_times.empty())
        return kTimes * kLeastNs; // nothing is known yet
    std::vector<int64_t> sorted(m_times.begin(), m_times.end());
    std::ranges::sort(sorted);
    const int64_t p99 = sorted[(sorted.size() - 1) * 99 / 100];
    return std::max(kLeastNs, kTimes * p99);
}

Event HangWatch::hangOf(const std::vector<SeenRank>& ranks, Moment now) const {
    const auto seconds = std::to_string((now.monotonicNs - m_sinceNs) / kSecondNs) + " s";
    Event event{-1, m_step, now.wallNs, Severity::kWarning, "rank-hangs", {}};
    const auto stopped = std::ranges::find_if(ranks, &SeenRank::isStopped);
    const auto newest = std::ranges::max_element(ranks, {}, &SeenRank::step);
    const auto oldest = std::ranges::min_element(ranks, {}, &SeenRank::step);
    if (stopped != ranks.end()) {
        event.rank = stopped->rank;
        event.message = nameOf(*stopped) +
                        " is stopped (SIGSTOP, or a debugger), and no step was "
                        "finished for " +
                        seconds + ": continue or kill it";
    } else if (oldest->step < newest->step) {
        event.rank = oldest->rank;
        event.message = nameOf(*oldest) + " is behind the others of this node: in " +
                        phaseName(oldest->phase) + " after step " + std::to_string(oldest->step) +
                        " for " + seconds;
    } else {
        event.message = "no rank of this node has finished a step for " + seconds + ": in " +
                        phaseName(oldest->phase) + " after step " + std::to_string(m_step) +
                        ", waiting perhaps for a rank elsewhere or a link";
    }
    return event;
}

} // namespace rm
