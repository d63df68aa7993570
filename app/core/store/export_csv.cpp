// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace rm {

namespace {

/// Unix seconds with microseconds, rounded down, without a detour over floating point.
std::string secondsText(int64_t wallNs) {
    constexpr int64_t kMicrosPerSecond = 1'000'000;
    const int64_t micros = wallNs / 1000 - (wallNs % 1000 < 0);
    int64_t seconds = micros / kMicrosPerSecond;
    int64_t rest = micros % kMicrosPerSecond;
    const bool negative = micros < 0;
    if (negative) {
        seconds = -seconds;
        rest = -rest;
    }
    char text[48];
    std::snprintf(text, sizeof text, "%s%lld.%06lld", negative ? "-" : "",
                  static_cast<long long>(seconds), static_cast<long long>(rest));
    return text;
}

/// The shortest text that reads back as the same float.
std::string valueText(float value) {
    if (std::isnan(value))
        return "nan";
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

} // namespace

Result<int64_t> exportCsv(StoreReader& reader, const QString& run, std::ostream& out) {
    const std::string attempt = "export run " + run.toStdString();
    const auto snapshot = reader.snapshot();
    if (!reader.run(run))
        return fail(ErrorCode::kNotFound, attempt + ": there is none");
    int64_t rows = 0;
    out << "metric,rank,step,wall_time,value\n";
    for (const SeriesKey& key : reader.series(run)) {
        const std::string head = key.metric + "," + std::to_string(key.rank) + ",";
        const auto write = [&](std::span<const Point> points) {
            for (const Point& point : points)
                out << head << point.step << ',' << secondsText(point.wallNs) << ','
                    << valueText(point.value) << '\n';
            rows += static_cast<int64_t>(points.size());
        };
        if (!reader.visitPoints(run, key, INT64_MIN, INT64_MAX, write))
            return fail(ErrorCode::kCorrupt, attempt + ": stored samples cannot be read");
        if (!out)
            return failErrno(attempt + ": write", errno);
    }
    out.flush();
    if (!out)
        return failErrno(attempt + ": write", errno);
    return rows;
}

} // namespace rm
