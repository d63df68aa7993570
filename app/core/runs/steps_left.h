// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <cstdint>

namespace rm {

/// kInvalid: a run of this spec that goes on from `step` has nothing left to train. `planned`: the
/// steps that its train.epochs are, as RunSummary::totalSteps; 0: not known, which is no mistake.
Result<void> stepsLeft(const RunSpec& spec, int64_t step, int64_t planned = 0);

} // namespace rm
