// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/stored_trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rm {

/// How the clock of a rank relates to that of another one, the reference.
struct ClockFit {
    int64_t offsetNs = 0; ///< of the rank's clock at `aroundNs`: what it is ahead
    double drift = 0;     ///< what it gains, in seconds a second
    int64_t aroundNs = 0; ///< of the rank's clock
    int collectives = 0;  ///< that it was found by; 0: by the wall clocks of the machines
    int64_t errorNs = 0;  ///< by how much a moment is misplaced, estimated; without collectives 0
    int64_t boundNs = 0;  ///< no moment is misplaced by more, if drift is right; likewise
    bool operator==(const ClockFit&) const = default;

    /// A moment of the rank's clock by the clock of the reference.
    int64_t toReference(int64_t rankNs) const;
};

/// Fits the rank's clock by the collectives that both took part in. As the result of one needs the
/// contribution of every rank, it ends on all ranks within a latency, so with e_n, r_n the ends of
/// collective n on the rank and on the reference
///
///     d_n = e_n - r_n = offset + drift * (e_n - around) + noise
///
/// 1. drift: the median of (d_m - d_n) / (e_m - e_n) over pairs that lie half of the collectives
///    apart (after Theil 1950), then three times the line of least squares through those that lie
///    within 3 standard deviations of the line before; the deviation is 1.4826 times half the width
///    of the shortest interval that holds half of what is left. Taken as 0 where it is less than
///    four times its standard error, or above 500 ppm, or by fewer than 16 collectives.
/// 2. offset: the median of what is in the shortest interval that holds a quarter of all
///    d_n - drift * (e_n - around) (after Rousseeuw's shorth): an end of which a rank is told late
///    has no influence. errorNs is half the width of the shortest interval that holds half of them,
///    or boundNs where that is less.
/// 3. No collective can end anywhere before it has begun everywhere: with b_n, c_n its begins on
///    rank and reference, max(b_n - r_n) <= offset <= min(e_n - c_n). The offset is moved into
///    these limits; boundNs is the distance to the farther one.
///
/// nullopt: they share none.
std::optional<ClockFit> fitClock(const std::vector<TraceSlice>& rank,
                                 const std::vector<TraceSlice>& reference);

/// The fit by the wall clocks, which are as good as the machines' NTP.
ClockFit fitByWallClock(const RankTrace& rank, const RankTrace& reference);

} // namespace rm
