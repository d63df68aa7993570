// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/run_detail.h"

#include "app/core/run/checkpoint_choice.h"
#include "app/core/run/part_words.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"

#include <QCoreApplication>

#include <algorithm>

namespace rm {

namespace {

constexpr int kMostEvents = 300;
constexpr int kTailLines = 6;

struct RunDetailWords {
    Q_DECLARE_TR_FUNCTIONS(RunDetail)
};

/// The rank that failed first, by the clock.
const StoredRank* firstFailed(const RunDetail& detail) {
    if (!detail.history.attempts.empty()) {
        const auto& ended = detail.history.attempts.back().ended;
        if (ended && ended->firstFailedRank >= 0)
            for (const StoredRank& rank : detail.ranks)
                if (rank.rank == ended->firstFailedRank)
                    return &rank;
    }
    const StoredRank* first = nullptr;
    for (const StoredRank& rank : detail.ranks)
        if (rank.exited && (rank.exited->exitCode != 0 || rank.exited->signal != 0) &&
            (!first || rank.exited->wallNs < first->exited->wallNs))
            first = &rank;
    return first;
}

/// Without what `said` tells already: a rank writes why it fails, and ends with that.
QString lastLines(const std::string& text, const QString& said) {
    QStringList lines = QString::fromStdString(text).trimmed().split('\n', Qt::SkipEmptyParts);
    lines.removeIf([&said](const QString& line) {
        const QString told = line.trimmed();
        const QString mark = QStringLiteral("error: ");
        return said.endsWith(told.startsWith(mark) ? told.mid(mark.size()) : told);
    });
    return QStringList(lines.mid(std::max<qsizetype>(0, lines.size() - kTailLines))).join('\n');
}

QString nextStep(const RunDetail& detail) {
    const StoredCheckpoint* kept = newestLiving(detail.history.checkpoints);
    if (!kept)
        return RunDetailWords::tr(
            "There is no checkpoint yet: mend the cause, then start it anew from "
            "New run.");
    return RunDetailWords::tr("Fix the cause, then Resume goes on from the checkpoint of step %1.")
        .arg(formatCount(kept->saved.step));
}

} // namespace

RunDetail readDetail(StoreReader& reader, const QString& id) {
    RunDetail detail;
    detail.run = reader.run(id);
    if (!detail.run)
        return detail;
    detail.figures = readFigures(reader, *detail.run);
    detail.history.attempts = reader.attempts(id);
    detail.history.events = reader.events(id, kMostEvents);
    detail.history.checkpoints = reader.checkpoints(id);
    detail.history.commands = reader.commands(id);
    detail.history.lines = reader.lines(id);
    detail.settings = reader.settings(id);
    detail.history.asked = reader.askedCommands(id);
    detail.ranks = reader.ranks(id);
    detail.wholePlaces = reader.wholePlaces(id);
    if (const auto* newest = newestLiving(detail.history.checkpoints);
        newest && canResume(detail.run->state))
        detail.resumePoint = {newest->saved.step, reader.retirementBy(id, *newest),
                              partWords(detail.run->nodes, detail.wholePlaces)};
    return detail;
}

FailureReport failureReport(const RunDetail& detail) {
    FailureReport report;
    report.what = detail.run ? detail.run->message : QString();
    if (const StoredRank* rank = firstFailed(detail); rank && rank->exited) {
        if (report.what.isEmpty())
            report.what = RunDetailWords::tr("rank %1: %2")
                              .arg(rank->rank)
                              .arg(QString::fromStdString(rank->exited->message));
        report.why = lastLines(rank->exited->tail, report.what);
    }
    if (report.what.isEmpty())
        report.what = RunDetailWords::tr("The run failed and nothing says why; its log may.");
    report.next = nextStep(detail);
    return report;
}

QString FailureReport::text() const {
    return QStringList{what, why, next}.join('\n');
}

} // namespace rm
