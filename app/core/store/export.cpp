// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/export.h"

#include "app/core/store/store_reader.h"

#include <QDateTime>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace rm {

namespace {

constexpr int kLinesAtOnce = 10'000; ///< of a log

/// Unix seconds with microseconds, rounded down, in integer arithmetic.
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

std::string timeText(int64_t wallNs) {
    return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000)
        .toString("yyyy-MM-dd HH:mm:ss")
        .toStdString();
}

template <class Write>
Result<int64_t> toFile(const QString& path, const Write& write) {
    std::ofstream file(path.toStdString(), std::ios::binary | std::ios::trunc);
    if (!file)
        return failErrno("write " + path.toStdString(), errno);
    return write(file);
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

Result<int64_t> exportCsv(StoreReader& reader, const QString& run, const QString& path) {
    return toFile(path, [&](std::ostream& file) { return exportCsv(reader, run, file); });
}

Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          std::ostream& out) {
    const std::string attempt = "export the log of " + run.toStdString();
    if (!reader.run(run))
        return fail(ErrorCode::kNotFound, attempt + ": there is no such run");
    int64_t count = 0;
    int64_t last = -1;
    for (;;) {
        const auto lines = reader.log(run, choice.rank, last, kLinesAtOnce, choice.contains);
        for (const LogLine& line : lines)
            out << timeText(line.wallNs) << "  r" << line.rank << "  " << line.text << '\n';
        out.flush();
        if (!out)
            return failErrno(attempt + ": write", errno);
        count += static_cast<int64_t>(lines.size());
        if (lines.size() < static_cast<size_t>(kLinesAtOnce))
            return count;
        last = lines.back().id;
    }
}

Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          const QString& path) {
    return toFile(path, [&](std::ostream& file) { return exportLog(reader, run, choice, file); });
}

} // namespace rm
