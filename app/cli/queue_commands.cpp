// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/queueing.h"
#include "app/cli/terminal.h"
#include "app/core/queue/queue_order.h"

#include <charconv>
#include <iostream>
#include <optional>

namespace rm::cli {

namespace {

int runQueue(CommandContext& context) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto queue = (*reader)->queue();
    const BusyNodes busy = busyNodes((*reader)->liveRuns());
    auto json = nlohmann::ordered_json::array();
    std::vector<std::vector<std::string>> rows = {{"PLACE", "RUN", "NAME", "WAITS FOR"}};
    for (const QueueEntry& entry : queue) {
        const auto run = (*reader)->run(entry.run);
        if (!run)
            continue;
        const std::string words = waitReason(busy, entry);
        rows.push_back({std::to_string(run->queuePlace), run->id.toStdString(),
                        oneLine(run->name.toStdString()), oneLine(words)});
        auto nodes = nlohmann::ordered_json::array();
        for (const QueuedNode& node : entry.place.nodes)
            nodes.push_back({{"name", node.node}, {"ranks", node.ranks}});
        json.push_back({{"id", run->id.toStdString()},
                        {"name", run->name.toStdString()},
                        {"place", run->queuePlace},
                        {"nodes", nodes},
                        {"take", entry.place.wanted},
                        {"sweep", run->sweep.toStdString()},
                        {"waits_for", words}});
    }
    if (context.json())
        printJson(json);
    else if (queue.empty())
        std::cout << "Nothing waits. `ringmaster run --queue` and `ringmaster sweep` put runs into "
                     "the queue."
                  << std::endl;
    else
        std::cout << formatTable(rows) << std::flush;
    return 0;
}

/// From 0; nullopt: it is none.
std::optional<int> placeIn(const std::string& text) {
    if (text == "first")
        return 0;
    if (text == "last")
        return std::numeric_limits<int>::max();
    int place = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, place);
    return parsed.ec == std::errc() && parsed.ptr == end && place > 0 ? std::optional(place - 1)
                                                                      : std::nullopt;
}

int runMove(CommandContext& context, const std::string& id, const std::string& place) {
    const auto run = context.resolveOne(id);
    if (!run)
        return printError(context, run.error());
    const auto moved =
        await(context.engine().ask(MoveInQueueRequest{run->id, placeIn(place).value_or(0)}));
    return moved ? runQueue(context) : printError(context, moved.error());
}

} // namespace

void addQueue(CommandLine& line) {
    struct Move {
        std::string run, place;
    };
    auto& o = line.keep<Move>();
    auto* queue = line.addGroup("queue", "List the runs that wait for free nodes", &runQueue);
    auto* move =
        line.addOfRun(*queue, "move", "Change the order", o.run,
                      [&o](CommandContext& context) { return runMove(context, o.run, o.place); });
    move->add_option("PLACE", o.place, "first, last, or a number from 1")
        ->required()
        ->check([](const std::string& text) {
            return placeIn(text) ? "" : "write first, last, or a number from 1";
        });
    auto* work = line.add(*queue, "work",
                          "Start what waits as nodes become free, until nothing waits; Ctrl+C "
                          "ends it",
                          [](CommandContext& context) { return workQueue(context); });
    line.needNodes(*work);
}

} // namespace rm::cli
