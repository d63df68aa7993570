// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace rm {

/// From and to, by the clock, in nanoseconds.
struct TimeSpan {
    int64_t firstNs = 0, lastNs = 0;
    bool operator==(const TimeSpan&) const = default;
};

/// Times in order that do not touch.
using TimeSpans = std::vector<TimeSpan>;

/// The union of `spans`, with those at most `joinNs` apart joined.
TimeSpans united(TimeSpans spans, int64_t joinNs);
/// `spans` without `holes`. Both must be results of united().
TimeSpans without(const TimeSpans& spans, const TimeSpans& holes);
/// The parts of `spans` in `window`.
TimeSpans within(const TimeSpans& spans, const TimeSpan& window);

int64_t lengthOf(const TimeSpans& spans);
/// How much of `spans` has passed at a time, and the earliest time at which that much has passed.
int64_t passedAt(const TimeSpans& spans, int64_t wallNs);
int64_t clockAt(const TimeSpans& spans, int64_t passedNs);

} // namespace rm
