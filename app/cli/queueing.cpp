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

std::string textOf(const QueueProblem& problem) {
    return problem.run.toStdString() + ": " + problem.why.toStdString();
}

/// Of runs that could not be started: 0 if all of them wait again.
int codeOf(const std::vector<RunSummary>& runs) {
    const bool isOut = std::ranges::any_of(
        runs, [](const RunSummary& run) { return run.queuePlace == 0 && !isLive(run.state); });
    return isOut ? static_cast<int>(ExitCode::kRunFailed) : 0;
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

std::string countsText(StoreReader& reader) {
    const size_t live = reader.liveRuns().size(), waiting = reader.queue().size();
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
    std::vector<QString> refused;
    for (const QueueProblem& problem : progress->problems) {
        std::cerr << "ringmaster: " << oneLine(textOf(problem)) << std::endl;
        if (std::ranges::find(queueing.runs, problem.run) != queueing.runs.end())
            refused.push_back(problem.run);
    }
    const int code = printOutcome(context, queueing);
    if (progress->waiting > 0 || progress->undecided > 0)
        std::cerr << kWhoStarts << std::endl;
    return code != 0 ? code : codeOf(storedRuns(context, refused));
}

int workQueue(CommandContext& context, const std::vector<QString>& runs) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    context.engine().attachAll();
    QueueDriver driver(context.engine());
    std::set<std::string> said;
    std::set<QString> refused;
    std::optional<Error> failure;
    std::optional<int> undecided; ///< of the newest look
    StatusLine status;
    QObject::connect(&driver, &QueueDriver::looked, &driver, [&](const QueueProgress& progress) {
        undecided = progress.undecided;
        for (const QString& run : progress.started)
            status.print("Started " + run.toStdString());
        for (const QueueProblem& problem : progress.problems) {
            if (said.insert(textOf(problem)).second)
                status.print(oneLine(textOf(problem)));
            refused.insert(problem.run);
        }
    });
    QObject::connect(&driver, &QueueDriver::failed, &driver, [&](const QString& why) {
        failure = Error{ErrorCode::kUnavailable, why.toStdString()};
    });
    const Interruption interruption;
    awaitUntil([&] {
        const auto now = runs.empty() ? waitingRuns(**reader) : storedRuns(context, runs);
        status.update(countsText(**reader));
        const bool isDone = driver.isIdle() && undecided == 0 && std::ranges::none_of(now, &isOpen);
        return interruption.isRequested() || failure || isDone;
    });
    status.update("");
    if (failure)
        return printError(context, *failure);
    if (!interruption.isRequested())
        return codeOf(storedRuns(context, {refused.begin(), refused.end()}));
    std::cerr << "What trains goes on, and what waits stays in the queue. " << kWhoStarts
              << std::endl;
    return interruption.exitCode();
}

} // namespace rm::cli
