// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/steps_left.h"

namespace rm {

Result<void> stepsLeft(const RunSpec& spec, int64_t step, int64_t planned) {
    const int64_t last = knownSteps(spec).value_or(planned);
    if (step < last || last == 0)
        return {};
    const std::string why = knownSteps(spec)
                                ? "train.steps is " + std::to_string(last)
                                : "train.epochs is " + std::to_string(spec.train.epochs) +
                                      ", which end with step " + std::to_string(last);
    return fail(ErrorCode::kInvalid, "nothing is left to train from step " + std::to_string(step) +
                                         ": " + why + "; branch from there with more");
}

} // namespace rm
