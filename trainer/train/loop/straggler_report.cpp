// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/straggler_report.h"

#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"

namespace rm {

StragglerReport::StragglerReport(const Training& training)
    : m_training(training)
    , m_watch(static_cast<size_t>(training.world.size())) {}

void StragglerReport::note(const std::vector<std::optional<StepTimes>>& ranks) {
    if (!m_training.world.isFirst())
        return;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        if (!ranks[rank])
            continue;
        auto& step = m_steps[ranks[rank]->step];
        step[rank] = ranks[rank]->times;
        if (step.size() < ranks.size())
            continue;
        std::vector<RankTimes> times;
        for (const auto& [each, its] : step)
            times.push_back(its);
        judge(times);
        // Of an earlier step some rank has nothing to tell.
        m_steps.erase(m_steps.begin(), m_steps.upper_bound(ranks[rank]->step));
    }
    constexpr size_t kMostSteps = 128; // twice what each rank keeps
    while (m_steps.size() > kMostSteps)
        m_steps.erase(m_steps.begin());
}

void StragglerReport::judge(const std::vector<RankTimes>& step) {
    for (const auto& [begins, straggler] : m_watch.note(step))
        m_training.session.telemetry->append(Event{straggler.rank, m_training.step, wallNowNs(),
                                                   begins ? Severity::kWarning : Severity::kInfo,
                                                   begins ? kRankSlowEvent : kRankKeepsUpEvent,
                                                   describe(straggler, begins)});
}

} // namespace rm
