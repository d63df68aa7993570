// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/export.h"

#include "app/core/store/store_reader.h"

#include <QDateTime>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <utility>

namespace rm {

namespace {

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

template <class Write>
Result<int64_t> toFile(const QString& path, const Write& write) {
    std::ofstream file(path.toStdString(), std::ios::binary | std::ios::trunc);
    if (!file)
        return failErrno("write " + path.toStdString(), errno);
    return write(file);
}

/// A series of one of the runs.
using RunSeries = std::pair<QString, SeriesKey>;

/// The chosen ones of the runs' series; an error names the first metric of which none has any.
Result<std::vector<RunSeries>> chosenSeries(StoreReader& reader, const QStringList& runs,
                                            const SampleChoice& choice) {
    const auto isIn = [](const auto& some, const auto& one) {
        return some.empty() || std::ranges::find(some, one) != some.end();
    };
    std::vector<RunSeries> chosen;
    std::set<std::string> there;
    for (const QString& run : runs) {
        if (!reader.run(run))
            return fail(ErrorCode::kNotFound, "there is no run " + run.toStdString());
        for (const SeriesKey& key : reader.series(run)) {
            there.insert(key.metric);
            if (isIn(choice.metrics, key.metric) && isIn(choice.ranks, key.rank))
                chosen.emplace_back(run, key);
        }
    }
    for (const std::string& metric : choice.metrics)
        if (!there.contains(metric))
            return fail(ErrorCode::kNotFound, runs.size() == 1 ? "it has no samples of " + metric
                                                               : "none has samples of " + metric);
    return chosen;
}

} // namespace

Result<int64_t> exportCsv(StoreReader& reader, const QStringList& runs, std::ostream& out,
                          const SampleChoice& choice) {
    const std::string attempt = "export " + runs.join(' ').toStdString();
    const auto snapshot = reader.snapshot();
    const auto series = chosenSeries(reader, runs, choice);
    if (!series)
        return fail(series.error().code, attempt + ": " + series.error().message);
    int64_t rows = 0;
    out << (choice.namesRuns ? "run," : "") << "metric,rank,step,wall_time,value\n";
    for (const auto& [run, key] : *series) {
        const std::string head = (choice.namesRuns ? run.toStdString() + "," : "") + key.metric +
                                 "," + std::to_string(key.rank) + ",";
        const auto write = [&](std::span<const Point> points) {
            for (const Point& point : points)
                out << head << point.step << ',' << secondsText(point.wallNs) << ','
                    << valueText(point.value) << '\n';
            rows += static_cast<int64_t>(points.size());
        };
        if (!reader.visitPoints(run, key, choice.first, choice.last, write))
            return fail(ErrorCode::kCorrupt, attempt + ": stored samples cannot be read");
        if (!out)
            return failErrno(attempt + ": write", errno);
    }
    out.flush();
    if (!out)
        return failErrno(attempt + ": write", errno);
    return rows;
}

Result<int64_t> exportCsv(StoreReader& reader, const QStringList& runs, const QString& path,
                          const SampleChoice& choice) {
    return toFile(path, [&](std::ostream& file) { return exportCsv(reader, runs, file, choice); });
}

std::string placeText(const LogLine& line) {
    return line.node.empty() ? "r" + std::to_string(line.rank)
                             : line.node + ":" + std::to_string(line.rank);
}

std::string logLineText(const LogLine& line) {
    return logLineText(line, placeText(line));
}

std::string logLineText(const LogLine& line, const std::string& place) {
    const QDateTime when = QDateTime::fromMSecsSinceEpoch(line.wallNs / 1'000'000);
    return (line.isStamped ? "" : "~") + when.toString("yyyy-MM-dd HH:mm:ss.zzz").toStdString() +
           "  " + place + "  " + line.text;
}

Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          std::ostream& out) {
    const std::string attempt = "export the log of " + run.toStdString();
    if (!reader.run(run))
        return fail(ErrorCode::kNotFound, attempt + ": there is no such run");
    int64_t count = 0;
    const bool isRead = reader.visitLog(run, choice, [&](const LogLine& line) {
        out << logLineText(line) << '\n';
        ++count;
        return !out.fail();
    });
    out.flush();
    if (!out)
        return failErrno(attempt + ": write", errno);
    if (!isRead)
        return fail(ErrorCode::kCorrupt, attempt + ": stored lines cannot be read");
    return count;
}

Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          const QString& path) {
    return toFile(path, [&](std::ostream& file) { return exportLog(reader, run, choice, file); });
}

} // namespace rm
