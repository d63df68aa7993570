// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <cstdint>

namespace rm {

/// Learning rate of step `step` (the first is 1): linear from 0 over the warm-up, `lr` at its end,
/// then constant, or a half cosine down to `minLr` at step `steps`. `lr` is the spec's or one set
/// since; a `minLr` above it counts as `lr`.
double learningRate(const RunSpec::Schedule& schedule, double lr, int64_t step, int64_t steps);

} // namespace rm
