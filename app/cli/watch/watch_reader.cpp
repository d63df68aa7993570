// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/watch_reader.h"

#include "app/cli/command_context.h"
#include "app/cli/watch/rank_map.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/queue/queue_order.h"
#include "app/core/runs/standstill.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/run_metrics.h"
#include "shared/io/clock.h"

#include <algorithm>
#include <cmath>

namespace rm::cli {

namespace {

constexpr int64_t kFiguresEveryNs = 1'000'000'000;
constexpr int kMostLines = 400; ///< of events, log and commands
constexpr int kBestBuckets = 400;

/// How a chart is called; its metrics are those of the panel.
struct ChartRow {
    const char* panel;
    const char* title;
};
constexpr ChartRow kCharts[] = {
    {"loss", "loss"},           {"lr", "learning rate"},         {"grad_norm", "gradient norm"},
    {"throughput", "per rank"}, {"step_time", "step time (ms)"}, {"phases", "phases (ms)"},
};

bool startsAtZero(const char* key) {
    const auto panels = metricPanels();
    const auto found = std::ranges::find(panels, key, &MetricPanel::key);
    return found != panels.end() && found->fromZero;
}

/// One line for each metric; of all ranks, but where the first says what all would.
int ranksOf(const MetricDef& metric, int ranks) {
    return metric.scope == MetricScope::kRun || metric.ranks == MetricRanks::kFirst
               ? 1
               : std::max(1, ranks);
}

/// What a rank keeps busy: of its GPU, or of the cores that the busiest rank keeps busy.
void addUtilization(StoreReader& reader, const QString& run, std::vector<RankCell>& ranks) {
    double most = 0;
    bool hasGpu = false;
    for (RankCell& rank : ranks) {
        const auto gpu = reader.lastPoint(run, {metricName(metric::kGpuUtilization), rank.rank});
        const auto cpu =
            gpu ? gpu : reader.lastPoint(run, {metricName(metric::kRankCpu), rank.rank});
        if (!cpu || !std::isfinite(cpu->value))
            continue;
        hasGpu |= gpu.has_value();
        rank.utilization = cpu->value;
        most = std::max<double>(most, cpu->value);
    }
    if (!hasGpu && most > 0)
        for (RankCell& rank : ranks)
            rank.utilization = rank.utilization < 0 ? -1 : rank.utilization / most;
}

Ink inkOf(const Event& event) {
    switch (event.severity) {
    case Severity::kError:
        return Ink::kBad;
    case Severity::kWarning:
        return Ink::kWarn;
    case Severity::kInfo:
        break;
    }
    return Ink::kPlain;
}

/// A command that the ranks have answered.
WatchMoment momentOf(const CommandApplied& applied) {
    const std::string words = applied.message.empty() ? "" : ": " + applied.message;
    return {applied.wallNs, applied.step,
            applied.ok ? applied.kind + " took effect" + words
                       : applied.kind + " was refused" + words,
            applied.ok ? Ink::kPlain : Ink::kBad};
}

/// What the node says of the ranks now.
void addPhases(const LiveState& live, std::vector<RankCell>& ranks) {
    for (const LiveState::NodeLink& node : live.nodes) {
        for (const RankState& state : node.state ? node.state->ranks : std::vector<RankState>()) {
            const auto rank = std::ranges::find(ranks, state.rank, &RankCell::rank);
            if (rank == ranks.end())
                continue;
            rank->phase = state.pid == 0 ? '-' : phaseLetter(state.phase);
            rank->isGone |= isDown(node.link);
        }
    }
}

} // namespace

std::vector<WatchChart> watchCharts(StoreReader& reader, const QString& run) {
    std::vector<WatchChart> charts;
    const std::string unit = throughputMetric(reader, run).unit;
    for (const ChartRow& row : kCharts) {
        WatchChart chart{row.title, startsAtZero(row.panel), {}};
        const bool isRate = std::string_view(row.panel) == "throughput";
        if (isRate)
            chart.title = unit + " " + row.title;
        for (const MetricDef* metric : metricsOfPanel(row.panel))
            if (!isRate || metric->unit == unit)
                chart.metrics.push_back(*metric);
        charts.push_back(std::move(chart));
    }
    if (auto quality = qualityMetrics(reader, run); !quality.empty())
        charts.push_back({"validation", false, std::move(quality)});
    return charts;
}

WatchReader::WatchReader(std::unique_ptr<StoreReader> reader)
    : m_reader(std::move(reader)) {}

QString WatchReader::newestLive() {
    const auto live = m_reader->liveRuns();
    return live.empty() ? QString() : live.front().id;
}

const WatchData& WatchReader::read(const QString& run, const LiveState& live, const WatchView& view,
                                   int width, int height, Glyphs glyphs) {
    forgetPassingReadFailure();
    const auto snapshot = m_reader->snapshot();
    if (view.isList)
        m_data.runs = m_reader->runs();
    const auto found = run.isEmpty() ? std::nullopt : m_reader->run(run);
    const auto failure = readFailure();
    m_data.problem = failure                    ? failure->message
                     : !found && !run.isEmpty() ? run.toStdString() + " is not stored any more"
                                                : std::string();
    if (!found)
        return m_data;
    m_data.run = *found;
    m_data.live = live;
    const int64_t now = monotonicNowNs();
    if (m_figuresOf != run || now - m_figuresNs >= kFiguresEveryNs) {
        readFigures(run);
        m_figuresOf = run;
        m_figuresNs = now;
    }
    readRanks();
    findNotices();
    readCharts(view, width, height, glyphs);
    readPane(view);
    return m_data;
}

void WatchReader::readFigures(const QString& run) {
    m_data.figures = rm::readFigures(*m_reader, m_data.run);
    m_charts = watchCharts(*m_reader, run);
    m_data.titles.clear();
    for (const WatchChart& chart : m_charts)
        m_data.titles.push_back(chart.title);
    const auto changes = liveChanges(*m_reader, m_data.run);
    const auto inForce = std::ranges::find(changes, true, &LiveChange::isInForce);
    m_data.change = inForce == changes.end() ? std::nullopt : std::optional(*inForce);
    readBest();
}

void WatchReader::readBest() {
    const RunSummary& run = m_data.run;
    const std::string& validation = metricName(metric::kValidationLoss);
    m_data.best.reset();
    m_data.isBestValidation = run.validationLoss && m_data.figures.bestStep;
    if (m_data.isBestValidation) {
        const auto points = m_reader->points(run.id, {validation, 0}, *m_data.figures.bestStep,
                                             *m_data.figures.bestStep);
        if (!points.empty())
            m_data.best = points.front();
        return;
    }
    for (const Bucket& bucket :
         m_reader->buckets(run.id, {metricName(metric::kTrainLoss), 0}, 0, INT64_MAX, kBestBuckets))
        if (bucket.count > 0 && std::isfinite(bucket.min) &&
            (!m_data.best || bucket.min < m_data.best->value))
            m_data.best = Point{bucket.lastStep, bucket.wallNs, bucket.min};
}

void WatchReader::readRanks() {
    m_data.ranks.clear();
    for (const RunNode& node : m_data.run.nodes)
        for (int at = 0; at < node.ranks; ++at)
            m_data.ranks.push_back({.rank = node.firstRank + at, .node = node.nodeName});
    for (const RankMeans& means : m_data.figures.ranks) {
        const auto rank = std::ranges::find(m_data.ranks, means.rank, &RankCell::rank);
        if (rank == m_data.ranks.end())
            continue;
        if (means.stepMs > 0)
            rank->busy = means.busyMs() / means.stepMs;
        rank->isSlow =
            std::ranges::any_of(m_data.figures.stragglers, [&means](const Straggler& slow) {
                return slow.rank == means.rank;
            });
        rank->isGone = !means.isCurrent && means.stepMs > 0 && !hasEnded(m_data.run.state);
    }
    addUtilization(*m_reader, m_data.run.id, m_data.ranks);
    addPhases(m_data.live, m_data.ranks);
}

void WatchReader::findNotices() {
    const LiveState& live = m_data.live;
    m_data.notices.clear();
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.link == LiveState::Link::kRefused)
            m_data.notices.push_back(node.node + " refuses the login: " + node.why.toStdString() +
                                     "; L logs in");
        else if (isGone(node))
            m_data.notices.push_back(node.node +
                                     (node.link == LiveState::Link::kMissing
                                          ? " has nothing of the run: "
                                          : " cannot be reached; the run goes on there: ") +
                                     node.why.toStdString());
    const auto add = [this](const std::string& words) {
        if (!words.empty())
            m_data.notices.push_back(words);
    };
    if (live.launching)
        add("being launched: " + live.launching->stage.toStdString());
    if (m_data.run.queuePlace > 0)
        add(waitWords(*m_reader, m_data.run));
    add(commandDelay(live, monotonicNowNs(), wallNowNs()));
    add(whyUnstored(live));
    for (const std::string& problem : journalProblems(live))
        add(problem);
    const bool isMoving = m_data.run.state == RunStateKind::kRunning && m_data.run.totalSteps > 0 &&
                          m_data.figures.stepMs > 0 && !live.held && !m_data.run.held;
    const bool isStill = isMoving && standsStill(live, m_data.figures.stepMs);
    m_data.secondsLeft = isMoving && !isStill
                             ? m_data.figures.stepMs / 1000 *
                                   static_cast<double>(m_data.run.totalSteps - m_data.run.step)
                             : -1;
    if (isStill && !isAnyDown(live))
        add("stands still: " + whoIsBehind(live));
}

void WatchReader::readCharts(const WatchView& view, int width, int height, Glyphs glyphs) {
    const RunSummary& run = m_data.run;
    const WatchLayout layout =
        layoutOf(width, height, m_charts.size(), m_data.ranks, m_data.notices.size());
    const int64_t first = spanOf(view) == 0
                              ? run.parentStep + 1
                              : std::max(run.parentStep + 1, run.step - spanOf(view) + 1);
    m_data.charts.clear();
    for (size_t at = 0; at < layout.charts.size(); ++at) {
        const WatchChart& what = m_charts[(view.chart + at) % m_charts.size()];
        CellChart chart{what.title,    {},        first, std::max(first, run.step),
                        what.fromZero, view.isLog};
        for (const MetricDef& metric : what.metrics) {
            ChartLine line{what.metrics.size() > 1 ? labelOf(metric) : "", {}, 0, true, {}};
            line.weight = metric.smooth ? smoothingOf(view) : 0;
            for (int rank = 0; rank < ranksOf(metric, run.ranks); ++rank)
                line.ranks.push_back(m_reader->buckets(run.id, {metric.name, rank}, first,
                                                       chart.lastStep,
                                                       columnsIn(layout.charts[at], glyphs)));
            if (const auto last = m_reader->lastPoint(run.id, {metric.name, 0}))
                line.last = last->value;
            chart.lines.push_back(std::move(line));
        }
        m_data.charts.push_back(std::move(chart));
    }
}

void WatchReader::readMoments() {
    const QString& run = m_data.run.id;
    m_data.moments.clear();
    for (const StoredAttempt& attempt : m_reader->attempts(run))
        if (attempt.hasStarted)
            m_data.moments.push_back(
                {attempt.startedNs, attempt.startStep,
                 attempt.attempt == 1
                     ? "started"
                     : "attempt " + std::to_string(attempt.attempt) + " started from here",
                 Ink::kGood});
    for (const StoredEvent& event : m_reader->events(run, kMostLines))
        m_data.moments.push_back(
            {event.event.wallNs, event.event.step, event.event.message, inkOf(event.event)});
    for (const StoredCheckpoint& checkpoint : m_reader->checkpoints(run))
        m_data.moments.push_back({checkpoint.saved.wallNs, checkpoint.saved.step,
                                  "checkpoint: " + reasonWords(checkpoint.saved.reason),
                                  Ink::kAccent});
    for (const StoredCommand& command : m_reader->commands(run))
        m_data.moments.push_back(momentOf(command.applied));
    std::ranges::stable_sort(m_data.moments, {}, &WatchMoment::wallNs);
    if (m_data.moments.size() > kMostLines)
        m_data.moments.erase(m_data.moments.begin(), m_data.moments.end() - kMostLines);
}

void WatchReader::readPane(const WatchView& view) {
    const QString& run = m_data.run.id;
    if (view.pane == WatchPane::kEvents)
        readMoments();
    else if (view.pane == WatchPane::kLog)
        m_data.log = m_reader->log(run, -1, 0, kMostLines);
    else
        m_data.commands = m_reader->requestedCommands(run, kMostLines);
}

} // namespace rm::cli
