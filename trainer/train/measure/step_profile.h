// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/measures.h"
#include "trainer/train/device/device.h"
#include "trainer/train/workloads/workload.h"

#include <chrono>

namespace rm {

/// Runs steps of `spec` on this rank alone, with made-up data of the largest size, for about the
/// time of `budget`, and gives the medians of their times. The buckets are those that several ranks
/// would have. Passes on LibTorch's exceptions, also when memory runs out.
StepProfile profileStep(const RunSpec& spec, const DataSizes& sizes, const Device& device,
                        std::chrono::duration<double> budget);

} // namespace rm
