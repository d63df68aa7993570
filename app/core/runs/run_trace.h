// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/trace_alignment.h"
#include "app/core/store/stored_trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What one rank did, by the clock of all: nanoseconds since the begin of the trace.
struct AlignedRank {
    int rank = 0;
    std::string node;
    bool onDevice = false;
    bool isDone = false;
    ClockFit clock;                 ///< against that of the first rank
    std::vector<TraceSlice> slices; ///< by begin, of several with one begin the longest first
};

/// A trace of all ranks on one clock, that of its first rank.
struct AlignedTrace {
    TraceId id;
    int64_t wallNs = 0;             ///< the time when it begins, by the first rank's machine
    int64_t endNs = 0;              ///< when the last slice ends
    std::vector<AlignedRank> ranks; ///< by rank

    bool isEmpty() const { return endNs == 0; }
    bool isDone() const;
    /// The greatest of the ranks' ClockFit::errorNs; nullopt: one clock, or one that no collective
    /// tells of.
    std::optional<int64_t> clockErrorNs() const;
};

AlignedTrace alignTrace(const TraceId& id, std::vector<RankTrace> ranks);

/// The kinds that divide a step, in the order in which they are shown.
inline constexpr std::array kTracePhases = {TraceKind::kData,       TraceKind::kForward,
                                            TraceKind::kBackward,   TraceKind::kAllReduceWait,
                                            TraceKind::kOptimizer,  TraceKind::kCheckpoint,
                                            TraceKind::kValidation, TraceKind::kBoundary};

/// What a rank's steps consist of: the mean of each of kTracePhases and of the whole step.
struct RankPhases {
    int rank = 0;
    std::string node;
    int steps = 0;
    std::array<double, kTracePhases.size()> meanNs{};
    double stepNs = 0;
};
std::vector<RankPhases> phasesOf(const AlignedTrace& trace);

/// For whom the ranks waited in a step: the one whose backward pass ended last.
struct StepWait {
    int64_t step = 0;
    int lastRank = 0;
    int firstRank = 0;   ///< that waited longest
    int64_t waitNs = 0;  ///< how long that was
    int64_t endedNs = 0; ///< when the last one's ended
    bool operator==(const StepWait&) const = default;
};
/// One row a step that at least two ranks recorded.
std::vector<StepWait> waitsOf(const AlignedTrace& trace);

/// Who was waited for most, over all steps; nullopt: nobody.
struct WaitedFor {
    int rank = 0;
    int steps = 0; ///< in which it was the last
    int ofSteps = 0;
    double meanNs = 0; ///< of the longest wait of those steps
    StepWait longest;  ///< of any
};
std::optional<WaitedFor> waitedFor(const std::vector<StepWait>& waits);

/// "rank 1 was the last in 18 of 20 steps; others waited for it up to 12.3 ms, on average 8 ms"
std::string waitedForWords(const WaitedFor& waited);
/// How well the clocks are aligned: "clocks are aligned by 80 collectives, within about 0.02 ms".
std::string clockWords(const AlignedTrace& trace);

} // namespace rm
