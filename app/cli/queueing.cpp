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

bool isOpen(const RunSummary& run) {
    return run.queuePlace > 0 || !hasEnded(run.state);
}

/// Those that wait.
std::vector<RunSummary> waitingRuns(StoreReader& reader) {
    std::vector<RunSummary> waiting;
    for (const QueueEntry& entry : reader.queue())
        if (auto run = reader.run(entry.run))
            waiting.push_back(std::move(*run));
    return waiting;
}

std::string countsText(const std::vector<RunSummary>& runs) {
    const auto waiting =
        std::ranges::count_if(runs, [](const RunSummary& run) { return run.queuePlace > 0; });
    const auto live =
        std::ranges::count_if(runs, [](const RunSummary& run) { return isLive(run.state); });
    return (live == 0   ? std::string()
            : live == 1 ? "1 run trains, "
                        : std::to_string(live) + " runs train, ") +
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

/// Starts what can be started now. Ctrl+C ends that: what has not begun to train waits again.
Result<QueueProgress> startOnce(CommandContext& context, const Interruption& interruption) {
    StatusLine status;
    status.update("Start what can be started");
    const auto answer = context.engine().ask(StartQueuedRequest{});
    awaitUntil([&] { return answer.isFinished() || interruption.isRequested(); });
    if (answer.resultCount() > 0)
        return answer.result();
    return fail(ErrorCode::kUnavailable, "start what waits in the queue: interrupted");
}

} // namespace

Result<QueuedPlace> placeInQueue(const std::vector<Placement>& nodes, int take, bool anyway) {
    if (take > static_cast<int>(nodes.size()))
        return fail(ErrorCode::kInvalid, "take " + std::to_string(take) + " nodes of " +
                                             std::to_string(nodes.size()) +
                                             ": name more of them with --node");
    return queuedPlace(nodes, take, anyway);
}

int startQueued(CommandContext& context, const Queueing& queueing) {
    if (queueing.wait) {
        const int done = workQueue(context, queueing.runs);
        return done != 0 ? done : printOutcome(context, queueing);
    }
    const Interruption interruption;
    const auto progress = startOnce(context, interruption);
    if (interruption.isRequested()) {
        std::cerr << kWhoStarts << std::endl;
        return interruption.exitCode();
    }
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
    std::optional<int> undecided; ///< of the newest look
    StatusLine status;
    QObject::connect(&driver, &QueueDriver::looked, &driver, [&](const QueueProgress& progress) {
        undecided = progress.undecided;
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
        const auto now = runs.empty() ? waitingRuns(**reader) : storedRuns(context, runs);
        status.update(countsText(now));
        const bool isDone = undecided == 0 && std::ranges::none_of(now, &isOpen);
        return interruption.isRequested() || problem || isDone;
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
