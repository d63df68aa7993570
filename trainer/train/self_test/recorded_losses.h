// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/model/batch.h"
#include "trainer/train/model/model.h"

#include <string>
#include <vector>

namespace rm {

/// The results of a few steps.
struct FewSteps {
    std::vector<double> losses;
    int replays = 0;      ///< how often recordings were replayed
    std::string obstacle; ///< why something was not recorded
};

/// Trains `model`, which lies on `device`, for `steps` steps on the batches in turn, as the loop
/// does with one rank: recorded where the device can, or not.
FewSteps trainFewSteps(Model& model, const RunSpec& spec, const std::vector<Batch>& data,
                       const Device& device, int64_t steps, bool recorded);

} // namespace rm
