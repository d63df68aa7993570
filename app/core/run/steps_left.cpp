// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/steps_left.h"

namespace rm {

Result<void> stepsLeft(const RunSpec& spec, int64_t step) {
    if (step < spec.train.steps)
        return {};
    return fail(ErrorCode::kInvalid, "nothing is left to train from step " + std::to_string(step) +
                                         ": train.steps is " + std::to_string(spec.train.steps) +
                                         "; branch from there with more");
}

} // namespace rm
