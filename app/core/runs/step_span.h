// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"

#include <QString>

#include <cstdint>
#include <limits>
#include <optional>

namespace rm {

/// Steps of a run that a person looks at, both ends included.
struct StepSpan {
    static constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

    int64_t first = 0;
    int64_t last = kLast; ///< kLast: up to the newest, also when more come

    bool holds(int64_t step) const { return first <= step && step <= last; }
    bool operator==(const StepSpan&) const = default;
};

/// When steps were made: from the end of the one before them to the end of the last.
struct SpanTimes {
    int64_t firstNs = 0; ///< 0: there is none before
    int64_t lastNs = std::numeric_limits<int64_t>::max();

    bool holds(int64_t wallNs) const { return firstNs <= wallNs && wallNs <= lastNs; }
    bool operator==(const SpanTimes&) const = default;
};

/// Steps and their times.
struct TimedSpan {
    StepSpan steps;
    SpanTimes times;

    bool isWholeRun() const { return times.firstNs == 0 && steps.last == StepSpan::kLast; }
    bool operator==(const TimedSpan&) const = default;
};

/// The series from which steps and their times are read: of rank 0, without what was set aside.
SeriesKey stepSeries();

/// Those of the steps that the run has. What reaches up to its newest step has no end. kNotFound:
/// it has none of them.
Result<TimedSpan> stepsOfRun(StoreReader& reader, const QString& run, const StepSpan& span);
/// The steps that ended then. kNotFound: none did.
Result<TimedSpan> stepsOfRun(StoreReader& reader, const QString& run, const SpanTimes& times);

/// When that step was made, or the first one behind it with a sample. kNotFound: none was.
Result<int64_t> timeOfStep(StoreReader& reader, const QString& run, int64_t step);
/// The last step that had ended by then; nullopt: none had.
std::optional<int64_t> stepAt(StoreReader& reader, const QString& run, int64_t wallNs);
/// When that step was made, or the one before it; nullopt: none was.
std::optional<int64_t> timeUpTo(StoreReader& reader, const QString& run, int64_t step);

} // namespace rm
