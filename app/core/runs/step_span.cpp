// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/step_span.h"

#include "app/core/findings/text.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

tl::unexpected<Error> noSuchStep(int64_t step) {
    return fail(ErrorCode::kNotFound, say("run.no-such-step", {{"step", std::to_string(step)}}));
}

} // namespace

SeriesKey stepSeries() {
    return {metricName(metric::kTrainLoss), 0};
}

std::optional<int64_t> stepAt(StoreReader& reader, const QString& run, int64_t wallNs) {
    constexpr int kIndexed = 512;
    std::optional<int64_t> step;
    for (const Bucket& bucket : reader.buckets(run, stepSeries(), 0, StepSpan::kLast, kIndexed)) {
        if (bucket.wallNs <= wallNs) {
            step = bucket.lastStep;
            continue;
        }
        for (const Point& point :
             reader.points(run, stepSeries(), bucket.firstStep, bucket.lastStep))
            if (point.wallNs <= wallNs)
                step = point.step;
        break;
    }
    return step;
}

std::optional<int64_t> timeUpTo(StoreReader& reader, const QString& run, int64_t step) {
    const auto done = reader.buckets(run, stepSeries(), 0, step, 1);
    return done.empty() ? std::nullopt : std::optional(done.back().wallNs);
}

Result<int64_t> timeOfStep(StoreReader& reader, const QString& run, int64_t step) {
    const auto last = reader.lastPoint(run, stepSeries());
    for (int64_t span = 1; last && last->step >= step; span *= 16) {
        const int64_t end = std::min(last->step, step + span);
        if (const auto points = reader.points(run, stepSeries(), step, end); !points.empty())
            return points.front().wallNs;
        if (end == last->step)
            break;
    }
    return noSuchStep(step);
}

Result<TimedSpan> stepsOfRun(StoreReader& reader, const QString& run, const StepSpan& span) {
    const auto all = reader.buckets(run, stepSeries(), 0, StepSpan::kLast, 1);
    if (all.empty() || span.first > all.back().lastStep || span.last < all.front().firstStep ||
        span.first > span.last)
        return fail(ErrorCode::kNotFound, say("run.no-such-steps"));
    TimedSpan there;
    there.steps = {std::max(span.first, all.front().firstStep),
                   span.last >= all.back().lastStep ? StepSpan::kLast : span.last};
    if (there.steps.first > 0)
        there.times.firstNs = timeUpTo(reader, run, there.steps.first - 1).value_or(0);
    if (there.steps.last != StepSpan::kLast)
        there.times.lastNs = timeUpTo(reader, run, there.steps.last).value_or(there.times.lastNs);
    return there;
}

Result<TimedSpan> stepsOfRun(StoreReader& reader, const QString& run, const SpanTimes& times) {
    const StepSpan steps{stepAt(reader, run, times.firstNs).value_or(-1) + 1,
                         stepAt(reader, run, times.lastNs).value_or(-1)};
    RM_ASSIGN_OR_RETURN(TimedSpan there, stepsOfRun(reader, run, steps));
    if (there.times.firstNs != 0)
        there.times.firstNs = times.firstNs;
    if (there.steps.last != StepSpan::kLast)
        there.times.lastNs = times.lastNs;
    return there;
}

} // namespace rm
