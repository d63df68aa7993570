// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/run_words.h"

#include "app/core/runs/standstill.h"
#include "app/core/store/run_summary.h"
#include "app/ui/look/format.h"
#include "shared/board/board.h"
#include "shared/io/clock.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace rm {

namespace {

constexpr int64_t kHalfDayNs = 12 * 3600 * 1'000'000'000LL;

struct RunWords {
    Q_DECLARE_TR_FUNCTIONS(RunWords)
};

StateWords pendingWords(CommandKind kind, const QString& counted) {
    switch (kind) {
    case CommandKind::kPause:
        return {RunWords::tr("Pausing%1").arg(counted), Tone::kWarn};
    case CommandKind::kHold:
    case CommandKind::kStep:
        return {RunWords::tr("Holding%1").arg(counted), Tone::kWarn};
    case CommandKind::kContinue:
        return {RunWords::tr("Continuing"), Tone::kGood};
    case CommandKind::kCheckpoint:
        return {RunWords::tr("Saving a checkpoint"), Tone::kGood};
    case CommandKind::kValidate:
        return {RunWords::tr("Validating"), Tone::kGood};
    case CommandKind::kSample:
        return {RunWords::tr("Sampling"), Tone::kGood};
    case CommandKind::kSet:
        return {RunWords::tr("Changing a setting"), Tone::kGood};
    case CommandKind::kTrace:
        return {RunWords::tr("Starting a trace"), Tone::kGood};
    case CommandKind::kStop:
        return {RunWords::tr("Stopping%1").arg(counted), Tone::kWarn};
    case CommandKind::kKill:
        return {RunWords::tr("Killing%1").arg(counted), Tone::kWarn};
    }
    Q_UNREACHABLE();
}

/// Whether a rank has done what the pending command asks of it.
bool hasFollowed(const RankState& rank, CommandKind kind) {
    if (kind == CommandKind::kHold || kind == CommandKind::kStep)
        return rank.phase == static_cast<uint8_t>(Phase::kHeld);
    return rank.pid == 0 || rank.phase == static_cast<uint8_t>(Phase::kEnding);
}

QString countedRanks(const RunSummary& run, const LiveState& live, CommandKind kind) {
    int done = 0, seen = 0;
    for (const LiveState::NodeLink& node : live.nodes)
        for (const RankState& rank : node.state ? node.state->ranks : std::vector<RankState>()) {
            ++seen;
            done += hasFollowed(rank, kind);
        }
    return seen == 0 ? QString() : RunWords::tr(", %1 of %2 ranks").arg(done).arg(run.ranks);
}

/// As the ranks report it; their samples may still be on their way.
int64_t heldStep(const RunSummary& run, const LiveState& live) {
    int64_t step = run.step;
    for (const LiveState::NodeLink& node : live.nodes)
        for (const RankState& rank : node.state ? node.state->ranks : std::vector<RankState>())
            step = std::max(step, rank.step);
    return step;
}

QString attemptSuffix(const RunSummary& run) {
    return run.attempt > 1 ? kSeparator + RunWords::tr("attempt %1").arg(run.attempt) : QString();
}

QString lostNodeNames(const RunSummary& run) {
    QStringList names;
    for (const LostNode& node : run.lostNodes)
        names << nodeTitle(node.nodeName);
    return names.join(", ");
}

} // namespace

StateWords stateWords(const RunSummary& run) {
    if (run.queuePlace > 0 && run.state != RunStateKind::kWaiting) {
        RunSummary ended = run;
        ended.queuePlace = 0;
        return {RunWords::tr("%1, queued").arg(stateWords(ended).text), Tone::kAccent};
    }
    if (run.isPresumed) {
        RunSummary concluded = run;
        concluded.isPresumed = false;
        return {RunWords::tr("%1, not confirmed").arg(stateWords(concluded).text), Tone::kWarn};
    }
    if (!run.lostNodes.empty())
        return {RunWords::tr("%1, %2 unreachable")
                    .arg(run.state == RunStateKind::kRunning ? RunWords::tr("Running")
                         : isRestarting(run)                 ? RunWords::tr("Restarting")
                         : isQueued(run)                     ? RunWords::tr("Queued")
                                                             : RunWords::tr("Preparing"),
                         lostNodeNames(run)),
                Tone::kWarn};
    const QString step = formatCount(run.step);
    const bool untrained = run.trainedSteps() == 0;
    const QString first = formatCount(run.parentStep + 1);
    switch (run.state) {
    case RunStateKind::kPreparing:
        if (isQueued(run))
            return {RunWords::tr("Queued"), Tone::kAccent};
        return isRestarting(run) ? StateWords{RunWords::tr("Restarting"), Tone::kWarn}
                                 : StateWords{RunWords::tr("Preparing"), Tone::kAccent};
    case RunStateKind::kRunning:
        if (run.held)
            return {RunWords::tr("Held at %1").arg(step), Tone::kWarn};
        return {RunWords::tr("Running") + attemptSuffix(run), Tone::kGood};
    case RunStateKind::kPaused:
        return {RunWords::tr("Paused at %1").arg(step), Tone::kWarn};
    case RunStateKind::kFinished:
        return {RunWords::tr("Finished"), Tone::kNeutral};
    case RunStateKind::kStopped:
        if (wasKilled(run))
            return {untrained ? RunWords::tr("Killed before step %1").arg(first)
                              : RunWords::tr("Killed at %1").arg(step),
                    Tone::kNeutral};
        return {untrained ? RunWords::tr("Stopped before step %1").arg(first)
                          : RunWords::tr("Stopped at %1").arg(step),
                Tone::kNeutral};
    case RunStateKind::kFailed:
        return {untrained ? RunWords::tr("Failed before step %1").arg(first)
                          : RunWords::tr("Failed at %1").arg(step),
                Tone::kBad};
    case RunStateKind::kPreempted:
        return {RunWords::tr("Preempted at %1").arg(step), Tone::kWarn};
    case RunStateKind::kWaiting:
        return {run.queuePlace == 1 ? RunWords::tr("Queued, next")
                                    : RunWords::tr("Queued, no. %1").arg(run.queuePlace),
                Tone::kAccent};
    }
    Q_UNREACHABLE();
}

bool isPreparing(const RunSummary& run, const LiveState& live) {
    const bool isRequested =
        run.state == RunStateKind::kPreparing && !isRestarting(run) && !isQueued(run);
    return live.launching.has_value() || isRequested;
}

StateWords stateWords(const RunSummary& run, const LiveState& live) {
    if (isPreparing(run, live))
        return live.pending ? StateWords{RunWords::tr("Cancelling launch"), Tone::kWarn}
                            : StateWords{RunWords::tr("Preparing"), Tone::kAccent};
    if (!isLive(run.state))
        return stateWords(run);
    if (live.pending)
        return pendingWords(*live.pending, countedRanks(run, live, *live.pending));
    if (live.held)
        return {RunWords::tr("Held at %1").arg(formatCount(heldStep(run, live))), Tone::kWarn};
    return stateWords(run);
}

QString linkLostText(const LiveState& live) {
    QStringList lines;
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.link == LiveState::Link::kLost)
            lines << RunWords::tr(
                         "%1 unreachable since %2; if it is up, training goes on there; retrying")
                         .arg(nodeTitle(node.node), formatClock(unreachableSinceNs(node)));
        else if (node.link == LiveState::Link::kMissing)
            lines << RunWords::tr("%1 has nothing of the run since %2 (%3); looking for it again")
                         .arg(nodeTitle(node.node), formatClock(unreachableSinceNs(node)),
                              node.why);
        else if (node.link == LiveState::Link::kRefused)
            lines << RunWords::tr(
                         "%1 refuses the login since %2; training goes on there; check the "
                         "node to log in again")
                         .arg(nodeTitle(node.node), formatClock(unreachableSinceNs(node)));
    if (const std::string why = whyUnstored(live); !why.empty())
        lines << capitalized(why);
    for (const std::string& line : silentNodes(live, wallNowNs()))
        lines << capitalized(line);
    for (const std::string& line : journalProblems(live))
        lines << capitalized(line);
    return lines.join('\n');
}

QString placeWords(const RunSummary& run) {
    QStringList parts;
    parts << (run.nodes.size() == 1 ? nodeTitle(run.nodes.front().nodeName)
                                    : counted(static_cast<int64_t>(run.nodes.size()),
                                              RunWords::tr("1 node"), RunWords::tr("%1 nodes")));
    if (run.ranks > 0) // which a run that waits may not know
        parts << counted(run.ranks, RunWords::tr("1 rank"), RunWords::tr("%1 ranks"));
    const int64_t now = wallNowNs();
    const bool today = now - run.createdNs < kHalfDayNs;
    parts << (run.state == RunStateKind::kWaiting ? RunWords::tr("queued %1")
                                                  : RunWords::tr("started %1"))
                 .arg(today ? formatClock(run.createdNs) : formatRelative(run.createdNs, now));
    if (!run.parentRun.isEmpty())
        parts << RunWords::tr("branch of %1").arg(parentWords(run));
    return parts.join(kSeparator);
}

QString stepsWords(const StepSpan& span) {
    const QString first = formatCount(span.first);
    if (span.first == span.last)
        return RunWords::tr("step %1").arg(first);
    return span.last == StepSpan::kLast
               ? RunWords::tr("step %1 and later").arg(first)
               : RunWords::tr("steps %1 to %2").arg(first, formatCount(span.last));
}

QString parentWords(const RunSummary& run) {
    if (run.parentRun.isEmpty())
        return {};
    return RunWords::tr("%1 at %2")
        .arg(run.parentName.isEmpty() ? run.parentRun : run.parentName,
             formatCount(run.parentStep));
}

bool canResume(RunStateKind state) {
    return hasEnded(state) && state != RunStateKind::kFinished;
}

QString throughputWord(const MetricDef& metric) {
    return capitalized(metric.unit);
}

QString phaseTitle(const MetricDef& phase) {
    return capitalized(labelOf(phase));
}

QString amountWords(const Progress& progress) {
    return amountParts(progress, formatBytes, formatDuration).join(kSeparator);
}

QString stageWords(const Progress& progress) {
    if (progress.nodes.empty())
        return progress.stage;
    return RunWords::tr("%1 to %2")
        .arg(progress.stage, progress.nodes.size() == 1
                                 ? progress.nodes.front().stage
                                 : RunWords::tr("%1 nodes").arg(progress.nodes.size()));
}

QString progressWords(const Progress& progress) {
    if (progress.total <= 0)
        return stageWords(progress);
    return RunWords::tr("%1: %2 of %3")
               .arg(stageWords(progress), formatBytes(static_cast<double>(progress.done)),
                    formatBytes(static_cast<double>(progress.total))) +
           kSeparator + amountWords(progress);
}

QString capitalized(const std::string& text) {
    QString with = QString::fromStdString(text);
    if (!with.isEmpty())
        with[0] = with[0].toUpper();
    return with;
}

QString nodeTitle(const std::string& name) {
    return name == kLocalNodeName ? RunWords::tr("This computer") : QString::fromStdString(name);
}

} // namespace rm
