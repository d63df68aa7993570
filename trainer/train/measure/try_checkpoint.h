// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/measures.h"
#include "trainer/train/device/device.h"
#include "trainer/train/workloads/try_input.h"

#include <string>

namespace rm {

/// What the model of the checkpoint in folder `checkpoint` makes of `input`: with the weights that
/// its run validates with, the moving average if there is one. kNotFound: there is no checkpoint.
/// kInvalid: the model takes another kind of input.
Result<TryAnswer> tryCheckpoint(const std::string& checkpoint, const TryInput& input,
                                const Device& device);

} // namespace rm
