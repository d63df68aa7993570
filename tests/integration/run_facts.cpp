// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_facts.h"

#include "app/core/store/store_reader.h"

#include <QFile>
#include <QStringList>

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <sstream>

namespace rm {
namespace {

constexpr int64_t kStallNs = 2'000'000'000;
constexpr float kSlower = 1.33f;
constexpr size_t kNewsEvents = 20;

float median(std::vector<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::unique_ptr<StoreReader> openStore(const QString& database) {
    if (!QFile::exists(database))
        return nullptr;
    auto reader = StoreReader::open(database);
    return reader ? std::move(*reader) : nullptr;
}

} // namespace

StepsByRank stepsInCsv(const QByteArray& csv, const QByteArray& metric) {
    StepsByRank steps;
    const QList<QByteArray> lines = csv.split('\n');
    if (lines.first() != "metric,rank,step,wall_time,value")
        return steps;
    for (const QByteArray& line : lines) {
        const QList<QByteArray> cells = line.split(',');
        if (cells.size() == 5 && cells[0] == metric)
            steps[cells[1].toInt()].push_back(cells[2].toLongLong());
    }
    return steps;
}

StepsByRank stepsInStore(const QString& database, const QString& run, const std::string& metric) {
    StepsByRank steps;
    const auto reader = openStore(database);
    if (!reader)
        return steps;
    for (const SeriesKey& key : reader->series(run)) {
        if (key.metric != metric)
            continue;
        for (const Point& point : reader->points(run, key))
            steps[key.rank].push_back(point.step);
    }
    return steps;
}

QByteArray flawIn(StepsByRank steps, int ranks, int64_t first, int64_t last) {
    if (static_cast<int>(steps.size()) != ranks)
        return QByteArray::number(steps.size()) + " ranks have values";
    for (auto& [rank, seen] : steps) {
        std::sort(seen.begin(), seen.end());
        int64_t expected = first;
        for (const int64_t step : seen) {
            if (step != expected)
                return QString("rank %1 has step %2 where %3 belongs")
                    .arg(rank)
                    .arg(step)
                    .arg(expected)
                    .toUtf8();
            ++expected;
        }
        if (expected != last + 1)
            return QString("rank %1 ends before step %2").arg(rank).arg(expected).toUtf8();
    }
    return {};
}

std::optional<RunSummary> newestRun(const QString& database) {
    const auto reader = openStore(database);
    if (!reader)
        return std::nullopt;
    const std::vector<RunSummary> runs = reader->runs();
    return runs.empty() ? std::nullopt : std::optional(runs.front());
}

std::optional<RunSummary> findRun(const QString& database, const QString& run) {
    const auto reader = openStore(database);
    return reader ? reader->run(run) : std::nullopt;
}

QByteArray newsOf(const QString& database) {
    const auto run = newestRun(database);
    if (!run)
        return "no run is stored\n";
    std::ostringstream news;
    news << run->name.toStdString() << ": " << runStateName(*run) << ", attempt " << run->attempt
         << ", step " << run->step << ", " << run->message.toStdString() << '\n';
    const auto reader = openStore(database);
    const std::vector<StoredEvent> events = reader->events(run->id);
    const size_t skipped = events.size() > kNewsEvents ? events.size() - kNewsEvents : 0;
    for (size_t i = skipped; i < events.size(); ++i)
        news << events[i].event.wallNs / 1'000'000'000 << " node " << events[i].nodeIndex
             << " step " << events[i].event.step << ' ' << events[i].event.code << ": "
             << events[i].event.message << '\n';
    return QByteArray::fromStdString(news.str());
}

std::vector<Point> pointsOf(const QString& database, const QString& run, const std::string& metric,
                            int rank) {
    const auto reader = openStore(database);
    return reader ? reader->points(run, {metric, rank}) : std::vector<Point>();
}

QByteArray stallIn(const std::vector<Point>& stepMs, int64_t fromNs, int64_t toNs) {
    std::vector<float> before;
    std::vector<float> within;
    int64_t lastNs = fromNs;
    for (const Point& point : stepMs) {
        if (point.wallNs < fromNs)
            before.push_back(point.value);
        if (point.wallNs < fromNs || point.wallNs > toNs)
            continue;
        within.push_back(point.value);
        if (point.wallNs - lastNs > kStallNs)
            return "no step for two seconds before step " + QByteArray::number(point.step);
        lastNs = point.wallNs;
    }
    if (before.empty() || within.empty() || toNs - lastNs > kStallNs)
        return "too few steps to tell";
    const float usual = median(before);
    const float now = median(within);
    if (now <= usual * kSlower)
        return {};
    return QString("the median step took %1 ms instead of %2 ms").arg(now).arg(usual).toUtf8();
}

std::string integrityOf(const QString& database) {
    SQLite::Database opened(database.toStdString(), SQLite::OPEN_READONLY);
    return opened.execAndGet("PRAGMA integrity_check").getString();
}

} // namespace rm
