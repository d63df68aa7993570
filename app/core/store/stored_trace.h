// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/trace_slices.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A trace within a run: the attempt, and the first step that it was begun for.
struct TraceId {
    int attempt = 1;
    int64_t firstStep = 0;
    bool operator==(const TraceId&) const = default;
    auto operator<=>(const TraceId&) const = default;
};

/// What is stored of a trace.
struct StoredTrace {
    TraceId id;
    int steps = 0;        ///< that were asked for
    int64_t lastStep = 0; ///< that every rank has recorded; 0: none yet
    int64_t wallNs = 0;   ///< when it began, by the clock of its first rank
    int ranks = 0;        ///< of which anything is stored
    int doneRanks = 0;    ///< that have recorded all that they will
    int64_t slices = 0;   ///< of all ranks
    bool operator==(const StoredTrace&) const = default;
};

/// What one rank did, by its own clock.
struct RankTrace {
    int rank = 0;
    std::string node;   ///< its name; empty: not known
    int64_t wallNs = 0; ///< the time at `clockNs` of the rank's clock, as its machine has it
    int64_t clockNs = 0;
    bool onDevice = false; ///< phases by events of the device, else by the host's clock
    bool isDone = false;
    std::vector<TraceSlice> slices; ///< in the order in which the rank wrote them
};

} // namespace rm
