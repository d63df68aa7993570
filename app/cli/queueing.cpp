// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/queueing.h"

#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/engine/queue_driver.h"
#include "app/core/queue/queue_order.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

namespace rm::cli {

namespace {

constexpr const char* kWhoStarts =
    "What waits is started while a Ringmaster window is open, or by: ringmaster queue work";

/// The runs as they are stored; without those that were deleted.
std::vector<RunSummary> storedRuns(const CommandContext& context, const std::vector<QString>& ids) {
    std::vector<RunSummary> runs;
    const auto reader = context.reader();
    for (const QString& id : ids)
        if (auto run = reader ? (*reader)->run(id) : std::nullopt)
            runs.push_back(std::move(*run));
    return runs;
}

/// Those that wait, and those of sweeps that may wait again.
std::vector<RunSummary> openRuns(StoreReader& reader) {
    std::vector<RunSummary> open;
    for (const QueueEntry& entry : reader.queue())
        if (auto run = reader.run(entry.run))
            open.push_back(std::move(*run));
    for (RunSummary& run : reader.liveRuns())
        if (!run.sweep.isEmpty())
            open.push_back(std::move(run));
    return open;
}

bool isOpen(const RunSummary& run) {
    return run.queuePlace > 0 || !hasEnded(run.state);
}

/// A run of a sweep that has paused at a rung is judged once the others are there.
bool isUndecided(const RunSummary& run, const std::vector<RunSummary>& all) {
    const auto isOpenBeside = [&](const RunSummary& other) {
        return other.sweep == run.sweep && isOpen(other);
    };
    return run.state == RunStateKind::kPaused && !run.sweep.isEmpty() &&
           std::ranges::any_of(all, isOpenBeside);
}

std::string countsText(const std::vector<RunSummary>& runs) {
    const auto waiting =
        std::ranges::count_if(runs, [](const RunSummary& run) { return run.queuePlace > 0; });
    const auto live =
        std::ranges::count_if(runs, [](const RunSummary& run) { return isLive(run.state); });
    return std::to_string(live) + (live == 1 ? " run trains, " : " runs train, ") +
           std::to_string(waiting) + (waiting == 1 ? " waits" : " wait");
}

nlohmann::ordered_json jsonOfRuns(StoreReader& reader, const std::vector<RunSummary>& runs) {
    auto out = nlohmann::ordered_json::array();
    for (const RunSummary& run : runs) {
        auto one = toJson(run);
        one["waits_for"] = waitWords(reader, run);
        out.push_back(std::move(one));
    }
    return out;
}

void printRuns(StoreReader& reader, const std::vector<RunSummary>& runs) {
    std::vector<std::vector<std::string>> rows = {{"RUN", "NAME", "STATE", "STEP", ""}};
    for (const RunSummary& run : runs) {
        const std::string wait = waitWords(reader, run);
        rows.push_back({run.id.toStdString(), oneLine(run.name.toStdString()), runStateName(run),
                        stepsText(run), oneLine(wait.empty() ? run.message.toStdString() : wait)});
    }
    std::cout << formatTable(rows) << std::flush;
}

/// Prints what became of them; 0 if none has failed.
int printOutcome(CommandContext& context, const Queueing& queueing) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto runs = storedRuns(context, queueing.runs);
    if (context.json()) {
        nlohmann::ordered_json out = {{"runs", jsonOfRuns(**reader, runs)}};
        if (!queueing.sweep.isEmpty())
            out["sweep"] = queueing.sweep.toStdString();
        printJson(out);
    } else {
        printRuns(**reader, runs);
    }
    const bool failed = std::ranges::any_of(
        runs, [](const RunSummary& run) { return run.state == RunStateKind::kFailed; });
    return failed ? static_cast<int>(ExitCode::kRunFailed) : 0;
}

/// Asks once; nodes that refuse the login are asked for, where a person is there.
Result<QueueProgress> startOnce(CommandContext& context) {
    StatusLine status;
    status.update("Start what can be started");
    return await(context.engine().ask(StartQueuedRequest{}));
}

} // namespace

Result<QueuedPlace> queuedPlace(const std::vector<Placement>& nodes, int take, bool anyway) {
    QueuedPlace place;
    place.launchesTooLarge = anyway;
    for (const Placement& node : nodes)
        place.nodes.push_back({node.node.toStdString(), node.ranks});
    if (take > static_cast<int>(nodes.size()))
        return fail(ErrorCode::kInvalid, "take " + std::to_string(take) + " nodes of " +
                                             std::to_string(nodes.size()) +
                                             ": name more of them with --node");
    place.wanted = take == static_cast<int>(nodes.size()) ? 0 : take;
    return place;
}

int startQueued(CommandContext& context, const Queueing& queueing) {
    if (queueing.wait) {
        const int done = workQueue(context, queueing.runs);
        return done != 0 ? done : printOutcome(context, queueing);
    }
    const auto progress = startOnce(context);
    if (!progress)
        return printError(context, progress.error());
    for (const QString& problem : progress->problems)
        std::cerr << "ringmaster: " << oneLine(problem.toStdString()) << std::endl;
    const int code = printOutcome(context, queueing);
    if (progress->waiting > 0)
        std::cerr << kWhoStarts << std::endl;
    return code;
}

int workQueue(CommandContext& context, const std::vector<QString>& runs) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    context.engine().attachAll();
    QueueDriver driver(context.engine());
    std::set<std::string> said;
    std::optional<Error> problem;
    bool hasLooked = false;
    StatusLine status;
    QObject::connect(&driver, &QueueDriver::looked, &driver, [&](const QueueProgress& progress) {
        hasLooked = true;
        for (const QString& run : progress.started)
            status.print("Started " + run.toStdString());
        for (const QString& why : progress.problems)
            if (said.insert(why.toStdString()).second)
                status.print(oneLine(why.toStdString()));
    });
    QObject::connect(&driver, &QueueDriver::failed, &driver, [&](const QString& why) {
        problem = Error{ErrorCode::kUnavailable, why.toStdString()};
    });
    const Interruption interruption;
    awaitUntil([&] {
        const auto now = runs.empty() ? openRuns(**reader) : storedRuns(context, runs);
        status.update(countsText(now));
        const bool isDone = std::ranges::none_of(
            now, [&](const RunSummary& run) { return isOpen(run) || isUndecided(run, now); });
        return interruption.isRequested() || problem || (hasLooked && isDone);
    });
    status.update("");
    if (problem)
        return printError(context, *problem);
    if (!interruption.isRequested())
        return 0;
    std::cerr << "What trains goes on, and what waits stays in the queue. " << kWhoStarts
              << std::endl;
    return interruption.exitCode();
}

} // namespace rm::cli
