// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_watch.h"

#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/engine/earlier_run.h"
#include "app/core/queue/queue_order.h"
#include "app/core/runs/standstill.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/run_metrics.h"
#include "app/core/store/step_samples.h"
#include "app/core/store/store_reader.h"
#include "shared/journal/event_codes.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kRefresh = 200ms;

ExitCode exitCodeOf(RunStateKind state) {
    switch (state) {
    case RunStateKind::kPaused:
        return ExitCode::kPaused;
    case RunStateKind::kStopped:
        return ExitCode::kStopped;
    case RunStateKind::kPreempted:
        return ExitCode::kPreempted;
    case RunStateKind::kFailed:
        return ExitCode::kRunFailed;
    case RunStateKind::kPreparing:
    case RunStateKind::kRunning:
    case RunStateKind::kWaiting:
        return ExitCode::kUnavailable;
    case RunStateKind::kFinished:
        break;
    }
    return ExitCode::kOk;
}

/// True when every node that has not finished is out of reach. One that has nothing of the run ends
/// it by itself, when that stays so.
bool isOutOfReach(const LiveState& live) {
    bool anyGone = false;
    for (const LiveState::NodeLink& node : live.nodes) {
        if (node.link == LiveState::Link::kNone || node.link == LiveState::Link::kMissing)
            continue;
        if (!isGone(node))
            return false;
        anyGone = true;
    }
    return anyGone;
}

/// Set when nothing of the run can be followed, because every node that has not ended it refuses
/// the login.
std::optional<Error> refusalOf(const LiveState& live) {
    std::optional<Error> refusal;
    for (const LiveState::NodeLink& node : live.nodes) {
        if (node.link == LiveState::Link::kRefused)
            refusal = {ErrorCode::kDenied, node.why.toStdString()};
        else if (node.link != LiveState::Link::kNone)
            return std::nullopt;
    }
    return refusal;
}

/// Everything that the watch prints, from one reader.
class Watch {
public:
    Watch(CommandContext& context, QString run, std::unique_ptr<StoreReader> reader)
        : m_session(context)
        , m_run(std::move(run))
        , m_reader(std::move(reader)) {}

    /// False when nothing more can come: the run has ended and no node with missing data can be
    /// reached, or all nodes refuse the login.
    bool refresh();
    /// Asks the person for what a node that refuses the login needs; asks again only if that
    /// helped. False: there is no such node.
    bool askForLogin();
    int finish();
    /// Ctrl+C ends the watching and not the run. Returns `exitCode`.
    int leave(int exitCode);

private:
    std::string statusText(const RunSummary& run);
    std::string throughputText(int ranks);
    std::string paceText(const RunSummary& run, const LiveState& live);
    void printNewEvents(int attempt);
    double stepMs(const RunSummary& run);

    CommandContext& m_session;
    QString m_run;
    std::unique_ptr<StoreReader> m_reader;
    StatusLine m_status;
    std::optional<Error> m_refusal; ///< all nodes refuse the login; the run goes on there
    std::set<std::string> m_prompted;
    int64_t m_lastEvent = 0;
    std::chrono::steady_clock::time_point m_refreshed{};
};

/// "  12.3k tokens/s"; empty before the first step.
std::string Watch::throughputText(int ranks) {
    const MetricDef metric = throughputMetric(*m_reader, m_run);
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank)
        if (const auto last = m_reader->lastPoint(m_run, {metric.name, rank}))
            sum += last->value;
    if (sum <= 0)
        return {};
    return "  " + (sum < 1000 ? formatNumber(sum) : formatNumber(sum / 1000) + "k") + " " +
           metric.unit;
}

std::string Watch::statusText(const RunSummary& run) {
    const double share =
        run.totalSteps ? static_cast<double>(run.step) / static_cast<double>(run.totalSteps) : 0;
    std::string text = progressBar(share, kBarWidth) + " step " + stepsText(run);
    if (run.loss)
        text += "  loss " + formatNumber(*run.loss);
    if (run.validationLoss)
        text += "  validation " + formatNumber(*run.validationLoss);
    text += lastFigures(*m_reader, m_run, qualityMetrics(*m_reader, m_run));
    text += throughputText(run.ranks);
    const LiveState live = m_session.engine().live(m_run);
    for (const LiveState::NodeLink& node : live.nodes)
        if (isGone(node))
            text += "  (" + node.node +
                    (node.link == LiveState::Link::kMissing ? " has nothing of it: "
                                                            : " unreachable: ") +
                    oneLine(node.why.toStdString()) + ")";
    return text + paceText(run, live);
}

/// Mean of the last steps; 0: there are none.
double Watch::stepMs(const RunSummary& run) {
    constexpr int64_t kLast = 50;
    const auto mean = m_reader->buckets(m_run, {metricName(metric::kTrainStepMs), 0},
                                        run.step - kLast + 1, run.step, 1);
    return mean.empty() || std::isnan(mean[0].mean) ? 0 : mean[0].mean;
}

/// "  3 min left", or who the ranks wait for.
std::string Watch::paceText(const RunSummary& run, const LiveState& live) {
    const double ms = stepMs(run);
    if (live.held)
        return "  held";
    if (const std::string why = whyUnstored(live); !why.empty())
        return "  shown as it was: " + oneLine(why);
    if (isAnyDown(live)) // which is told already
        return {};
    if (standsStill(live, ms))
        return "  stands still: " + oneLine(whoIsBehind(live));
    if (ms <= 0 || run.totalSteps == 0)
        return {};
    return "  " + formatDuration(ms / 1000 * static_cast<double>(run.totalSteps - run.step)) +
           " left";
}

/// Skips events of earlier attempts, but says how one led to the next.
void Watch::printNewEvents(int attempt) {
    auto events = m_reader->events(m_run, 50);
    std::reverse(events.begin(), events.end());
    for (const StoredEvent& event : events) {
        if (event.id <= m_lastEvent)
            continue;
        m_lastEvent = event.id;
        if (event.attempt < attempt && event.event.code != kRestartsEvent)
            continue;
        if (event.event.severity != Severity::kInfo || event.event.code == kNodeBackEvent ||
            event.event.code == kEarlierRunEvent)
            m_status.print("  " + oneLine(event.event.message));
    }
}

bool Watch::refresh() {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_refreshed < kRefresh)
        return true;
    m_refreshed = now;
    forgetPassingReadFailure();
    const auto run = m_reader->run(m_run);
    if (!run && readFailure() && readFailure()->code != ErrorCode::kCorrupt)
        return true; // it is read again
    if (!run)
        return false;
    printNewEvents(run->attempt);
    m_status.update(run->state == RunStateKind::kRunning ? statusText(*run)
                    : run->queuePlace > 0                ? oneLine(waitWords(*m_reader, *run))
                                                         : runStateName(run->state));
    const LiveState live = m_session.engine().live(m_run);
    const bool open = !hasEnded(run->state);
    m_refusal = open ? refusalOf(live) : std::nullopt;
    return open ? !m_refusal : !isOutOfReach(live);
}

bool Watch::askForLogin() {
    for (const LiveState::NodeLink& node : m_session.engine().live(m_run).nodes) {
        if (node.link != LiveState::Link::kRefused || !m_prompted.insert(node.node).second)
            continue;
        m_status.update("");
        if (openAsking(m_session, {node.node}))
            m_prompted.erase(node.node);
        m_refusal.reset();
        return true;
    }
    return false;
}

int Watch::finish() {
    forgetPassingReadFailure();
    const auto run = m_reader->run(m_run);
    if (!run)
        return printError(m_session,
                          {ErrorCode::kNotFound, m_run.toStdString() + " is not stored any more"});
    if (m_refusal)
        return printError(m_session, *m_refusal);
    printNewEvents(run->attempt);
    m_status.print(statusText(*run));
    m_status.update("");
    auto samples = samplesByStep(m_reader->samples(m_run));
    std::erase_if(samples, [](const StepSample& sample) { // pictures say nothing in a line
        return sample.retiredBy != 0 || sample.parts.front().kind == SampleKind::kPicture;
    });
    if (m_session.json()) {
        printJson(toJson(*run));
    } else {
        if (!samples.empty())
            std::cout << "Sample after step " << samples.front().step << ":\n"
                      << safeText(samples.front().text) << "\n\n";
        std::cout << run->id.toStdString() << " " << runStateName(run->state)
                  << (run->message.isEmpty() ? "" : ": " + oneLine(run->message.toStdString()))
                  << std::endl;
    }
    return static_cast<int>(exitCodeOf(run->state));
}

int Watch::leave(int exitCode) {
    m_status.print("The run goes on. Come back with: ringmaster attach " + m_run.toStdString());
    return exitCode;
}

} // namespace

int watchRun(CommandContext& context, const QString& run) {
    auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    Watch watch(context, run, std::move(*reader));
    Engine& engine = context.engine();
    bool ended = false;
    bool refused = false;
    bool continues = true;
    QString problem;
    QObject receiver; // the engine outlives what is captured
    QObject::connect(&engine, &Engine::loginRefused, &receiver, [&] { refused = true; });
    QObject::connect(&engine, &Engine::attemptEnded, &receiver,
                     [&](const QString& which) { ended = ended || which == run; });
    QObject::connect(&engine, &Engine::failed, &receiver,
                     [&](const QString& which, const QString& why) {
                         if (which == run)
                             problem = why;
                     });
    engine.attach(run);
    do {
        refused = false;
        const Interruption interruption;
        awaitUntil([&] {
            continues = watch.refresh();
            return interruption.isRequested() || !continues || ended || refused ||
                   !problem.isEmpty();
        });
        if (interruption.isRequested())
            return watch.leave(interruption.exitCode());
        // The refusal may concern a node of another run: this one can still be followed.
    } while (problem.isEmpty() && (watch.askForLogin() || (continues && !ended)));
    if (!problem.isEmpty())
        std::cerr << "ringmaster: " << oneLine(problem.toStdString()) << std::endl;
    return watch.finish();
}

} // namespace rm::cli
