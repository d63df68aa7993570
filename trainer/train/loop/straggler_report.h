// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/straggler_watch.h"
#include "trainer/train/control/control.h"
#include "trainer/train/loop/training.h"

#include <map>
#include <optional>
#include <vector>

namespace rm {

/// Rank 0: journals which ranks make the steps of all longer, and when they no longer do
/// (StragglerWatch). Other ranks do nothing.
class StragglerReport {
public:
    explicit StragglerReport(const Training& training);

    /// What ranks told of steps (Control::times()). Ranks may tell of a step at different times,
    /// each in the order of its steps.
    void note(const std::vector<std::optional<StepTimes>>& ranks);

private:
    void judge(const std::vector<RankTimes>& step);

    const Training& m_training;
    StragglerWatch m_watch;
    std::map<int64_t, std::map<size_t, RankTimes>> m_steps; ///< by step and rank: not all told yet
};

} // namespace rm
