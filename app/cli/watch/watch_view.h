// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/watch/canvas.h"
#include "app/cli/watch/cell_chart.h"
#include "app/cli/watch/rank_map.h"
#include "app/core/runs/live_changes.h"
#include "app/core/runs/live_state.h"
#include "app/core/runs/run_figures.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm::cli {

/// What stands below the charts.
enum class WatchPane : uint8_t { kEvents, kLog, kCommands };
inline constexpr int kWatchPanes = 3;

/// What a person has chosen to see, and what they are asked.
struct WatchView {
    size_t chart = 0; ///< the first that is shown
    size_t smoothing = 1;
    size_t span = 0;
    bool isLog = false;
    RankMapKind map = RankMapKind::kBusy;
    WatchPane pane = WatchPane::kEvents;
    int scroll = 0; ///< lines above the newest
    bool isHelp = false;
    bool isList = false; ///< the list of runs, to choose one
    size_t chosen = 0;   ///< in the list
    /// A command that waits for a person's yes.
    std::optional<CommandKind> confirmed = {};
    std::string question = {};                                  ///< about it
    std::vector<std::pair<std::string, std::string>> args = {}; ///< of it
    /// A command whose argument is being typed.
    std::optional<CommandKind> prompted = {};
    std::string typed = {};
    std::string message = {}; ///< what became of the last thing
    Ink messageInk = Ink::kPlain;
};

double smoothingOf(const WatchView& view); ///< the weight, of ChartLine
int64_t spanOf(const WatchView& view);     ///< the last so many steps; 0: all
std::string smoothingWords(const WatchView& view);
std::string spanWords(const WatchView& view);

/// What happened to the run.
struct WatchMoment {
    int64_t wallNs = 0;
    int64_t step = -1; ///< -1: it belongs to none
    std::string text;
    Ink ink = Ink::kPlain;
};

/// All that is shown of a run, as values.
struct WatchData {
    RunSummary run;
    LiveState live;
    RunFigures figures;
    std::vector<std::string> titles; ///< of all charts
    std::vector<CellChart> charts;   ///< those that have room, from WatchView::chart on
    std::vector<RankCell> ranks;
    std::optional<LiveChange> change; ///< the newest of a setting that is in force
    std::optional<Point> best;        ///< the best validation loss; without any the lowest loss
    bool isBestValidation = false;
    std::vector<WatchMoment> moments;       ///< oldest first
    std::vector<LogLine> log;               ///< oldest first
    std::vector<RequestedCommand> commands; ///< newest first
    std::vector<std::string> notices;       ///< what keeps the run or its nodes
    double secondsLeft = -1;                ///< below 0: not known
    std::string problem = {};               ///< why nothing can be read; empty: it can
    std::vector<RunSummary> runs = {};      ///< of the list
};

/// Where the parts are drawn.
struct WatchLayout {
    std::vector<Area> charts;
    Area ranks, pane;
};
WatchLayout layoutOf(int width, int height, size_t charts, const std::vector<RankCell>& ranks,
                     size_t notices);

/// The least size at which all parts have room; below half of it nothing is drawn but that.
inline constexpr int kWatchWidth = 80;
inline constexpr int kWatchHeight = 24;

/// The rows of notices that are shown at once.
inline constexpr size_t kMostNotices = 2;

Canvas drawWatch(const WatchData& data, const WatchView& view, int width, int height,
                 Glyphs glyphs);

/// The state of the run as the head shows it: "running", "running, hold is under way".
std::string watchStateText(const RunSummary& run, const LiveState& live);

} // namespace rm::cli
