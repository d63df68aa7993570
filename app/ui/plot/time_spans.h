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

/// What any of `spans` covers; what is no more than `joinNs` apart counts as one.
TimeSpans united(TimeSpans spans, int64_t joinNs);
/// What of `spans` is in none of `holes`. Both as united() gives them.
TimeSpans without(const TimeSpans& spans, const TimeSpans& holes);
/// What of `spans` is in `window`.
TimeSpans within(const TimeSpans& spans, const TimeSpan& window);

int64_t lengthOf(const TimeSpans& spans);
/// How much of `spans` has passed at a moment, and the first moment at which that much has.
int64_t passedAt(const TimeSpans& spans, int64_t wallNs);
int64_t clockAt(const TimeSpans& spans, int64_t passedNs);

} // namespace rm
