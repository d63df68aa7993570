// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/memory/estimate.h"

#include <string>

namespace rm {

/// The largest micro-batch that fits.
struct FoundBatch {
    std::string key; ///< of the spec
    int64_t value = 0;
    int64_t bytes = 0; ///< into which it fits
    MemoryEstimate estimate;
};

/// The largest micro-batch whose rank needs no more than `bytes`, from `forecast` on. kExhausted:
/// one sample alone needs more. LibTorch's exceptions come through.
Result<FoundBatch> findBatch(const RunSpec& spec, const DataSizes& sizes, int ranks,
                             const Device& device, MemoryForecast forecast, int64_t bytes);

/// What of so much free memory is to be planned with: the estimate is within a tenth.
int64_t safeShare(int64_t freeBytes);

/// The spec with the accumulation that train.global_batch asks for on so many ranks.
RunSpec withAccumulation(RunSpec spec, int ranks);

/// What a person can change so that a rank needs no more than `bytes`: the micro-batch that would
/// fit, by findBatch(), or that none does. LibTorch's exceptions come through.
std::string whatWouldFit(const RunSpec& spec, const DataSizes& sizes, int ranks,
                         const Device& device, MemoryForecast forecast, int64_t bytes);

/// The same where no micro-batch would. `isModel`: as weights, gradients and optimizer alone need
/// more.
std::string whatNeedsLess(const RunSpec& spec, int ranks, bool isModel = false);

/// For a rank that ran out of memory and let go of it: what it needs, what is free, and what fits.
/// Empty when that cannot be told. Never throws.
std::string memoryAdvice(const RunSpec& spec, int ranks, int localRanks, const Device& device);

/// "3.1 MiB"
std::string bytesText(int64_t bytes);

} // namespace rm
