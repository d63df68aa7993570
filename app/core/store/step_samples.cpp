// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/step_samples.h"

#include "app/core/store/series.h"

#include <algorithm>

namespace rm {

std::vector<StepSample> samplesByStep(const std::vector<StoredSample>& samples) {
    std::vector<StepSample> steps;
    for (const auto& [sample, attempt, retiredBy] : samples) {
        const std::string whole = sampleWords(sample);
        const bool isMore =
            !steps.empty() && steps.back().step == sample.step && steps.back().attempt == attempt;
        if (isMore)
            steps.back().text = whole + "\n\n" + steps.back().text;
        else
            steps.push_back({sample.step, sample.wallNs, whole, attempt, retiredBy});
        steps.back().parts.push_back(sample);
    }
    for (StepSample& step : steps)
        std::ranges::reverse(step.parts);
    return steps;
}

} // namespace rm
