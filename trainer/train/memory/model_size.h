// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/workloads/workload.h"

#include <cstdint>

namespace rm {

/// A model's parameters and buffers, in bytes.
struct ModelSize {
    int64_t parameters = 0;
    int64_t buffers = 0;
    bool operator==(const ModelSize&) const = default;
};

/// The size of the model that training would make, computed without allocating its memory. Passes
/// on LibTorch's exceptions. No other thread may make tensors meanwhile.
ModelSize modelSizeOf(const RunSpec& spec, const DataSizes& sizes, const Device& device);

} // namespace rm
