// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/watch_view.h"

#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/cli/watch/watch_keys.h"
#include "app/core/runs/requested_words.h"
#include "shared/metrics/registry.h"

#include <QDateTime>

#include <algorithm>
#include <array>
#include <cmath>

namespace rm::cli {

namespace {

constexpr int kHeadRows = 2;
constexpr int kFootRows = 2;
constexpr int kChartWidth = 64;  ///< that a chart beside another one has at least
constexpr int kChartHeight = 10; ///< likewise, one below another
constexpr int kWideWidth = 120;  ///< from which on the map stands beside the pane
constexpr int kLeastPane = 5;
constexpr int kMostMapRows = 8;

struct SmoothingChoice {
    double weight;
    const char* words;
};
constexpr std::array kSmoothings = {SmoothingChoice{0, "none"}, SmoothingChoice{0.8, "some"},
                                    SmoothingChoice{0.93, "more"}, SmoothingChoice{0.98, "most"}};

struct SpanChoice {
    int64_t steps;
    const char* words;
};
constexpr std::array kSpans = {SpanChoice{0, "all"}, SpanChoice{1000, "the last 1000"},
                               SpanChoice{200, "the last 200"}, SpanChoice{50, "the last 50"}};

std::string clockText(int64_t wallNs) {
    return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000).toString("HH:mm:ss").toStdString();
}

Ink inkOf(const RunSummary& run, const LiveState& live) {
    if (!run.lostNodes.empty() || run.held || live.held)
        return Ink::kWarn;
    switch (run.state) {
    case RunStateKind::kRunning:
        return Ink::kGood;
    case RunStateKind::kFailed:
        return Ink::kBad;
    case RunStateKind::kPreparing:
    case RunStateKind::kWaiting:
        return Ink::kAccent;
    case RunStateKind::kPaused:
    case RunStateKind::kPreempted:
        return Ink::kWarn;
    case RunStateKind::kFinished:
    case RunStateKind::kStopped:
        break;
    }
    return Ink::kPlain;
}

std::string rateText(double rate, const std::string& unit) {
    return (rate < 1000 ? formatNumber(rate) : formatNumber(rate / 1000) + "k") + " " + unit;
}

/// "step 120/1000, 12 %"
std::string progressWords(const RunSummary& run) {
    std::string words = "step " + stepsText(run);
    if (run.totalSteps > 0)
        words += ", " + std::to_string(run.step * 100 / run.totalSteps) + " %";
    return words;
}

/// Texts one behind the other in a row, each whole or not at all.
class RowOfTexts {
public:
    RowOfTexts(Canvas& canvas, int y)
        : m_canvas(canvas)
        , m_y(y) {}

    void add(const std::string& text, Ink ink = Ink::kPlain) {
        if (text.empty())
            return;
        const int begin = m_x == 0 ? 0 : m_x + 3;
        if (m_x != 0 && begin + cellsOf(text) > m_canvas.width())
            return;
        m_x = m_canvas.text(begin, m_y, text, ink);
    }
    void chip(const std::string& text, Ink ink) {
        const int begin = m_x == 0 ? 0 : m_x + 2;
        m_x = m_canvas.text(begin, m_y, " " + text + " ", ink);
        m_canvas.reverse({begin, m_y, m_x - begin, 1});
    }

private:
    Canvas& m_canvas;
    int m_y;
    int m_x = 0;
};

void drawHead(Canvas& canvas, const WatchData& data) {
    const RunSummary& run = data.run;
    RowOfTexts first(canvas, 0);
    first.add(run.name.toStdString(), Ink::kTitle);
    first.chip(watchStateText(run, data.live), inkOf(run, data.live));
    first.add(progressWords(run));
    if (data.secondsLeft >= 0)
        first.add(formatDuration(data.secondsLeft) + " left");
    first.add(run.id.toStdString(), Ink::kDim);
    RowOfTexts second(canvas, 1);
    if (run.loss)
        second.add("loss " + formatNumber(*run.loss));
    if (data.best)
        second.add(std::string(data.isBestValidation ? "best validation " : "lowest ") +
                   formatNumber(data.best->value) + " at " + std::to_string(data.best->step));
    if (data.figures.throughput > 0)
        second.add(rateText(data.figures.throughput, data.figures.throughputMetric.unit));
    if (data.figures.stepMs > 0)
        second.add(formatNumber(data.figures.stepMs) + " ms a step");
    if (!data.figures.stragglers.empty()) {
        const Straggler& slow = data.figures.stragglers.front();
        second.add("slowest rank " + std::to_string(slow.rank) + ": steps " +
                       std::to_string(std::lround(slow.slowsBy() * 100)) + " % longer, " +
                       labelOf(*stepPhases()[phaseOf(slow, data.figures.ranks)]),
                   Ink::kWarn);
    }
    if (!run.message.isEmpty() && hasEnded(run.state))
        second.add(run.message.toStdString(), inkOf(run, data.live));
}

/// Lines of the pane, oldest first.
struct PaneLine {
    std::string text;
    Ink ink = Ink::kPlain;
};

std::vector<PaneLine> eventLines(const WatchData& data) {
    std::vector<PaneLine> lines;
    for (const WatchMoment& moment : data.moments) {
        const std::string step = moment.step >= 0 ? "  step " + std::to_string(moment.step) : "";
        lines.push_back({clockText(moment.wallNs) + step + "  " + moment.text, moment.ink});
    }
    return lines;
}

std::vector<PaneLine> logLines(const WatchData& data) {
    std::vector<PaneLine> lines;
    for (const LogLine& line : data.log)
        lines.push_back({"rank " + std::to_string(line.rank) + "  " + line.text});
    return lines;
}

std::vector<PaneLine> commandLines(const WatchData& data) {
    std::vector<PaneLine> lines;
    for (const RequestedCommand& command : data.commands) {
        const Ink ink = command.state == RequestedState::kRefused  ? Ink::kBad
                        : command.state == RequestedState::kLapsed ? Ink::kWarn
                        : isOpen(command.state)                    ? Ink::kAccent
                                                                   : Ink::kPlain;
        lines.push_back({clockText(command.requestedNs) + "  " + requestedWords(command) + ": " +
                             fateWords(command) + "  (" + requesterWords(command.by) + ")",
                         ink});
    }
    std::ranges::reverse(lines);
    return lines;
}

std::vector<PaneLine> linesOf(const WatchData& data, WatchPane pane) {
    switch (pane) {
    case WatchPane::kEvents:
        return eventLines(data);
    case WatchPane::kLog:
        return logLines(data);
    case WatchPane::kCommands:
        return commandLines(data);
    }
    return {};
}

/// The newest lines at the bottom, without those that were scrolled away.
void drawPane(Canvas& canvas, const Area& area, const WatchData& data, const WatchView& view) {
    static constexpr const char* kNames[kWatchPanes] = {"events", "log", "commands"};
    if (area.height < 1)
        return;
    int x = area.x;
    for (int pane = 0; pane < kWatchPanes; ++pane) {
        const int begin = x;
        x = canvas.text(begin, area.y, kNames[pane], Ink::kTitle, area.right() - begin);
        if (pane == static_cast<int>(view.pane))
            canvas.reverse({begin, area.y, x - begin, 1});
        x += 2;
    }
    const auto lines = linesOf(data, view.pane);
    const int rows = area.height - 1;
    const int count = static_cast<int>(lines.size());
    const int above = std::max(0, count - rows);
    const int first = above - std::min(view.scroll, above);
    if (lines.empty())
        canvas.text(area.x, area.y + 1, "nothing yet", Ink::kDim, area.width);
    for (int row = 0; row < std::min(rows, count); ++row) {
        const PaneLine& line = lines[static_cast<size_t>(first + row)];
        canvas.text(area.x, area.y + 1 + row, line.text, line.ink, area.width);
    }
    if (first < above)
        canvas.text(x, area.y, std::to_string(above - first) + " newer below", Ink::kDim,
                    area.right() - x);
}

/// What has no room in the row goes on above it, over what is there.
void drawMessage(Canvas& canvas, int y, const WatchView& view) {
    const QString whole = QString::fromStdString(oneLine(view.message));
    const int rows = std::min(3, static_cast<int>(whole.size()) / std::max(1, canvas.width()) + 1);
    for (int row = 0; row < rows; ++row) {
        const QString part = whole.mid(row * canvas.width(), canvas.width());
        const int at = y - rows + 1 + row;
        canvas.text(0, at, std::string(static_cast<size_t>(rows > 1 ? canvas.width() : 0), ' '));
        canvas.text(0, at, part.toStdString(), view.messageInk);
    }
}

void drawFoot(Canvas& canvas, const WatchView& view) {
    const int y = canvas.height() - kFootRows;
    if (view.confirmed) {
        const int x = canvas.text(0, y, view.question, Ink::kWarn);
        canvas.text(x + 1, y, "y: send, else not", Ink::kPlain);
    } else if (view.prompted) {
        const int x = canvas.text(0, y, promptOf(*view.prompted), Ink::kWarn);
        const int end = canvas.text(x, y, view.typed);
        canvas.put(end, y, U'_', Ink::kAccent);
        canvas.text(end + 3, y, "Enter: send, Esc: not", Ink::kDim);
    } else {
        drawMessage(canvas, y, view);
    }
    int x = 0;
    for (const KeyRow& row : keyRows()) {
        const std::string brief = row.brief;
        const int width = cellsOf(row.keys) + 1 + cellsOf(brief);
        if (brief.empty() || x + width > canvas.width())
            continue;
        const int begin = x;
        x = canvas.text(x, y + 1, row.keys, Ink::kAccent);
        canvas.reverse({begin, y + 1, x - begin, 1});
        x = canvas.text(x + 1, y + 1, brief, Ink::kDim) + 2;
    }
}

void drawHelp(Canvas& canvas) {
    constexpr int kKeys = 12;
    canvas.text(0, 0, "Keys of ringmaster watch", Ink::kTitle);
    int y = 1;
    for (const KeyRow& row : keyRows()) {
        canvas.text(2, y, row.keys, Ink::kAccent);
        canvas.text(kKeys, y, row.help);
        ++y;
    }
    canvas.text(0, y,
                "Around a line: the least to the most of all ranks. More: ringmaster help watch",
                Ink::kDim);
}

void drawList(Canvas& canvas, const WatchData& data, const WatchView& view) {
    canvas.text(0, 0, "Choose a run: up and down, Enter opens it, q leaves", Ink::kTitle);
    if (data.runs.empty())
        canvas.text(0, 2, "There is no run yet; launch one: ringmaster run SPEC", Ink::kDim);
    const int rows = canvas.height() - 2;
    const int chosen = static_cast<int>(std::min(view.chosen, data.runs.size()));
    const int first = std::max(0, chosen - rows + 1);
    for (int row = 0; row < rows && first + row < static_cast<int>(data.runs.size()); ++row) {
        const RunSummary& run = data.runs[static_cast<size_t>(first + row)];
        const int y = row + 2;
        canvas.text(0, y, run.name.toStdString(), Ink::kPlain, 26);
        canvas.text(28, y, stateText(run), inkOf(run, {}), 24);
        canvas.text(54, y, stepsText(run), Ink::kPlain, 14);
        canvas.text(70, y, run.id.toStdString(), Ink::kDim);
        if (first + row == chosen)
            canvas.reverse({0, y, canvas.width(), 1});
    }
}

} // namespace

double smoothingOf(const WatchView& view) {
    return kSmoothings[view.smoothing % kSmoothings.size()].weight;
}

std::string smoothingWords(const WatchView& view) {
    return kSmoothings[view.smoothing % kSmoothings.size()].words;
}

int64_t spanOf(const WatchView& view) {
    return kSpans[view.span % kSpans.size()].steps;
}

std::string spanWords(const WatchView& view) {
    return kSpans[view.span % kSpans.size()].words;
}

std::string watchStateText(const RunSummary& run, const LiveState& live) {
    std::string text = stateText(run);
    if (live.held && !run.held)
        text = "held";
    if (live.pending)
        text += std::string(", ") + commandKindName(*live.pending) + " is under way";
    return text;
}

WatchLayout layoutOf(int width, int height, size_t charts, const std::vector<RankCell>& ranks,
                     size_t notices) {
    WatchLayout layout;
    const int top = kHeadRows + static_cast<int>(std::min(notices, kMostNotices));
    const int body = std::max(0, height - top - kFootRows);
    const int paneRows = std::max(std::min(kLeastPane, body / 3), body / 4);
    int belowRows = paneRows;
    int y = top;
    if (width >= kWideWidth) {
        const int mapWidth = width * 2 / 5;
        belowRows = std::max(paneRows, std::min(rowsOfRankMap(ranks, mapWidth), kMostMapRows));
        y = top + body - belowRows;
        layout.ranks = {0, y, mapWidth, belowRows};
        layout.pane = {mapWidth + 2, y, width - mapWidth - 2, belowRows};
    } else {
        const int mapRows = std::min({rowsOfRankMap(ranks, width), kMostMapRows, body / 4});
        belowRows += mapRows;
        y = top + body - belowRows;
        layout.ranks = {0, y, width, mapRows};
        layout.pane = {0, y + mapRows, width, paneRows};
    }
    const int chartRows = y - top;
    const int count = static_cast<int>(charts);
    const int across = std::clamp(width / kChartWidth, 1, std::max(1, count));
    const int down =
        std::clamp(chartRows / kChartHeight, 1, std::max(1, (count + across - 1) / across));
    const int each = chartRows / down;
    for (int at = 0; at < std::min(across * down, count) && chartRows > 2; ++at)
        layout.charts.push_back({at % across * (width / across), top + at / across * each,
                                 width / across - (across > 1 ? 1 : 0), each});
    return layout;
}

Canvas drawWatch(const WatchData& data, const WatchView& view, int width, int height,
                 Glyphs glyphs) {
    Canvas canvas(width, height, glyphs);
    if (width < kWatchWidth / 2 || height < kWatchHeight / 2) {
        canvas.text(0, 0,
                    "Too small: " + std::to_string(width) + " by " + std::to_string(height) +
                        ", not " + std::to_string(kWatchWidth) + " by " +
                        std::to_string(kWatchHeight),
                    Ink::kWarn);
        return canvas;
    }
    if (view.isHelp) {
        drawHelp(canvas);
        return canvas;
    }
    if (view.isList) {
        drawList(canvas, data, view);
        return canvas;
    }
    drawHead(canvas, data);
    for (size_t at = 0; at < std::min(data.notices.size(), kMostNotices); ++at)
        canvas.text(0, kHeadRows + static_cast<int>(at), data.notices[at], Ink::kWarn);
    const WatchLayout layout =
        layoutOf(width, height, data.titles.size(), data.ranks, data.notices.size());
    for (size_t at = 0; at < std::min(layout.charts.size(), data.charts.size()); ++at)
        drawChart(canvas, layout.charts[at], data.charts[at], at == 0);
    drawRankMap(canvas, layout.ranks, data.ranks, view.map);
    drawPane(canvas, layout.pane, data, view);
    drawFoot(canvas, view);
    return canvas;
}

} // namespace rm::cli
