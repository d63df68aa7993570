// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <cstdint>

namespace rm {

/// Learning rate of step `step` (the first is 1) of `steps`. With w = warmupSteps, it is
/// lr * step / w up to step w, and from then on, with d = (step - w) / (steps - w), 1 at most:
///
///   constant      lr
///   step          lr * stepFactor ^ floor((step - w - 1) / stepEvery)
///   cosine        least + (lr - least) * (1 + cos(pi * d)) / 2
///   inverse-sqrt  lr * sqrt(max(w, 1) / step)
///   linear        lr + (least - lr) * d
///   wsd           lr, but over the last decaySteps steps on a line down to `least` at step `steps`
///
/// where least = min(minLr, lr). `lr` is the spec's or one set since.
double learningRate(const RunSpec::Schedule& schedule, double lr, int64_t step, int64_t steps);

} // namespace rm
