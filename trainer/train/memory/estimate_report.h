// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/memory/batch_search.h"

#include <optional>
#include <string>

namespace rm {

/// The findings of `ringmaster-trainer estimate`.
struct EstimateReport {
    std::string name, device;
    int64_t ranks = 1, localRanks = 1;
    std::string batchKey; ///< "train.batch_size" and its value
    int64_t batchValue = 0;
    std::string assumed; ///< see DataSizes
    MemoryEstimate estimate;
    int64_t freeBytes = 0; ///< for one rank, now; 0: unknown
    bool isLeast = false;  ///< there was no room for a rehearsal: see leastMemory()
    std::string advice;    ///< if it does not fit and advice was asked for
    std::optional<FoundBatch> found;

    bool fits() const { return !isLeast && (freeBytes == 0 || estimate.total() <= freeBytes); }
};

std::string toText(const EstimateReport& report);
std::string toJson(const EstimateReport& report);

} // namespace rm
