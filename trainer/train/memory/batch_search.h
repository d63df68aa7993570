// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/memory/estimate.h"

#include <string>

namespace rm {

/// The largest micro-batch that fits.
struct FoundBatch {
    std::string key; ///< the key in the spec
    int64_t value = 0;
    int64_t bytes = 0; ///< the memory into which it fits
    MemoryEstimate estimate;
};

/// The largest micro-batch with which a rank needs at most `bytes`; the search starts at
/// `forecast`. kExhausted: a single sample needs more. Passes on LibTorch's exceptions.
Result<FoundBatch> findBatch(const RunSpec& spec, const DataSizes& sizes, int ranks,
                             const Device& device, MemoryForecast forecast, int64_t bytes);

/// The part of the free memory to plan with, as the estimate is accurate to a tenth.
int64_t safeShare(int64_t freeBytes);

/// The spec with the accumulation that train.global_batch needs on this number of ranks.
RunSpec withAccumulation(RunSpec spec, int ranks);

/// Advice on how a rank can need at most `bytes`: the micro-batch that would fit, by findBatch(),
/// or that none does. Passes on LibTorch's exceptions.
std::string whatWouldFit(const RunSpec& spec, const DataSizes& sizes, int ranks,
                         const Device& device, MemoryForecast forecast, int64_t bytes);

/// The advice if no micro-batch fits. `isModel`: weights, gradients and optimizer alone need more.
std::string whatNeedsLess(const RunSpec& spec, int ranks, bool isModel = false);

/// Advice for a rank that ran out of memory and has freed it: what it needs, what is free, and what
/// would fit. Empty when that cannot be estimated. Never throws.
std::string memoryAdvice(const RunSpec& spec, int ranks, int localRanks, const Device& device);

} // namespace rm
