// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/run_watch.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/recipes.h"

#include <QTimer>

#include <functional>
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
    bool isTooLarge = false;
    QObject::connect(&session.engine(), &Engine::tooLarge, &context, [&] { isTooLarge = true; });
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
    auto answer = await(started);
    if (!answer && isTooLarge)
        answer.error().message += "; --anyway launches it all the same";
    return answer;
}

IfTooLarge ifTooLarge(bool anyway) {
    return anyway ? IfTooLarge::kLaunch : IfTooLarge::kRefuse;
}

/// A launch, and the nodes that it needs.
struct Start {
    std::function<QFuture<Result<QString>>()> begin;
    std::vector<std::string> nodes;
};

/// A node that does not let us in has refused before anything was begun, so that, once a person
/// gave what it asks for, the launch can simply begin again.
Result<QString> launchAsking(Session& session, const QString& run, const Start& start,
                             const Interruption& interruption) {
    auto id = awaitLaunch(session, run, start.begin(), interruption);
    const bool denied = !id && id.error().code == ErrorCode::kDenied;
    if (denied && !interruption.isAsked() && openAsking(session, start.nodes))
        id = awaitLaunch(session, run, start.begin(), interruption);
    return id;
}

/// Shows a launch while it goes on, then the run's id. Ctrl+C cancels it.
int reportStarted(Session& session, const QString& run, const Start& start, bool wait) {
    bool isAsked = false;
    {
        const Interruption interruption;
        const Result<QString> id = launchAsking(session, run, start, interruption);
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

std::vector<std::string> nodesOf(const RunSummary& run) {
    std::vector<std::string> names;
    for (const RunNode& node : run.nodes)
        names.push_back(node.nodeName);
    return names;
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
    std::vector<std::string> nodes;
    for (const Placement& placement : *placements)
        nodes.push_back(placement.node.toStdString());
    const auto begin = [&] {
        return session.engine().launch(*spec, *placements, run, ifTooLarge(options.anyway));
    };
    return reportStarted(session, run, {begin, nodes}, options.wait);
}

int runAttach(Session& session, const std::string& id) {
    const auto run = session.resolve(id);
    return run ? watchRun(session, run->id) : printError(session, run.error());
}

int runResume(Session& session, const std::string& id, bool wait) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    const auto begin = [&] { return session.engine().resume(run->id); };
    return reportStarted(session, run->id, {begin, nodesOf(*run)}, wait);
}

int runRestore(Session& session, const RestoreOptions& options) {
    const auto run = session.caughtUp(options.run);
    if (!run)
        return printError(session, run.error());
    const QString started = options.asNew ? newId(run->name.toStdString()) : run->id;
    const auto begin = [&] {
        return options.asNew ? session.engine().branch(run->id, options.step, {}, started,
                                                       ifTooLarge(options.anyway))
                             : session.engine().resume(run->id, options.step);
    };
    return reportStarted(session, started, {begin, nodesOf(*run)}, options.wait);
}

} // namespace rm::cli
