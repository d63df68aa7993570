// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/timeline.h"

#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/look/format.h"

#include <QCoreApplication>

#include <algorithm>

namespace rm {

namespace {

struct TimelineWords {
    Q_DECLARE_TR_FUNCTIONS(Timeline)
};

Tone toneOf(Severity severity) {
    switch (severity) {
    case Severity::kInfo:
        return Tone::kNeutral;
    case Severity::kWarning:
        return Tone::kWarn;
    case Severity::kError:
        return Tone::kBad;
    }
    Q_UNREACHABLE();
}

Moment momentOf(const StoredEvent& stored) {
    const Event& event = stored.event;
    QString text = QString::fromStdString(event.message);
    if (event.rank >= 0)
        text.prepend(TimelineWords::tr("rank %1: ").arg(event.rank));
    return {event.step, event.wallNs, toneOf(event.severity), text};
}

Moment momentOf(const StoredCheckpoint& stored) {
    const CheckpointSaved& saved = stored.saved;
    QString text = TimelineWords::tr("checkpoint %1, %2")
                       .arg(formatCount(saved.step), formatMilliseconds(saved.durationMs));
    if (stored.isBest)
        text += TimelineWords::tr(", best");
    if (stored.removed)
        text += isSomewhere(stored) ? TimelineWords::tr(", removed; there is a copy")
                                    : TimelineWords::tr(", removed");
    Moment moment{saved.step, saved.wallNs, Tone::kAccent, text};
    moment.removed = stored.removed;
    return moment;
}

/// "3 steps" of a command `step`; "steps": it was asked for elsewhere.
QString stepsText(const RequestedCommand* requested) {
    for (const auto& [name, value] : requested ? requested->args : decltype(requested->args)())
        if (name == "steps")
            return counted(QString::fromStdString(value).toLongLong(), TimelineWords::tr("1 step"),
                           TimelineWords::tr("%1 steps"));
    return TimelineWords::tr("steps");
}

QString commandText(const CommandApplied& applied, const RequestedCommand* requested) {
    const QString at = formatCount(applied.step);
    if (!applied.ok)
        return TimelineWords::tr("%1 refused: %2")
            .arg(QString::fromStdString(applied.kind), QString::fromStdString(applied.message));
    if (applied.kind == "set")
        return TimelineWords::tr("%1 at step %2").arg(QString::fromStdString(applied.message), at);
    if (applied.kind == "pause")
        return TimelineWords::tr("paused at step %1, devices freed").arg(at);
    if (applied.kind == "hold")
        return TimelineWords::tr("held at step %1").arg(at);
    if (applied.kind == "continue")
        return TimelineWords::tr("went on at step %1").arg(at);
    if (applied.kind == "step")
        return TimelineWords::tr("%1 done while held, from step %2").arg(stepsText(requested), at);
    if (applied.kind == "stop")
        return TimelineWords::tr("stopped at step %1").arg(at);
    if (applied.kind == "validate")
        return TimelineWords::tr("validated at step %1").arg(at);
    if (applied.kind == "sample")
        return TimelineWords::tr("sampled at step %1").arg(at);
    return TimelineWords::tr("%1 at step %2").arg(QString::fromStdString(applied.kind), at);
}

/// How it was asked for here; nullptr: it was not.
const RequestedCommand* requestOf(const StoredCommand& command, const RunHistory& history) {
    const auto requested =
        std::ranges::find(history.requested, command.applied.id, &RequestedCommand::id);
    return requested != history.requested.end() ? &*requested : nullptr;
}

Moment momentOf(const StoredCommand& stored, const RunHistory& history) {
    const CommandApplied& applied = stored.applied;
    Moment moment{applied.step, applied.wallNs, applied.ok ? Tone::kWarn : Tone::kBad,
                  commandText(applied, requestOf(stored, history))};
    if (applied.ok && applied.kind == "set")
        moment.command = applied.id;
    return moment;
}

bool isShownByAttempt(const RequestedCommand& requested) {
    return requested.state == RequestedState::kApplied &&
           (requested.kind == "resume" || requested.kind == "restore");
}

/// The moment of a command of which no rank's journal tells.
Moment momentOf(const RequestedCommand& requested) {
    const QString words = TimelineWords::tr("%1, asked for by %2: %3")
                              .arg(QString::fromStdString(requestedWords(requested)),
                                   QString::fromStdString(requesterWords(requested.by)),
                                   QString::fromStdString(fateWords(requested)));
    const bool isQuiet =
        requested.state == RequestedState::kWithdrawn || requested.state == RequestedState::kLapsed;
    const Tone tone = requested.state == RequestedState::kRefused ? Tone::kBad
                      : isQuiet                                   ? Tone::kNeutral
                                                                  : Tone::kWarn;
    return {-1, isOpen(requested.state) ? requested.requestedNs : requested.answeredNs, tone,
            words};
}

/// ", kc in a terminal"; empty: it was not asked for here.
QString requesterOf(const StoredCommand& command, const RunHistory& history) {
    const RequestedCommand* requested = requestOf(command, history);
    const bool isKnown = requested && requested->by.from != RequestedFrom::kElsewhere;
    return isKnown ? TimelineWords::tr(", %1").arg(
                         QString::fromStdString(requesterWords(requested->by)))
                   : QString();
}

/// ", sets aside steps 61 to 76"; empty: the attempt sets none aside.
QString retiredText(const StoredAttempt& attempt, const std::vector<StoredLine>& lines) {
    int64_t first = INT64_MAX, last = -1;
    for (const StoredLine& line : lines)
        if (line.retiredBy == attempt.attempt) {
            first = std::min(first, line.firstStep);
            last = std::max(last, line.lastStep);
        }
    if (last < first)
        return {};
    return first == last ? TimelineWords::tr(", sets aside step %1").arg(formatCount(last))
                         : TimelineWords::tr(", sets aside steps %1 to %2")
                               .arg(formatCount(first), formatCount(last));
}

Moment startOf(const StoredAttempt& attempt, const std::vector<StoredLine>& lines) {
    const QString text = attempt.attempt == 1
                             ? TimelineWords::tr("started")
                             : TimelineWords::tr("attempt %1 from step %2")
                                       .arg(attempt.attempt)
                                       .arg(formatCount(std::max<int64_t>(0, attempt.startStep))) +
                                   retiredText(attempt, lines);
    return {attempt.startStep, attempt.startedNs, Tone::kGood, text};
}

/// Adds the attempt's number to the text once the run has several attempts.
Moment ofAttempt(Moment moment, int attempt, const RunHistory& history) {
    if (history.attempts.size() > 1 && attempt > 0)
        moment.text += TimelineWords::tr(" (attempt %1)").arg(attempt);
    return moment;
}

/// Assigns the moment to an attempt, and marks it as retired if its step is on an abandoned line.
Mark markOf(Moment moment, int attempt, const RunHistory& history) {
    moment.attempt = attempt;
    moment.retired = std::ranges::any_of(history.lines, [&](const StoredLine& line) {
        return line.attempt == attempt && line.retiredBy != 0 && line.firstStep <= moment.step &&
               moment.step <= line.lastStep;
    });
    return moment;
}

/// A successful checkpoint command is shown by the checkpoint that it made.
bool isShownElsewhere(const StoredCommand& command) {
    return command.applied.ok && command.applied.kind == "checkpoint";
}

bool isJournaled(const RequestedCommand& requested, const RunHistory& history) {
    return std::ranges::any_of(history.commands, [&](const StoredCommand& command) {
        return command.applied.id == requested.id;
    });
}

/// Ended by a kill, by a signal or on the node itself, so that no rank journaled a command.
bool isEndedFromOutside(const StoredAttempt& attempt, const RunHistory& history) {
    const Outcome how = attempt.ended->outcome;
    const auto isStop = [&](const StoredCommand& command) {
        return command.attempt == attempt.attempt && command.applied.kind == "stop";
    };
    return (how == Outcome::kStopped || how == Outcome::kPreempted) &&
           std::ranges::none_of(history.commands, isStop);
}

} // namespace

std::vector<Moment> timelineOf(const RunSummary& run, const RunHistory& history) {
    std::vector<Moment> moments;
    for (const StoredAttempt& attempt : history.attempts) {
        if (attempt.hasStarted)
            moments.push_back(startOf(attempt, history.lines));
        if (attempt.ended && attempt.ended->outcome == Outcome::kFailed)
            moments.push_back({-1, attempt.ended->wallNs, Tone::kBad,
                               QString::fromStdString(attempt.ended->message)});
        if (attempt.ended && isEndedFromOutside(attempt, history))
            moments.push_back({-1, attempt.ended->wallNs, Tone::kWarn,
                               QString::fromStdString(attempt.ended->message)});
        if (attempt.ended && attempt.ended->outcome == Outcome::kFinished)
            moments.push_back({run.totalSteps > 0 ? run.totalSteps : run.step,
                               attempt.ended->wallNs, Tone::kGood, TimelineWords::tr("finished")});
    }
    for (const StoredEvent& event : history.events)
        if (event.event.code != kCommandLapsedEvent) // the command itself says so
            moments.push_back(ofAttempt(momentOf(event), event.attempt, history));
    for (const StoredCheckpoint& checkpoint : history.checkpoints)
        moments.push_back(ofAttempt(momentOf(checkpoint), checkpoint.attempt, history));
    for (const StoredCommand& command : history.commands) {
        if (isShownElsewhere(command))
            continue;
        Moment moment = momentOf(command, history);
        moment.text += requesterOf(command, history);
        moments.push_back(ofAttempt(std::move(moment), command.attempt, history));
    }
    for (const RequestedCommand& requested : history.requested)
        if (!isJournaled(requested, history) && !isShownByAttempt(requested))
            moments.push_back(momentOf(requested));
    std::ranges::stable_sort(moments, std::ranges::greater(), &Moment::wallNs);
    return moments;
}

std::vector<Mark> checkpointMarks(const RunHistory& history) {
    std::vector<Mark> marks;
    for (const StoredCheckpoint& checkpoint : history.checkpoints)
        if (!checkpoint.removed)
            marks.push_back(markOf(momentOf(checkpoint), checkpoint.attempt, history));
    return marks;
}

std::vector<Mark> chartMarks(const RunHistory& history) {
    std::vector<Mark> marks;
    for (const StoredCheckpoint& checkpoint : history.checkpoints) {
        Mark mark = markOf(momentOf(checkpoint), checkpoint.attempt, history);
        mark.quiet = true;
        if (!mark.removed || !mark.retired)
            marks.push_back(std::move(mark));
    }
    for (const StoredAttempt& attempt : history.attempts)
        if (attempt.attempt > 1 && attempt.hasStarted)
            marks.push_back(startOf(attempt, history.lines));
    for (const StoredEvent& event : history.events)
        if (event.event.severity != Severity::kInfo && event.event.step >= 0)
            marks.push_back(markOf(momentOf(event), event.attempt, history));
    for (const StoredCommand& command : history.commands)
        if (!isShownElsewhere(command) && command.applied.kind != "pause")
            marks.push_back(markOf(momentOf(command, history), command.attempt, history));
    return marks;
}

} // namespace rm
