// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"

#include "app/core/settings/private_files.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/reader_impl.h"
#include "app/core/store/schema.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUrl>

#include <sqlite3.h>

#include <algorithm>

namespace rm {

namespace {

/// The coarsest level that still has `wanted` entries.
int levelFor(int64_t points, int64_t chunks, int64_t wanted) {
    const auto fanOut = static_cast<int64_t>(kFanOut);
    int level = 0;
    for (int64_t entries = points / fanOut; level < 2 && entries >= wanted; entries /= fanOut)
        ++level;
    if (level < 2)
        return level;
    for (int64_t entries = chunks; entries >= wanted; entries /= fanOut)
        ++level;
    return level;
}

/// Reads a row of StoreReader::metrics().
MetricDef metricOf(const Query& row) {
    const std::string name = row.text(1);
    if (const MetricDef* builtin = findBuiltinMetric(name))
        return *builtin;
    return {.id = static_cast<MetricId>(row.number(0)),
            .name = name,
            .unit = row.text(2),
            .kind = static_cast<MetricKind>(row.number(3)),
            .scope = static_cast<MetricScope>(row.number(4)),
            .description = row.text(5),
            .clock = static_cast<MetricClock>(row.number(6)),
            .direction = static_cast<MetricDirection>(row.number(7)),
            .format = static_cast<MetricFormat>(row.number(8)),
            .ranks = static_cast<MetricRanks>(row.number(9)),
            .smooth = row.number(10) != 0,
            .panel = row.text(11),
            .place = static_cast<uint8_t>(row.number(12)),
            .label = row.text(13),
            .brief = row.text(14)};
}

} // namespace

namespace {

/// SQLite's shared memory of a database in WAL mode lies beside it, so that one on a disk that is
/// read-only or full can be read only as what nobody changes. With a log beside it that would leave
/// out what came last.
std::string nameToRead(const std::string& path) {
    const QFileInfo file(QString::fromStdString(path));
    const bool isFull = isOnFullDisk(path) && !StoreWriter::isHeld(QString::fromStdString(path));
    const bool isUnwritable = isOnReadOnlyDisk(path) || isFull;
    if (!isUnwritable || QFileInfo(file.filePath() + "-wal").size() > 0)
        return path;
    return "file:" +
           QString::fromLatin1(QUrl::toPercentEncoding(file.filePath(), "/")).toStdString() +
           "?immutable=1";
}

} // namespace

ReadConnection::ReadConnection(const std::string& path)
    : Database(nameToRead(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI) {
    // Only the writer's connection may checkpoint, because of the WAL-reset bug of this SQLite
    // release.
    sqlite3_db_config(connection().getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    connection().exec("PRAGMA query_only = ON");
    connection().exec("PRAGMA wal_autocheckpoint = 0");
}

StoreReader::Impl::Impl(const std::string& path)
    : database(path)
    , streams(database) {
    // SQLite's own interrupt ends only the statements that run at this moment.
    constexpr int kInstructions = 10'000; // well below a millisecond
    const auto isEnding = [](void* flag) {
        return static_cast<std::atomic<bool>*>(flag)->load() ? 1 : 0;
    };
    sqlite3_progress_handler(database.connection().getHandle(), kInstructions, isEnding,
                             &isInterrupted);
}

std::optional<Error> StoreReader::failure() const {
    return m_impl->failure;
}

void StoreReader::interrupt() {
    m_impl->isInterrupted = true;
}

void StoreReader::Impl::warn(const Error& error) {
    qCWarning(lcStore).noquote() << QString::fromStdString(error.message);
    if (!failure)
        failure = error;
    noteReadFailure(error);
}

std::optional<int64_t> StoreReader::Impl::runId(const QString& run) {
    auto query = database.query("SELECT id FROM run WHERE uuid = ?");
    return query.with(run).next() ? std::optional(query.integer(0)) : std::nullopt;
}

std::vector<StreamRange> StoreReader::Impl::ranges(int64_t run, const SeriesKey& key,
                                                   int64_t firstStep, int64_t lastStep) {
    const RunLines lines = this->lines(run);
    auto rows = database.query(
        "SELECT stream.id, stream.attempt, stream.timed, metric.id FROM metric "
        "JOIN run ON run.id = metric.run "
        "JOIN stream ON stream.run = run.id AND stream.rank = ? AND stream.attempt <= run.attempt "
        "JOIN series ON series.stream = stream.id AND series.metric = metric.id "
        "WHERE metric.run = ? AND metric.name = ? ORDER BY stream.attempt, stream.timed");
    rows.with(key.rank, run, key.metric);
    std::vector<StreamRange> ranges;
    while (rows.next()) {
        const int attempt = rows.number(1);
        const auto last = lines.livingUntil(attempt);
        if (!last)
            continue;
        StreamRange range{rows.integer(0), rows.integer(3), firstStep, std::min(lastStep, *last)};
        const int64_t behindStart = rows.number(2) ? 0 : 1;
        for (const RunLines::Start& start : lines.starts())
            if (start.attempt == attempt && attempt != lines.starts().front().attempt)
                range.first = std::max(range.first, start.step + behindStart);
        if (range.first <= range.last)
            ranges.push_back(range);
    }
    return ranges;
}

std::vector<StreamRange> StoreReader::Impl::rangesOf(int64_t run, int attempt, const SeriesKey& key,
                                                     int64_t firstStep, int64_t lastStep) {
    auto rows =
        database.query("SELECT stream.id, metric.id FROM metric "
                       "JOIN stream ON stream.run = metric.run AND stream.rank = ? "
                       "AND stream.attempt = ? "
                       "JOIN series ON series.stream = stream.id AND series.metric = metric.id "
                       "WHERE metric.run = ? AND metric.name = ? ORDER BY stream.timed");
    rows.with(key.rank, attempt, run, key.metric);
    std::vector<StreamRange> ranges;
    while (rows.next() && firstStep <= lastStep)
        ranges.push_back({rows.integer(0), rows.integer(1), firstStep, lastStep});
    return ranges;
}

std::optional<Point> StoreReader::Impl::lastPoint(const std::vector<StreamRange>& ranges) {
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
        const auto last = streams.lastPoint(*range);
        if (!last)
            warn(last.error());
        else if (*last)
            return *last;
    }
    return std::nullopt;
}

std::vector<Bucket> StoreReader::Impl::buckets(const std::vector<StreamRange>& ranges,
                                               int maxBuckets) {
    if (maxBuckets < 1)
        return {};
    std::vector<StreamReader::Extent> extents;
    int64_t points = 0, chunks = 0;
    for (const StreamRange& range : ranges) {
        extents.push_back(streams.extent(range));
        points += extents.back().points;
        chunks += extents.back().wholeEnd - extents.back().wholeBegin;
    }
    const int level = levelFor(points, chunks, maxBuckets);
    std::vector<Summary> summaries;
    for (size_t i = 0; i < ranges.size(); ++i)
        if (const auto done = streams.collect(ranges[i], extents[i], level, summaries); !done)
            warn(done.error());
    return toBuckets(summaries, static_cast<size_t>(maxBuckets));
}

StoreReader::StoreReader() = default;
StoreReader::~StoreReader() = default;

Result<std::unique_ptr<StoreReader>> StoreReader::open(const QString& path) {
    const std::string file = path.toStdString();
    return guarded("open " + file, file, [&]() -> Result<std::unique_ptr<StoreReader>> {
        std::unique_ptr<StoreReader> reader(new StoreReader);
        reader->m_impl = std::make_unique<Impl>(file);
        const int newest = schemaSteps().back().version;
        RM_RETURN_IF_ERROR(checkSchema(reader->m_impl->database, file, newest));
        return reader;
    });
}

std::shared_ptr<void> StoreReader::snapshot() {
    try {
        auto scope = std::make_shared<ReadScope>(m_impl->database);
        // A transaction sees the database as of its first read.
        (void)m_impl->database.query("SELECT count(*) FROM about").next();
        return scope;
    } catch (const SQLite::Exception& exception) {
        m_impl->warn(
            errorOf("read the database", m_impl->database.connection().getFilename(), exception));
        return nullptr;
    }
}

std::string StoreReader::specToml(const QString& run) {
    return m_impl->read("read a run's spec", [&]() -> std::string {
        auto row = m_impl->database.query("SELECT spec FROM run WHERE uuid = ?");
        return row.with(run).next() ? row.text(0) : std::string();
    });
}

std::vector<StoredSettings> StoreReader::settings(const QString& run) {
    return m_impl->read("read a run's settings", [&] {
        std::vector<StoredSettings> settings;
        auto rows = m_impl->database.query("SELECT attempt, step, value FROM settings WHERE run = "
                                           "? ORDER BY attempt, step");
        rows.with(m_impl->runId(run));
        while (rows.next()) {
            StoredSettings& one = settings.emplace_back();
            one.attempt = rows.number(0);
            one.step = rows.integer(1);
            const auto stored = QJsonDocument::fromJson(QByteArray::fromStdString(rows.text(2)));
            const QJsonObject object = stored.object();
            for (auto at = object.begin(); at != object.end(); ++at)
                one.values[at.key().toStdString()] = at.value().toDouble();
        }
        return settings;
    });
}

std::vector<SeriesKey> StoreReader::series(const QString& run) {
    return m_impl->read("list the series of a run", [&] {
        std::vector<SeriesKey> keys;
        auto rows = m_impl->database.query(
            "SELECT DISTINCT metric.name, stream.rank FROM run JOIN stream ON stream.run = run.id "
            "JOIN series ON series.stream = stream.id JOIN metric ON metric.id = series.metric "
            "WHERE run.uuid = ? ORDER BY metric.name, stream.rank");
        rows.with(run);
        while (rows.next())
            keys.push_back({rows.text(0), rows.number(1)});
        return keys;
    });
}

std::vector<MetricDef> StoreReader::metrics(const QString& run) {
    return m_impl->read("list the metrics of a run", [&] {
        std::vector<MetricDef> metrics;
        auto rows = m_impl->database.query(
            "SELECT coalesce(metric.journal_id, 0), metric.name, unit, kind, scope, description, "
            "clock, direction, format, ranks, smooth, panel, place, label, brief "
            "FROM metric JOIN run ON run.id = metric.run WHERE run.uuid = ? ORDER BY metric.name");
        rows.with(run);
        while (rows.next())
            metrics.push_back(metricOf(rows));
        return metrics;
    });
}

bool StoreReader::visitPoints(const QString& run, const SeriesKey& key, int64_t firstStep,
                              int64_t lastStep,
                              const std::function<void(std::span<const Point>)>& visitor) {
    return m_impl->read("read samples", [&] {
        const auto id = m_impl->runId(run);
        if (!id)
            return true;
        for (const StreamRange& range : m_impl->ranges(*id, key, firstStep, lastStep)) {
            const auto visited = m_impl->streams.visit(range, visitor);
            if (visited)
                continue;
            m_impl->warn(visited.error());
            return false;
        }
        return true;
    });
}

std::vector<Point> StoreReader::points(const QString& run, const SeriesKey& key, int64_t firstStep,
                                       int64_t lastStep) {
    std::vector<Point> points;
    visitPoints(run, key, firstStep, lastStep, [&](std::span<const Point> more) {
        points.insert(points.end(), more.begin(), more.end());
    });
    return points;
}

std::vector<Bucket> StoreReader::buckets(const QString& run, const SeriesKey& key,
                                         int64_t firstStep, int64_t lastStep, int maxBuckets) {
    return m_impl->read("read samples", [&]() -> std::vector<Bucket> {
        const auto id = m_impl->runId(run);
        if (!id)
            return {};
        return m_impl->buckets(m_impl->ranges(*id, key, firstStep, lastStep), maxBuckets);
    });
}

std::optional<Point> StoreReader::lastPoint(const QString& run, const SeriesKey& key) {
    return m_impl->read("read the last sample", [&]() -> std::optional<Point> {
        const auto id = m_impl->runId(run);
        if (!id)
            return std::nullopt;
        return m_impl->lastPoint(m_impl->ranges(*id, key, INT64_MIN, INT64_MAX));
    });
}

} // namespace rm
