// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/run_detail.h"

#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/queue/queue_order.h"
#include "app/core/runs/failure_cause.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/runs/standstill.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "shared/exit_code.h"
#include "shared/journal/event_codes.h"
#include "shared/journal/first_cause.h"
#include "shared/spec/schema.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>

namespace rm {

namespace {

constexpr int kMostEvents = 300;
constexpr int kTailLines = 6;

struct RunDetailWords {
    Q_DECLARE_TR_FUNCTIONS(RunDetail)
};

/// Without what `said` tells already: a rank writes why it fails, and ends with that.
QString lastLines(const std::string& text, const QString& said) {
    QStringList lines = QString::fromStdString(text).trimmed().split('\n', Qt::SkipEmptyParts);
    lines.removeIf([&said](const QString& line) {
        const QString shown = line.trimmed();
        const QString mark = QStringLiteral("error: ");
        return said.endsWith(shown.startsWith(mark) ? shown.mid(mark.size()) : shown);
    });
    return QStringList(lines.mid(std::max<qsizetype>(0, lines.size() - kTailLines))).join('\n');
}

QString nextStep(const RunDetail& detail) {
    const StoredCheckpoint* kept = newestLiving(detail.history.checkpoints);
    if (!kept)
        return RunDetailWords::tr(
            "There is no checkpoint yet: mend the cause, then start it anew from "
            "New run.");
    const auto& attempts = detail.history.attempts;
    const int code =
        attempts.empty() || !attempts.back().ended ? 0 : attempts.back().ended->exitCode;
    if (code == static_cast<int>(ExitCode::kNonFinite) ||
        code == static_cast<int>(ExitCode::kSpiked))
        return RunDetailWords::tr("A resume would meet the same. Under Checkpoints, choose one "
                                  "from before it and Branch a new run, with a smaller learning "
                                  "rate, say.");
    return RunDetailWords::tr("Fix the cause, then Resume goes on from the checkpoint of step %1.")
        .arg(formatCount(kept->saved.step));
}

/// The event by which a node of the newest attempt last told of ranks that hang; nullptr: none
/// hangs. An event that names a rank comes before those of nodes that wait for it.
const Event* hangEvent(const RunDetail& detail) {
    const Event* hang = nullptr;
    std::set<int> heard; // nodes; their newest events come first
    for (const StoredEvent& stored : detail.history.events) {
        const bool hangs = stored.event.code == kRankHangsEvent;
        if (stored.attempt != detail.run->attempt ||
            (!hangs && stored.event.code != kRankContinuesEvent))
            continue;
        if (heard.insert(stored.nodeIndex).second && hangs && (!hang || hang->rank < 0))
            hang = &stored.event;
    }
    return hang;
}

bool isAnyRank(const LiveState& live, bool (*is)(const RankState&)) {
    return std::ranges::any_of(live.nodes, [is](const LiveState::NodeLink& node) {
        return node.state && std::ranges::any_of(node.state->ranks, is);
    });
}

/// "; it went on from step 200, 79 steps were done again"
QString resumedWords(const RunDetail& detail, const StoredAttempt& attempt) {
    int64_t again = 0, last = 0;
    for (const StoredLine& line : detail.history.lines)
        if (line.retiredBy == attempt.attempt) {
            again += line.lastStep - line.firstStep + 1;
            last = std::max(last, line.lastStep);
        }
    const QString words =
        attempt.startStep > 0
            ? RunDetailWords::tr("; it went on from step %1").arg(formatCount(attempt.startStep))
            : RunDetailWords::tr("; it began anew");
    if (again == 0)
        return words;
    const QString steps =
        counted(again, RunDetailWords::tr("1 step"), RunDetailWords::tr("%1 steps"));
    return words + (detail.run->step >= last
                        ? RunDetailWords::tr(", %1 done again").arg(steps)
                        : RunDetailWords::tr(", %1 to be done again").arg(steps));
}

} // namespace

bool RunDetail::writesSamples() const {
    return !spec || rm::writesSamples(*spec);
}

bool RunDetail::keepsPictures() const {
    return spec && rm::keepsPictures(*spec);
}

std::string RunDetail::modelType() const {
    return spec ? spec->model.type : std::string();
}

RunDetail readDetail(StoreReader& reader, const QString& id, const std::optional<StepSpan>& span) {
    RunDetail detail;
    detail.run = reader.run(id);
    if (!detail.run)
        return detail;
    detail.figures = readFigures(reader, *detail.run);
    detail.verdict = readVerdict(reader, *detail.run, detail.figures);
    if (span) {
        RunFigures figures = readFigures(reader, *detail.run, span);
        Verdict verdict = readVerdict(reader, *detail.run, figures);
        detail.span = {std::move(figures), std::move(verdict)};
    }
    detail.waitsFor = waitWords(reader, *detail.run);
    detail.history.attempts = reader.attempts(id);
    detail.history.events = reader.events(id, kMostEvents);
    detail.history.checkpoints = reader.checkpoints(id);
    detail.history.commands = reader.commands(id);
    detail.history.lines = reader.lines(id);
    detail.settings = reader.settings(id);
    detail.history.requested = reader.requestedCommands(id);
    detail.ranks = reader.ranks(id);
    detail.wholePlaces = reader.wholePlaces(id);
    if (const auto spec = parseRunSpec(reader.specToml(id), id.toStdString()))
        detail.spec = *spec;
    if (const auto* newest = newestLiving(detail.history.checkpoints);
        newest && canResume(detail.run->state)) {
        std::vector<std::string> notes{partWords(detail.run->nodes, detail.wholePlaces),
                                       unreadWords(*detail.run)};
        std::erase(notes, std::string());
        detail.resumePoint = {newest->saved.step, reader.retirementBy(id, *newest),
                              joined(notes, " ")};
    }
    return detail;
}

QString hangWords(const RunDetail& detail, const LiveState& live) {
    // Another line tells of a node that cannot be reached, and what its ranks do is not known.
    if (!detail.run || detail.run->state != RunStateKind::kRunning || live.held || live.launching ||
        isAnyDown(live))
        return {};
    const Event* hang = hangEvent(detail);
    const bool isStopped = isAnyRank(live, [](const RankState& rank) { return rank.isStopped; });
    if (!hang && !isStopped)
        return {};
    std::string words = whoIsBehind(live); // counts on while it lasts
    if (words.empty() && !isAnyRank(live, [](const RankState& rank) { return rank.pid != 0; }))
        words = hang->message;
    return words.empty()
               ? QString()
               : RunDetailWords::tr("The run stands still: %1").arg(QString::fromStdString(words));
}

QString restartWords(const RunDetail& detail) {
    if (!detail.run || hasEnded(detail.run->state))
        return {};
    const auto attemptOf = [&](int number) -> const StoredAttempt* {
        const auto found =
            std::ranges::find(detail.history.attempts, number, &StoredAttempt::attempt);
        return found != detail.history.attempts.end() ? &*found : nullptr;
    };
    const StoredAttempt* now = attemptOf(detail.run->attempt);
    const bool isBetween = now && now->ended && now->ended->resumes;
    const StoredAttempt* before = isBetween ? now : attemptOf(detail.run->attempt - 1);
    if (!before || !before->ended || !before->ended->resumes)
        return {};
    const bool hasFailed = before->ended->outcome == Outcome::kFailed;
    const QString why = hasFailed ? QString::fromStdString(before->ended->message)
                                  : RunDetailWords::tr("its nodes were put together anew");
    if (isBetween || !now || !now->hasStarted)
        return RunDetailWords::tr("Attempt %1 ended at %2: %3; the run goes on by itself")
            .arg(before->attempt)
            .arg(formatClock(before->ended->wallNs), why);
    return RunDetailWords::tr("Attempt %1 since %2: %3")
               .arg(now->attempt)
               .arg(formatClock(now->startedNs), why) +
           resumedWords(detail, *now);
}

FailureReport failureReport(const RunDetail& detail) {
    FailureReport report;
    report.what = detail.run ? detail.run->message : QString();
    if (const StoredRank* rank = firstFailed(detail.history.attempts, detail.ranks);
        rank && rank->exited) {
        if (report.what.isEmpty())
            report.what = RunDetailWords::tr("rank %1: %2")
                              .arg(rank->rank)
                              .arg(QString::fromStdString(rank->exited->message));
        report.why = lastLines(rank->exited->tail, report.what);
    }
    if (report.what.isEmpty())
        report.what = RunDetailWords::tr("The run failed and nothing says why; its log may.");
    report.next = nextStep(detail);
    const KnownError* known =
        detail.run ? knownCause(*detail.run, detail.history.attempts, detail.ranks) : nullptr;
    if (known)
        report.next = RunDetailWords::tr("%1 %2\n%3")
                          .arg(QString::fromStdString(meaningOf(*known)),
                               QString::fromStdString(fixOf(*known)), report.next);
    return report;
}

FailureReport endReport(const RunDetail& detail) {
    if (!detail.run || !hasEnded(detail.run->state))
        return {};
    const auto& attempts = detail.history.attempts;
    const bool hadFailed =
        !attempts.empty() && attempts.back().ended && isRequestAfterFailure(*attempts.back().ended);
    std::vector<std::string> said{hadFailed ? detail.run->message.toStdString() : std::string(),
                                  unsavedWords(*detail.run, detail.history.checkpoints)};
    std::erase(said, std::string());
    FailureReport report;
    if (!said.empty())
        report.what = capitalized(said.front()) + '.';
    if (said.size() > 1)
        report.next = capitalized(said.back()) + '.';
    return report;
}

QString FailureReport::text() const {
    return QStringList{what, why, next}.join('\n');
}

} // namespace rm
