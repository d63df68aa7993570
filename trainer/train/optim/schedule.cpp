// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rm {
namespace {

/// How much of the way from `from` to `to` lies behind `step`: 0 to 1.
double share(int64_t step, int64_t from, int64_t to) {
    if (to <= from)
        return step > to ? 1.0 : 0.0;
    const double done = static_cast<double>(step - from) / static_cast<double>(to - from);
    return std::clamp(done, 0.0, 1.0);
}

} // namespace

double learningRate(const RunSpec::Schedule& schedule, double lr, int64_t step, int64_t steps) {
    const int64_t warmup = schedule.warmupSteps;
    if (step < warmup)
        return lr * static_cast<double>(step) / static_cast<double>(warmup);
    const double least = std::min(schedule.minLr, lr);
    const double done = share(step, warmup, steps);
    if (schedule.type == "step") {
        const int64_t drops = std::max<int64_t>(0, step - warmup - 1) / schedule.stepEvery;
        return lr * std::pow(schedule.stepFactor, static_cast<double>(drops));
    }
    if (schedule.type == "cosine")
        return least + 0.5 * (lr - least) * (1.0 + std::cos(std::numbers::pi * done));
    if (schedule.type == "inverse-sqrt") {
        const auto peak = static_cast<double>(std::max<int64_t>(warmup, 1));
        return lr * std::sqrt(peak / static_cast<double>(step));
    }
    if (schedule.type == "linear")
        return lr + (least - lr) * done;
    if (schedule.type == "wsd")
        return lr + (least - lr) * share(step, steps - schedule.decaySteps, steps);
    return lr;
}

} // namespace rm
