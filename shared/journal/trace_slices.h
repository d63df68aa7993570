// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rm {

/// What a rank does between two moments. Stored: never renumber.
enum class TraceKind : uint8_t {
    // Of the training thread; of those other than kStep no two overlap.
    kStep = 0, ///< from the begin of a step to the begin of the next
    kData = 1, ///< the phases of a step, see StepReport
    kForward = 2,
    kBackward = 3,
    kAllReduceWait = 4,
    kOptimizer = 5,
    kCheckpoint = 6, ///< saving one, as far as training waits for it
    kValidation = 7, ///< validation, and text that is generated then
    kBoundary = 8,   ///< between two steps: waiting for all ranks' answer to commands, holding
    // Collectives, from when they are handed to the backend to when their result is there.
    kAllReduce = 32,
    kReduceScatter = 33,
    kAllGather = 34,
};

bool isKnown(TraceKind kind);
bool isCollective(TraceKind kind);
const char* traceKindName(TraceKind kind); ///< "forward", "all-reduce"

struct TraceSlice {
    TraceKind kind = TraceKind::kStep;
    int64_t step = 0;
    int64_t beginNs = 0; ///< of the rank's trace clock
    int64_t durationNs = 0;
    // Of a collective alone.
    int64_t bytes = 0;  ///< of this rank's tensor
    int64_t number = 0; ///< in the trace; the same on all ranks
    bool operator==(const TraceSlice&) const = default;

    int64_t endNs() const { return beginNs + durationNs; }
};

/// The slices of one record, which encode to less than kMaxRecord.
inline constexpr size_t kMostSlicesOfRecord = 8192;

/// Appends a block: FORMAT.md, "Slices of a trace". At most kMostSlicesOfRecord (enforced).
void appendTraceSlices(std::vector<std::byte>& out, std::span<const TraceSlice> slices);

/// The slices of all blocks; those of kinds that this release does not know are left out. kCorrupt:
/// these are no whole blocks.
Result<std::vector<TraceSlice>> readTraceSlices(std::span<const std::byte> blocks);

} // namespace rm
