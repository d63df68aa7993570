// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rm {

double learningRate(const RunSpec::Schedule& schedule, double lr, int64_t step, int64_t steps) {
    const int64_t warmup = schedule.warmupSteps;
    if (step < warmup)
        return lr * static_cast<double>(step) / static_cast<double>(warmup);
    if (schedule.type == "constant" || steps <= warmup)
        return lr;
    const double least = std::min(schedule.minLr, lr);
    const double done = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return least + 0.5 * (lr - least) * (1.0 + std::cos(std::numbers::pi * std::min(done, 1.0)));
}

} // namespace rm
