// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/memory/estimate.h"

#include <optional>
#include <string>

namespace rm {

/// What `ringmaster-trainer estimate` found out.
struct EstimateReport {
    /// The largest micro-batch that fits.
    struct Batch {
        std::string key; ///< of the spec
        int64_t value = 0;
        int64_t bytes = 0; ///< into which it fits
        MemoryEstimate estimate;
    };
    std::string name, device;
    int64_t ranks = 1, localRanks = 1;
    std::string batchKey; ///< "train.batch_size" and its value
    int64_t batchValue = 0;
    std::string assumed; ///< see DataSizes
    MemoryEstimate estimate;
    int64_t freeBytes = 0; ///< for one rank, now; 0: unknown
    std::optional<Batch> found;

    bool fits() const { return freeBytes == 0 || estimate.total() <= freeBytes; }
};

std::string toText(const EstimateReport& report);
std::string toJson(const EstimateReport& report);

/// "3.1 MiB"
std::string bytesText(int64_t bytes);

} // namespace rm
