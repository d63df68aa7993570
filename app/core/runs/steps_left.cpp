// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/steps_left.h"

#include "app/core/findings/text.h"

namespace rm {

Result<void> stepsLeft(const RunSpec& spec, int64_t step, int64_t planned) {
    const int64_t last = knownSteps(spec).value_or(planned);
    if (step < last || last == 0)
        return {};
    const Value from{"step", std::to_string(step)}, end{"last", std::to_string(last)};
    return fail(ErrorCode::kInvalid,
                knownSteps(spec) ? say("run.no-steps-left", {from, end})
                                 : say("run.no-epochs-left",
                                       {from, {"epochs", std::to_string(spec.train.epochs)}, end}));
}

} // namespace rm
