// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"
#include "shared/wire/limits.h"

#include <cstdint>
#include <string>

namespace rm {

struct SeriesKey {
    std::string metric; ///< name
    int rank = 0;
    bool operator==(const SeriesKey&) const = default;
    auto operator<=>(const SeriesKey&) const = default;
};

struct Point {
    int64_t step = 0;
    int64_t wallNs = 0;
    float value = 0;
    bool operator==(const Point&) const = default;
};

/// One pixel's worth of a series: neighbouring points. NaN values count as gaps; infinite ones are
/// kept.
struct Bucket {
    int64_t firstStep = 0, lastStep = 0;
    int64_t wallNs = 0;                         ///< of the last point
    float min = 0, max = 0, mean = 0, last = 0; ///< of what is not NaN; NaN when nothing is
    int64_t count = 0;                          ///< of what is not NaN
};

struct StoredEvent {
    int64_t id = 0;
    int nodeIndex = 0;
    Event event;
    int attempt = 0;
};

const char* severityName(Severity severity); ///< "info", "warning", "error"

struct StoredSample {
    SampleText sample;
    int attempt = 0;
    int retiredBy = 0; ///< attempt; 0: of the living line
};

struct StoredConfusion {
    ConfusionMatrix matrix;
    int attempt = 0;
    int retiredBy = 0; ///< attempt; 0: of the living line
};

/// Bytes of one rank's log lines above which the oldest are left out.
inline constexpr auto kMostStoredLog = static_cast<int64_t>(kMostLog);

struct LogLine {
    int64_t id = 0;
    int rank = 0;
    int64_t wallNs = 0; ///< when it was written, by its node's clock, or came here: isStamped
    std::string text;   ///< escapes stripped, at most 4 KiB
    bool isStamped = false;
    Severity severity = Severity::kInfo; ///< severityOf()
    std::string node = {};               ///< its name; empty: an earlier release stored the line
};

} // namespace rm
