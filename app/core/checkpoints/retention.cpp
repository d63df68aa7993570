// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/retention.h"

#include "app/core/store/store_reader.h"
#include "shared/checkpoint/keep_rules.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace rm {

namespace {

/// The checkpoint as rank 0 reads it from the manifest, but for what it measured.
CheckpointEntry entryOf(const StoredCheckpoint& checkpoint) {
    const CheckpointSaved& saved = checkpoint.saved;
    CheckpointEntry entry;
    entry.path = saved.path;
    entry.isPinned = checkpoint.isPinned;
    entry.manifest.attempt = checkpoint.attempt;
    entry.manifest.step = saved.step;
    entry.manifest.reason = saved.reason;
    entry.manifest.validationLoss = saved.validationLoss;
    entry.manifest.best = saved.best;
    entry.manifest.line.emplace();
    return entry;
}

/// What the weights of that step measured in the metric that decides which checkpoint is best.
std::optional<Manifest::Watched> measured(StoreReader& reader, const QString& run,
                                          const RunSpec& spec, int64_t step) {
    const std::string metric = "validation/" + spec.train.watch;
    const auto points = reader.points(run, {metric, 0}, step, step);
    if (points.empty() || !std::isfinite(points.back().value))
        return std::nullopt;
    return Manifest::Watched{metric, points.back().value};
}

/// The next checkpoint, which the run has not saved yet. What it measures is not known.
CheckpointEntry nextOf(const RunSummary& run) {
    CheckpointEntry next;
    next.manifest.attempt = run.attempt;
    next.manifest.step = INT64_MAX;
    next.manifest.line.emplace();
    return next;
}

} // namespace

std::set<std::string> removedNext(StoreReader& reader, const RunSummary& run, const RunSpec& spec) {
    const auto snapshot = reader.snapshot();
    const KeepRules rules = keepRulesOf(spec.checkpoint);
    CheckpointLine line{run.attempt, {}, {}};
    for (const StoredAttempt& attempt : reader.attempts(run.id))
        if (attempt.attempt == run.attempt)
            line.startedFrom = attempt.startFrom;
    std::vector<CheckpointEntry> living = {nextOf(run)};
    for (const StoredCheckpoint& each : reader.checkpoints(run.id)) {
        // Rank 0 sees only those that lie where it saves.
        if (each.removed || each.retiredBy != 0 ||
            (!run.nodes.empty() && each.node != run.nodes.front().nodeName))
            continue;
        living.push_back(entryOf(each));
        if (rules.best > 1)
            living.back().manifest.watched = measured(reader, run.id, spec, each.saved.step);
    }
    // Of an earlier attempt the line has what the next one continues.
    for (const StoredLine& part : reader.lines(run.id))
        if (part.retiredBy == 0 && part.attempt != run.attempt)
            line.behind.push_back({part.attempt, part.lastStep});
    const auto removed = checkpointsToRemove(living, line, rules);
    return {removed.begin(), removed.end()};
}

} // namespace rm
