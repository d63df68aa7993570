// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/run_watch.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/recipes.h"

#include <QTimer>

#include <iostream>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookForInterruption = 50ms;

Result<Placement> parsePlacement(const std::string& text) {
    const size_t colon = text.find(':');
    Placement placement{QString::fromStdString(text.substr(0, colon)), 0};
    if (colon == std::string::npos)
        return placement;
    bool isNumber = false;
    placement.ranks = QString::fromStdString(text.substr(colon + 1)).toInt(&isNumber);
    if (!isNumber || placement.ranks < 1)
        return fail(ErrorCode::kInvalid,
                    "place ranks: \"" + text + "\" must read NAME or NAME:RANKS with RANKS >= 1");
    return placement;
}

Result<std::vector<Placement>> parsePlacements(const std::vector<std::string>& nodes) {
    if (nodes.empty())
        return std::vector<Placement>{{kLocalNodeName, 0}};
    std::vector<Placement> placements;
    for (const std::string& text : nodes) {
        const auto placement = parsePlacement(text);
        if (!placement)
            return tl::unexpected<Error>(placement.error());
        placements.push_back(*placement);
    }
    return placements;
}

QString newId(const std::string& name) {
    return QString::fromStdString(newRunId(name));
}

/// Shows the stages of a launch until it is over, and cancels it when that is asked for.
Result<QString> awaitLaunch(Session& session, const QString& run, QFuture<Result<QString>> started,
                            const Interruption& interruption) {
    StatusLine status;
    QObject context;
    QObject::connect(
        &session.engine(), &Engine::progressed, &context,
        [&](const QString&, const Progress& progress) { status.update(progressText(progress)); });
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &context, [&] {
        if (!interruption.isAsked())
            return;
        look.stop();
        session.engine().command(run, CommandKind::kKill);
    });
    look.start(kLookForInterruption);
    return await(started);
}

/// Shows a launch while it goes on, then the run's id. Ctrl+C cancels it.
int reportStarted(Session& session, const QString& run, QFuture<Result<QString>> started,
                  bool wait) {
    bool isAsked = false;
    {
        const Interruption interruption;
        const Result<QString> id = awaitLaunch(session, run, std::move(started), interruption);
        isAsked = interruption.isAsked();
        if (!id && isAsked) {
            printError(session, {ErrorCode::kUnavailable, "launch " + run.toStdString() +
                                                              ": cancelled; nothing of it runs"});
            return interruption.exitCode();
        }
        if (!id)
            return printError(session, id.error());
    }
    // Asked too late, it ends as any run that is killed.
    if (wait || isAsked)
        return watchRun(session, run);
    if (session.json())
        printJson({{"id", run.toStdString()}});
    else
        std::cout << run.toStdString() << "\n"
                  << "It trains on its nodes now; follow it with: ringmaster attach "
                  << run.toStdString() << std::endl;
    return 0;
}

} // namespace

int runRun(Session& session, const RunOptions& options) {
    const auto spec = loadSpecOrRecipe(options.spec, options.overrides);
    if (!spec)
        return printError(session, spec.error());
    const auto placements = parsePlacements(options.nodes);
    if (!placements)
        return printError(session, placements.error());
    const QString run = newId((*spec)->name);
    return reportStarted(session, run, session.engine().launch(*spec, *placements, run),
                         options.wait);
}

int runAttach(Session& session, const std::string& id) {
    const auto run = session.resolve(id);
    return run ? watchRun(session, run->id) : printError(session, run.error());
}

int runResume(Session& session, const std::string& id, bool wait) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    return reportStarted(session, run->id, session.engine().resume(run->id), wait);
}

int runRestore(Session& session, const std::string& id, int64_t step, bool asNew, bool wait) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    const QString started = asNew ? newId(run->name.toStdString()) : run->id;
    return reportStarted(session, started,
                         asNew ? session.engine().branch(run->id, step, {}, started)
                               : session.engine().resume(run->id, step),
                         wait);
}

} // namespace rm::cli
