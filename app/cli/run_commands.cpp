// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/run_watch.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "app/core/launch/recipes.h"

#include <iostream>

namespace rm::cli {

namespace {

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

/// Shows the stages of a launch while it goes on, then the run's id.
int reportStarted(Session& session, QFuture<Result<QString>> started, bool wait) {
    Result<QString> id = QString();
    {
        StatusLine status;
        const auto shown =
            QObject::connect(&session.engine(), &Engine::progressed, &session.engine(),
                             [&](const QString&, const Progress& progress) {
                                 status.update(progressText(progress));
                             });
        id = await(started);
        QObject::disconnect(shown);
    }
    if (!id)
        return printError(session, id.error());
    if (wait)
        return watchRun(session, *id);
    if (session.json())
        printJson({{"id", id->toStdString()}});
    else
        std::cout << id->toStdString() << "\n"
                  << "It trains on its nodes now; follow it with: ringmaster attach "
                  << id->toStdString() << std::endl;
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
    return reportStarted(session, session.engine().launch(*spec, *placements), options.wait);
}

int runAttach(Session& session, const std::string& id) {
    const auto run = session.resolve(id);
    return run ? watchRun(session, run->id) : printError(session, run.error());
}

int runResume(Session& session, const std::string& id, bool wait) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    return reportStarted(session, session.engine().resume(run->id), wait);
}

int runRestore(Session& session, const std::string& id, int64_t step, bool asNew, bool wait) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    auto started =
        asNew ? session.engine().branch(run->id, step) : session.engine().resume(run->id, step);
    return reportStarted(session, std::move(started), wait);
}

} // namespace rm::cli
