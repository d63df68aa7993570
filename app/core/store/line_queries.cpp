// SPDX-License-Identifier: GPL-3.0-or-later
// StoreReader's queries about the lines of a run and the checkpoints on them.
#include "app/core/store/reader_impl.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/trace_rows.h"
#include "shared/checkpoint/manifest.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace rm {

namespace {

double realOrNaN(const Query& row, int column) {
    return row.isNull(column) ? std::numeric_limits<double>::quiet_NaN() : row.real(column);
}

int retiredBy(const std::vector<RunLines::Part>& parts, int64_t step) {
    const auto part =
        std::ranges::find_if(parts, [&](const RunLines::Part& each) { return step <= each.last; });
    return part == parts.end() ? 0 : part->retiredBy;
}

int64_t startOf(const RunLines& lines, int attempt) {
    const auto start = std::ranges::find(lines.starts(), attempt, &RunLines::Start::attempt);
    return start == lines.starts().end() ? 0 : start->step;
}

/// What attempts would have gone on from and could not, as (attempt, step).
using Damages = std::set<std::pair<int, int64_t>>;

Damages damagesIn(Database& database, int64_t run) {
    auto rows = database.query("SELECT attempt, step FROM event WHERE run = ? AND code = ?");
    rows.with(run, kCheckpointDamagedEvent);
    Damages damages;
    while (rows.next())
        damages.emplace(rows.number(0), rows.integer(1));
    return damages;
}

/// The newest of those that were the best when they were saved.
void markBest(std::vector<StoredCheckpoint>& newestFirst) {
    const auto best = std::ranges::find_if(newestFirst, [](const StoredCheckpoint& each) {
        return each.saved.best && !each.removed && each.retiredBy == 0;
    });
    if (best != newestFirst.end())
        best->isBest = true;
}

using Copies = std::map<std::string, std::vector<CheckpointCopy>>; ///< by path

Copies copiesOf(Database& database, int64_t run) {
    auto rows = database.query(
        "SELECT path, node, folder, wall_ns FROM checkpoint_copy WHERE run = ? ORDER BY node");
    rows.with(run);
    Copies copies;
    while (rows.next())
        copies[rows.text(0)].push_back({rows.text(1), rows.text(2), rows.integer(3)});
    return copies;
}

} // namespace

RunLines StoreReader::Impl::lines(int64_t run) {
    auto rows = database.query(
        "SELECT attempt, start_step, coalesce((SELECT max(checkpoint.attempt) FROM checkpoint "
        "WHERE checkpoint.run = attempt.run AND checkpoint.step = attempt.start_step AND "
        "(checkpoint.path = attempt.start_from OR checkpoint.path IN (SELECT copy.path FROM "
        "checkpoint_copy AS copy WHERE copy.run = attempt.run AND copy.folder = "
        "attempt.start_from))), 0) "
        "FROM attempt WHERE run = ? AND started_ns NOT NULL AND start_step NOT NULL "
        "ORDER BY attempt");
    rows.with(run);
    std::vector<RunLines::Start> starts;
    while (rows.next())
        starts.push_back({rows.number(0), rows.integer(1), rows.number(2)});
    return RunLines(std::move(starts));
}

std::vector<StoredLine> StoreReader::lines(const QString& run) {
    return m_impl->read("list the lines of a run", [&] {
        std::vector<StoredLine> stored;
        const auto id = m_impl->runId(run);
        if (!id)
            return stored;
        const RunLines lines = m_impl->lines(*id);
        for (const auto& [attempt, parts] : lines.parts()) {
            auto reported = m_impl->database.query(
                "SELECT max(coalesce((SELECT max(step) FROM rank WHERE run = ?1 AND attempt = ?2), "
                "0), coalesce((SELECT max(step) FROM checkpoint WHERE run = ?1 AND attempt = ?2), "
                "0))");
            reported.with(*id, attempt);
            int64_t first = startOf(lines, attempt) + 1;
            const int64_t end = reported.next() ? reported.integer(0) : 0;
            for (const RunLines::Part& part : parts) {
                const int64_t last = std::min(part.last, end);
                if (first > last)
                    continue;
                stored.push_back({attempt, first, last, part.retiredBy,
                                  part.retiredBy ? startOf(lines, part.retiredBy) : 0});
                first = last + 1;
            }
        }
        return stored;
    });
}

Retirement StoreReader::retirementBy(const QString& run, const StoredCheckpoint& checkpoint) {
    return m_impl->read("see what a checkpoint retires", [&] {
        Retirement retired;
        const auto id = m_impl->runId(run);
        if (!id)
            return retired;
        auto starts = m_impl->lines(*id).starts();
        const int next = starts.empty() ? 1 : starts.back().attempt + 1;
        starts.push_back({next, checkpoint.saved.step, checkpoint.attempt});
        const RunLines then(std::move(starts));
        retired.firstStep = INT64_MAX;
        for (const StoredLine& line : lines(run)) {
            const int64_t stays = then.livingUntil(line.attempt).value_or(-1);
            if (line.retiredBy != 0 || line.lastStep <= stays)
                continue;
            retired.firstStep = std::min(retired.firstStep, std::max(line.firstStep, stays + 1));
            retired.lastStep = std::max(retired.lastStep, line.lastStep);
        }
        for (const StoredCheckpoint& each : checkpoints(run))
            if (!each.removed && each.retiredBy == 0 &&
                each.saved.step > then.livingUntil(each.attempt).value_or(-1))
                ++retired.checkpoints;
        if (retired.lastStep < retired.firstStep)
            retired.firstStep = 0;
        return retired;
    });
}

std::vector<Point> StoreReader::points(const QString& run, const StoredLine& line,
                                       const SeriesKey& key) {
    return m_impl->read("read the samples of a line", [&] {
        std::vector<Point> points;
        const auto add = [&](std::span<const Point> more) {
            points.insert(points.end(), more.begin(), more.end());
        };
        const auto id = m_impl->runId(run);
        if (!id)
            return points;
        for (const StreamRange& range :
             m_impl->rangesOf(*id, line.attempt, key, line.firstStep, line.lastStep))
            if (const auto visited = m_impl->streams.visit(range, add); !visited)
                m_impl->warn(visited.error());
        return points;
    });
}

std::vector<Bucket> StoreReader::buckets(const QString& run, const StoredLine& line,
                                         const SeriesKey& key, int64_t firstStep, int64_t lastStep,
                                         int maxBuckets) {
    return m_impl->read("read the samples of a line", [&]() -> std::vector<Bucket> {
        const auto id = m_impl->runId(run);
        if (!id)
            return {};
        return m_impl->buckets(m_impl->rangesOf(*id, line.attempt, key,
                                                std::max(firstStep, line.firstStep),
                                                std::min(lastStep, line.lastStep)),
                               maxBuckets);
    });
}

std::vector<StoredCheckpoint> StoreReader::checkpoints(const QString& run) {
    return m_impl->read("list the checkpoints of a run", [&] {
        std::vector<StoredCheckpoint> checkpoints;
        const auto id = m_impl->runId(run);
        if (!id)
            return checkpoints;
        auto parts = m_impl->lines(*id).parts();
        const Damages damages = damagesIn(m_impl->database, *id);
        auto rows = m_impl->database.query(
            "SELECT step, wall_ns, path, bytes, duration_ms, reason, validation_loss, best, "
            "attempt, removed, verified_ns, pinned, coalesce((SELECT name FROM node WHERE "
            "node.run = checkpoint.run AND node.node = 0 AND node.attempt <= checkpoint.attempt "
            "ORDER BY node.attempt DESC LIMIT 1), '') "
            "FROM checkpoint WHERE run = ? ORDER BY step DESC, wall_ns DESC");
        rows.with(id);
        Copies copies = copiesOf(m_impl->database, *id);
        while (rows.next()) {
            CheckpointSaved saved{rows.integer(0),    rows.integer(1),    rows.text(2),
                                  rows.integer(3),    realOrNaN(rows, 4), rows.text(5),
                                  realOrNaN(rows, 6), rows.number(7) != 0};
            const int attempt = rows.number(8);
            const int retired = retiredBy(parts[attempt], saved.step);
            const bool isDamaged = retired != 0 && damages.contains({retired, saved.step});
            auto& elsewhere = copies[saved.path];
            checkpoints.push_back({std::move(saved), attempt, rows.number(9) != 0, retired, false,
                                   isDamaged, rows.text(12), rows.integer(10), rows.number(11) != 0,
                                   std::move(elsewhere)});
        }
        markBest(checkpoints);
        return checkpoints;
    });
}

namespace {

/// A row of step, wall_ns, prompt, text, kind, reference, score, picture.
SampleText sampleFrom(const Query& row) {
    SampleText sample{row.integer(0), row.integer(1), row.text(2), row.text(3)};
    sample.kind = static_cast<SampleKind>(row.number(4));
    sample.reference = row.text(5);
    if (!row.isNull(6))
        sample.score = static_cast<float>(row.real(6));
    const auto picture = row.blob(7);
    sample.picture.assign(picture.begin(), picture.end());
    return sample;
}

/// A row of step, wall_ns, classes, names, counts; nullopt: it is none of ours.
std::optional<ConfusionMatrix> confusionFrom(const Query& row) {
    ConfusionMatrix matrix{row.integer(0), row.integer(1), row.integer(2), {}, {}};
    const auto names = QJsonDocument::fromJson(QByteArray::fromStdString(row.text(3))).array();
    for (const auto& name : names)
        matrix.names.push_back(name.toString().toStdString());
    const auto counts = row.blob(4);
    if (counts.size() != matrix.side() * matrix.side() * sizeof(uint32_t))
        return std::nullopt;
    matrix.counts.resize(matrix.side() * matrix.side());
    std::memcpy(matrix.counts.data(), counts.data(), counts.size());
    return matrix;
}

} // namespace

std::vector<StoredSample> StoreReader::samples(const QString& run) {
    return m_impl->read("list the text samples of a run", [&] {
        std::vector<StoredSample> samples;
        const auto id = m_impl->runId(run);
        if (!id)
            return samples;
        auto parts = m_impl->lines(*id).parts();
        auto rows = m_impl->database.query(
            "SELECT step, wall_ns, prompt, text, kind, reference, score, NULL, attempt "
            "FROM sample_text WHERE run = ? ORDER BY id DESC");
        rows.with(id);
        while (rows.next()) {
            SampleText sample = sampleFrom(rows);
            const int attempt = rows.number(8);
            const int retired = retiredBy(parts[attempt], sample.step);
            samples.push_back({std::move(sample), attempt, retired});
        }
        return samples;
    });
}

std::vector<SampleText> StoreReader::samplesAt(const QString& run, int attempt, int64_t step) {
    return m_impl->read("read the samples of a step", [&] {
        std::vector<SampleText> samples;
        const auto id = m_impl->runId(run);
        if (!id)
            return samples;
        auto rows = m_impl->database.query(
            "SELECT step, wall_ns, prompt, text, kind, reference, score, picture "
            "FROM sample_text WHERE run = ? AND attempt = ? AND step = ? ORDER BY id");
        rows.with(id, attempt, step);
        while (rows.next())
            samples.push_back(sampleFrom(rows));
        return samples;
    });
}

std::vector<StoredConfusion> StoreReader::confusions(const QString& run) {
    return m_impl->read("list the confusion matrices of a run", [&] {
        std::vector<StoredConfusion> confusions;
        const auto id = m_impl->runId(run);
        if (!id)
            return confusions;
        auto parts = m_impl->lines(*id).parts();
        auto rows = m_impl->database.query("SELECT step, wall_ns, classes, names, counts, attempt "
                                           "FROM confusion WHERE run = ? ORDER BY id DESC");
        rows.with(id);
        while (rows.next()) {
            auto matrix = confusionFrom(rows);
            if (!matrix) {
                m_impl->warn({ErrorCode::kCorrupt, "read a confusion matrix: damaged"});
                continue;
            }
            const int attempt = rows.number(5);
            const int retired = retiredBy(parts[attempt], matrix->step);
            confusions.push_back({std::move(*matrix), attempt, retired});
        }
        return confusions;
    });
}

std::vector<StoredTrace> StoreReader::traces(const QString& run) {
    return m_impl->read("list the traces of a run", [&] {
        const auto id = m_impl->runId(run);
        return id ? tracesOf(m_impl->database, *id) : std::vector<StoredTrace>();
    });
}

std::vector<RankTrace> StoreReader::trace(const QString& run, const TraceId& trace) {
    return m_impl->read("read a trace", [&]() -> std::vector<RankTrace> {
        const auto id = m_impl->runId(run);
        if (!id)
            return {};
        auto ranks = readTrace(m_impl->database, *id, trace);
        if (!ranks)
            m_impl->warn(ranks.error());
        return ranks.value_or(std::vector<RankTrace>());
    });
}

} // namespace rm
