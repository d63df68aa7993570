// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/widgets/chip.h"

#include <string>
#include <vector>

namespace rm {

/// A moment that a person should see on every chart.
struct Mark {
    int64_t step = 0;
    int64_t wallNs = 0;
    Tone tone = Tone::kAccent;
    QString text;
    bool quiet = false;       ///< one of many: fainter
    int attempt = 0;          ///< whose it is; 0: no attempt's
    bool retired = false;     ///< belongs to that attempt's abandoned line, is shown on it
    bool removed = false;     ///< of a checkpoint that is no longer where it was saved
    std::string command = {}; ///< the id of the `set` that took effect then; empty: none did
    bool operator==(const Mark&) const = default;
};

/// What happened to a run, from all that was stored about it.
struct RunHistory {
    std::vector<StoredAttempt> attempts;
    std::vector<StoredEvent> events;
    std::vector<StoredCheckpoint> checkpoints;
    std::vector<StoredCommand> commands;
    std::vector<StoredLine> lines;
    std::vector<RequestedCommand> requested = {};
};

/// One moment; `step` -1: belongs to none.
using Moment = Mark;

/// Everything worth telling, newest first.
std::vector<Moment> timelineOf(const RunSummary& run, const RunHistory& history);

/// What charts mark: commands, attempts, checkpoints, warnings and errors; what belongs to an
/// abandoned line as retired, and a checkpoint of the living line that was removed as removed.
std::vector<Mark> chartMarks(const RunHistory& history);

/// A mark for each checkpoint that still exists.
std::vector<Mark> checkpointMarks(const RunHistory& history);

} // namespace rm
