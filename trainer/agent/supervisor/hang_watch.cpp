// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/hang_watch.h"

#include "shared/journal/event_codes.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kGapNs = 3 * kSecondNs; // between looks: this process did not run meanwhile
constexpr size_t kSteps = 200;
constexpr int64_t kMany = 10;

/// Which limit holds for what a rank does.
enum class Kind { kStep, kSection, kOpen };

Kind kindOf(Phase phase, bool isBeforeFirstStep) {
    switch (phase) {
    case Phase::kHeld:
    case Phase::kEnding:
        return Kind::kOpen;
    case Phase::kData: // also while texts are prepared
        return isBeforeFirstStep ? Kind::kSection : Kind::kStep;
    case Phase::kStarting:
    case Phase::kRendezvous:
    case Phase::kValidation:
    case Phase::kCheckpoint:
        return Kind::kSection;
    default:
        return Kind::kStep;
    }
}

/// The event at one of the ranks, or at all of them.
Event hangEvent(const Hang& hang, const std::string& node, Moment now) {
    const int32_t rank = hang.named.empty() ? -1 : hang.named.front().rank;
    return {rank,
            hang.step,
            now.wallNs,
            Severity::kWarning,
            kRankHangsEvent,
            describeHang(hang, node, now.monotonicNs)};
}

} // namespace

void HangWatch::noteStep(int64_t step, bool counts, Moment now) {
    // The first steps take longer: kernels are chosen, memory is taken. Where there were many since
    // the last look, they hardly count.
    const bool hasBegun = m_step > 0 || (m_step == 0 && step >= kMany);
    if (hasBegun && step > m_step && counts && !m_hang)
        m_times.push_back((now.monotonicNs - m_stepSinceNs) / (step - m_step));
    if (m_times.size() > kSteps)
        m_times.pop_front();
    m_step = step;
    m_stepSinceNs = now.monotonicNs;
}

/// Moves the three beginnings. `gapNs`: since the last look.
void HangWatch::noteTime(const std::vector<SeenRank>& ranks, int64_t gapNs, Moment now) {
    std::vector<Place> places;
    Kind kind = Kind::kStep;
    for (const SeenRank& rank : ranks) {
        places.emplace_back(rank.phase, rank.begun());
        kind = std::max(kind, kindOf(rank.phase, m_step <= 0));
    }
    const int64_t unseenNs = gapNs > kGapNs ? gapNs : 0;
    m_sectionSinceNs = kind == Kind::kSection && places == m_places ? m_sectionSinceNs + unseenNs
                                                                    : now.monotonicNs;
    m_places = std::move(places);
    const int64_t step = std::ranges::min_element(ranks, {}, &SeenRank::step)->step;
    std::vector<int32_t> stopped;
    for (const SeenRank& rank : ranks)
        if (rank.isStopped)
            stopped.push_back(rank.rank);
    // Several short stops may all be seen; but between them ranks get on.
    m_stoppedSinceNs =
        stopped == m_stopped && step == m_step ? m_stoppedSinceNs + unseenNs : now.monotonicNs;
    m_stopped = std::move(stopped);
    const bool counts = kind == Kind::kStep || !m_stopped.empty();
    if (step != m_step)
        noteStep(step, counts, now);
    else
        m_stepSinceNs += counts ? unseenNs : gapNs;
}

/// Since when they hang; nullopt: they do not.
std::optional<int64_t> HangWatch::hangsSince(Moment now) const {
    if (!m_stopped.empty() && now.monotonicNs - m_stoppedSinceNs >= kLeastNs)
        return std::min(m_stoppedSinceNs, m_stepSinceNs);
    if (now.monotonicNs - m_stepSinceNs >= limitNs())
        return m_stepSinceNs;
    if (now.monotonicNs - m_sectionSinceNs >= kSectionNs)
        return m_sectionSinceNs;
    return std::nullopt;
}

std::vector<Record> HangWatch::look(const std::vector<SeenRank>& ranks, Moment now) {
    const int64_t gapNs = m_lastLookNs ? now.monotonicNs - m_lastLookNs : 0;
    m_lastLookNs = now.monotonicNs;
    if (ranks.empty())
        return {};
    noteTime(ranks, gapNs, now);
    const std::optional<Hang> before = std::exchange(m_hang, std::nullopt);
    const std::optional<int64_t> sinceNs = hangsSince(now);
    if (!sinceNs) {
        if (!before)
            return {};
        return {Event{-1, m_step, now.wallNs, Severity::kInfo, kRankContinuesEvent,
                      "the ranks of " + m_node + " get on again"}};
    }
    m_hang = judgeHang(ranks);
    m_hang->sinceNs = *sinceNs;
    const bool isNews = !before || (before->named.empty() && !m_hang->named.empty());
    return isNews ? std::vector<Record>{hangEvent(*m_hang, m_node, now)} : std::vector<Record>();
}

int64_t HangWatch::limitsPassed() const {
    if (!m_hang)
        return 0;
    const bool isSection = m_hang->sinceNs == m_sectionSinceNs;
    return (m_lastLookNs - m_hang->sinceNs) / (isSection ? kSectionNs : limitNs());
}

int64_t HangWatch::limitNs() const {
    if (m_times.empty())
        return kSectionNs; // nothing is known yet
    std::vector<int64_t> sorted(m_times.begin(), m_times.end());
    std::ranges::sort(sorted);
    const int64_t p99 = sorted[(sorted.size() - 1) * 99 / 100];
    return std::max(kLeastNs, kTimes * p99);
}

} // namespace rm
