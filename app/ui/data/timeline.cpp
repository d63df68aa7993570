// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/timeline.h"

#include "app/ui/format.h"

#include <QCoreApplication>

#include <algorithm>

namespace rm {

namespace {

struct Words {
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
        text.prepend(Words::tr("rank %1: ").arg(event.rank));
    return {event.step, event.wallNs, toneOf(event.severity), text};
}

Moment momentOf(const StoredCheckpoint& stored) {
    const CheckpointSaved& saved = stored.saved;
    QString text = Words::tr("checkpoint %1, %2")
                       .arg(formatCount(saved.step), formatMilliseconds(saved.durationMs));
    if (saved.best)
        text += Words::tr(", best so far");
    return {saved.step, saved.wallNs, Tone::kAccent, text};
}

QString commandText(const CommandApplied& applied) {
    const QString at = formatCount(applied.step);
    if (!applied.ok)
        return Words::tr("%1 refused: %2")
            .arg(QString::fromStdString(applied.kind), QString::fromStdString(applied.message));
    if (applied.kind == "set")
        return Words::tr("%1 at step %2").arg(QString::fromStdString(applied.message), at);
    if (applied.kind == "pause")
        return Words::tr("paused at step %1, devices freed").arg(at);
    if (applied.kind == "hold")
        return Words::tr("held at step %1").arg(at);
    if (applied.kind == "continue")
        return Words::tr("went on at step %1").arg(at);
    if (applied.kind == "stop")
        return Words::tr("stopped at step %1").arg(at);
    return Words::tr("%1 at step %2").arg(QString::fromStdString(applied.kind), at);
}

Moment momentOf(const StoredCommand& stored) {
    const CommandApplied& applied = stored.applied;
    return {applied.step, applied.wallNs, applied.ok ? Tone::kWarn : Tone::kBad,
            commandText(applied)};
}

Moment startOf(const StoredAttempt& attempt) {
    const QString text = attempt.attempt == 1
                             ? Words::tr("started")
                             : Words::tr("attempt %1 from step %2")
                                   .arg(attempt.attempt)
                                   .arg(formatCount(std::max<int64_t>(0, attempt.startStep)));
    return {attempt.startStep, attempt.startedNs, Tone::kGood, text};
}

/// A checkpoint command and the checkpoint it made are one moment.
bool isToldElsewhere(const StoredCommand& command) {
    return command.applied.ok && command.applied.kind == "checkpoint";
}

} // namespace

std::vector<Moment> timelineOf(const RunSummary& run, const RunHistory& history) {
    std::vector<Moment> moments;
    for (const StoredAttempt& attempt : history.attempts) {
        if (attempt.hasStarted)
            moments.push_back(startOf(attempt));
        if (attempt.ended && attempt.ended->outcome == Outcome::kFailed)
            moments.push_back({-1, attempt.ended->wallNs, Tone::kBad,
                               QString::fromStdString(attempt.ended->message)});
        if (attempt.ended && attempt.ended->outcome == Outcome::kFinished)
            moments.push_back(
                {run.totalSteps, attempt.ended->wallNs, Tone::kGood, Words::tr("finished")});
    }
    for (const StoredEvent& event : history.events)
        moments.push_back(momentOf(event));
    for (const StoredCheckpoint& checkpoint : history.checkpoints)
        moments.push_back(momentOf(checkpoint));
    for (const StoredCommand& command : history.commands)
        if (!isToldElsewhere(command))
            moments.push_back(momentOf(command));
    std::ranges::stable_sort(moments, std::ranges::greater(), &Moment::wallNs);
    return moments;
}

std::vector<Mark> checkpointMarks(const RunHistory& history) {
    std::vector<Mark> marks;
    for (const StoredCheckpoint& checkpoint : history.checkpoints)
        if (!checkpoint.removed)
            marks.push_back(momentOf(checkpoint));
    return marks;
}

std::vector<Mark> chartMarks(const RunHistory& history) {
    std::vector<Mark> marks = checkpointMarks(history);
    for (Mark& mark : marks)
        mark.quiet = true;
    for (const StoredAttempt& attempt : history.attempts)
        if (attempt.attempt > 1 && attempt.hasStarted)
            marks.push_back(startOf(attempt));
    for (const StoredEvent& event : history.events)
        if (event.event.severity != Severity::kInfo && event.event.step >= 0)
            marks.push_back(momentOf(event));
    for (const StoredCommand& command : history.commands)
        if (!isToldElsewhere(command) && command.applied.kind != "pause")
            marks.push_back(momentOf(command));
    return marks;
}

} // namespace rm
