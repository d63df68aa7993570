// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/past_lines.h"

#include "app/core/store/store_reader.h"

#include <QCoreApplication>

#include <algorithm>

namespace rm {

namespace {

constexpr size_t kMostAncestors = 8;

struct PastLineWords {
    Q_DECLARE_TR_FUNCTIONS(Charts)
};

bool contains(const StoredLine& line, int64_t step) {
    return line.firstStep <= step && step <= line.lastStep;
}

/// The line that had `step` when `child` was created.
std::optional<StoredLine> lineThen(StoreReader& reader, const QString& run, int64_t step,
                                   const RunSummary& child) {
    int newest = 0;
    for (const StoredAttempt& attempt : reader.attempts(run))
        if (attempt.hasStarted && attempt.startedNs <= child.createdNs)
            newest = std::max(newest, attempt.attempt);
    std::optional<StoredLine> found;
    for (const StoredLine& line : reader.lines(run))
        if (contains(line, step) && (!found || line.attempt <= newest))
            found = line;
    return found;
}

std::vector<PastLine::Piece> wayTo(StoreReader& reader, const QString& run, int64_t step,
                                   const RunSummary& child) {
    const auto line = lineThen(reader, run, step, child);
    if (!line || line->retiredBy == 0)
        return {{run, std::nullopt, 0, step}};
    return {{run, std::nullopt, 0, line->firstStep - 1}, {run, line, line->firstStep, step}};
}

} // namespace

std::vector<PastLine> abandonedLines(StoreReader& reader, const QString& run) {
    std::vector<PastLine> abandoned;
    for (const StoredLine& line : reader.lines(run))
        if (line.retiredBy != 0)
            abandoned.push_back({Past::kAbandoned,
                                 PastLineWords::tr("attempt %1, set aside").arg(line.attempt),
                                 line.attempt,
                                 {{run, std::nullopt, 0, line.firstStep - 1},
                                  {run, line, line.firstStep, line.lastStep}},
                                 line.firstStep});
    return abandoned;
}

std::vector<PastLine> parentLines(StoreReader& reader, const QString& run) {
    std::vector<PastLine> parents;
    auto child = reader.run(run);
    while (child && !child->parentRun.isEmpty() && parents.size() < kMostAncestors) {
        const auto parent = reader.run(child->parentRun);
        if (parent)
            parents.push_back({Past::kParent, parent->name, 0,
                               wayTo(reader, parent->id, child->parentStep, *child), 0});
        child = parent;
    }
    return parents;
}

std::vector<Bucket> readBuckets(StoreReader& reader, const PastLine& line, const SeriesKey& key,
                                int64_t firstStep, int64_t lastStep, int maxBuckets) {
    std::vector<Bucket> all;
    for (const PastLine::Piece& piece : line.pieces) {
        const int64_t first = std::max(firstStep, piece.first);
        const int64_t last = std::min(lastStep, piece.last);
        if (first > last)
            continue;
        const auto part = piece.line
                              ? reader.buckets(piece.run, *piece.line, key, first, last, maxBuckets)
                              : reader.buckets(piece.run, key, first, last, maxBuckets);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

} // namespace rm
