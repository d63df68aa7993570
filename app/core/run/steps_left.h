// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <cstdint>

namespace rm {

/// kInvalid: a run of this spec that goes on from `step` has nothing left to train.
Result<void> stepsLeft(const RunSpec& spec, int64_t step);

} // namespace rm
