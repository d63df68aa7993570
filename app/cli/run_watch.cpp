// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_watch.h"

#include "app/cli/access.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "app/core/store/run_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <set>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kRefresh = 200ms;

/// Ctrl+C ends this terminal program only: what it followed trains on.
void leaveRunAlone(int) {
    static constexpr char kText[] = "\nThe run goes on. Come back with: ringmaster attach RUN\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(128 + SIGINT);
}

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
        return ExitCode::kUnavailable;
    case RunStateKind::kFinished:
        break;
    }
    return ExitCode::kOk;
}

/// No node that has more to tell can be expected to.
bool isOutOfReach(const LiveState& live) {
    bool anyGone = false;
    for (const LiveState::NodeLink& node : live.nodes) {
        if (node.link != LiveState::Link::kNone && !isGone(node))
            return false;
        anyGone = anyGone || isGone(node);
    }
    return anyGone;
}

/// Why nothing of a run can be followed: every node that has not ended it refuses the login.
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
    Watch(Session& session, QString run, std::unique_ptr<StoreReader> reader)
        : m_session(session)
        , m_run(std::move(run))
        , m_reader(std::move(reader)) {}

    /// False when nothing more can come: the run has ended, and none of its nodes can be reached
    /// for what is missing, or no node lets us in.
    bool refresh();
    /// Asks a person for what a node wants that refuses the login, once unless it helped. False:
    /// there is no such node.
    bool askForLogin();
    int finish();

private:
    std::string statusText(const RunSummary& run);
    std::string throughputText(int ranks);
    void printNewEvents();

    Session& m_session;
    QString m_run;
    std::unique_ptr<StoreReader> m_reader;
    StatusLine m_status;
    std::optional<Error> m_refusal; ///< the run goes on, where nobody lets us in
    std::set<std::string> m_asked;
    int64_t m_lastEvent = 0;
    int64_t m_firstStep = -1;
    std::chrono::steady_clock::time_point m_started = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point m_refreshed{};
};

/// "  12.3k tokens/s"; empty before the first step.
std::string Watch::throughputText(int ranks) {
    const MetricDef& metric = throughputMetric(*m_reader, m_run);
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
    std::string text = progressBar(share, kBarWidth) + " step " + std::to_string(run.step) + "/" +
                       std::to_string(run.totalSteps);
    if (run.loss)
        text += "  loss " + formatNumber(*run.loss);
    if (run.validationLoss)
        text += "  validation " + formatNumber(*run.validationLoss);
    text += lastFigures(*m_reader, m_run, qualityMetrics(*m_reader, m_run));
    text += throughputText(run.ranks);
    const LiveState live = m_session.engine().live(m_run);
    for (const LiveState::NodeLink& node : live.nodes)
        if (isGone(node))
            text += "  (" + node.node + " unreachable: " + oneLine(node.why.toStdString()) + ")";
    if (m_firstStep < 0 && run.step > 0)
        m_firstStep = run.step;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - m_started;
    if (m_firstStep >= 0 && run.step > m_firstStep + 2)
        text += "  " +
                formatDuration(elapsed.count() / static_cast<double>(run.step - m_firstStep) *
                               static_cast<double>(run.totalSteps - run.step)) +
                " left";
    return text;
}

void Watch::printNewEvents() {
    auto events = m_reader->events(m_run, 50);
    std::reverse(events.begin(), events.end());
    for (const StoredEvent& event : events) {
        if (event.id <= m_lastEvent)
            continue;
        m_lastEvent = event.id;
        if (event.event.severity != Severity::kInfo)
            m_status.print("  " + oneLine(event.event.message));
    }
}

bool Watch::refresh() {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_refreshed < kRefresh)
        return true;
    m_refreshed = now;
    const auto run = m_reader->run(m_run);
    if (!run)
        return false;
    printNewEvents();
    m_status.update(run->state == RunStateKind::kRunning ? statusText(*run)
                                                         : runStateName(run->state));
    const LiveState live = m_session.engine().live(m_run);
    const bool open = exitCodeOf(run->state) == ExitCode::kUnavailable;
    m_refusal = open ? refusalOf(live) : std::nullopt;
    return open ? !m_refusal : !isOutOfReach(live);
}

bool Watch::askForLogin() {
    for (const LiveState::NodeLink& node : m_session.engine().live(m_run).nodes) {
        if (node.link != LiveState::Link::kRefused || !m_asked.insert(node.node).second)
            continue;
        m_status.update("");
        if (openAsking(m_session, {node.node}))
            m_asked.erase(node.node);
        m_refusal.reset();
        return true;
    }
    return false;
}

int Watch::finish() {
    const auto run = m_reader->run(m_run);
    if (!run)
        return static_cast<int>(ExitCode::kNotFound);
    if (m_refusal)
        return printError(m_session, *m_refusal);
    m_status.print(statusText(*run));
    m_status.update("");
    const auto samples = m_reader->samples(m_run);
    if (m_session.json()) {
        printJson(toJson(*run));
    } else {
        if (!samples.empty())
            std::cout << "Sample after step " << samples.front().step << ":\n"
                      << safeText(samples.front().prompt + samples.front().text) << "\n\n";
        std::cout << run->id.toStdString() << " " << runStateName(run->state)
                  << (run->message.isEmpty() ? "" : ": " + oneLine(run->message.toStdString()))
                  << std::endl;
    }
    return static_cast<int>(exitCodeOf(run->state));
}

} // namespace

int watchRun(Session& session, const QString& run) {
    auto reader = session.reader();
    if (!reader)
        return printError(session, reader.error());
    std::signal(SIGINT, &leaveRunAlone);
    Watch watch(session, run, std::move(*reader));
    Engine& engine = session.engine();
    bool ended = false;
    bool refused = false;
    QString problem;
    QObject::connect(&engine, &Engine::loginRefused, &engine, [&] { refused = true; });
    QObject::connect(&engine, &Engine::attemptEnded, &engine,
                     [&](const QString& which) { ended = ended || which == run; });
    QObject::connect(&engine, &Engine::failed, &engine,
                     [&](const QString& which, const QString& why) {
                         if (which == run)
                             problem = why;
                     });
    engine.attach(run);
    do {
        refused = false;
        awaitUntil([&] { return !watch.refresh() || ended || refused || !problem.isEmpty(); });
    } while (problem.isEmpty() && watch.askForLogin());
    if (!problem.isEmpty())
        std::cerr << "ringmaster: " << oneLine(problem.toStdString()) << std::endl;
    return watch.finish();
}

} // namespace rm::cli
