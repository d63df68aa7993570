// SPDX-License-Identifier: GPL-3.0-or-later
// What was asked of a run, and taking it back.
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/requested_command.h"

#include <algorithm>
#include <iostream>
#include <iterator>

namespace rm::cli {

namespace {

/// The command that a person means.
Result<RequestedCommand> choose(const std::vector<RequestedCommand>& open, const std::string& start,
                                const std::string& attempt) {
    std::vector<RequestedCommand> meant;
    std::ranges::copy_if(open, std::back_inserter(meant), [&start](const RequestedCommand& each) {
        return each.id.starts_with(start);
    });
    if (meant.size() == 1)
        return meant.front();
    if (meant.empty())
        return fail(ErrorCode::kNotFound, attempt + ": no such command waits for an answer");
    std::string ids;
    const std::vector<std::string> shorts = shortIds(meant);
    for (size_t at = 0; at < meant.size(); ++at)
        ids += (at == 0 ? "" : ", ") + shorts[at] + " (" + requestedWords(meant[at]) + ")";
    return fail(ErrorCode::kInvalid, attempt + ": several wait, name one: " + ids);
}

int runCommands(CommandContext& context, const std::string& id) {
    const auto run = context.caughtUp(id);
    if (!run)
        return printError(context, run.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto commands = (*reader)->requestedCommands(run->id);
    auto list = nlohmann::ordered_json::array();
    std::vector<std::vector<std::string>> rows = {{"ID", "COMMAND", "ASKED", "BY", "ANSWER"}};
    const std::vector<std::string> ids = shortIds(commands);
    for (const RequestedCommand& each : commands) {
        list.push_back(toJson(each));
        rows.push_back({oneLine(ids[rows.size() - 1]), oneLine(requestedWords(each)),
                        formatAgo(each.requestedNs), oneLine(requesterWords(each.by)),
                        oneLine(fateWords(each))});
    }
    if (context.json())
        printJson(list);
    else
        std::cout << (commands.empty() ? "Nothing was asked of it yet.\n" : formatTable(rows))
                  << std::flush;
    return 0;
}

int runWithdraw(CommandContext& context, const std::string& id, const std::string& command) {
    // Not caughtUp(): a process that follows the run sends what waits.
    const auto run = context.resolveOne(id);
    if (!run)
        return printError(context, run.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto chosen = choose((*reader)->openCommands(run->id), command,
                               "withdraw a command of " + run->id.toStdString());
    if (!chosen)
        return printError(context, chosen.error());
    const auto withdrawn = await(context.engine().ask(WithdrawRequest{run->id, chosen->id}));
    if (!withdrawn)
        return printError(context, withdrawn.error());
    const std::string rest = withdrawn->toStdString();
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {"withdrawn", chosen->id}, {"message", rest}});
    else
        std::cout << run->id.toStdString() << ": " << oneLine(requestedWords(*chosen))
                  << " is withdrawn" << (rest.empty() ? "" : "; " + oneLine(rest)) << std::endl;
    return 0;
}

} // namespace

void addRequested(CommandLine& line) {
    auto& listed = line.keep<std::string>();
    line.mayOnlyRead(*line.addOfRun(
        "commands", "List what was asked of a run, by whom, and its answers", listed,
        [&listed](CommandContext& context) { return runCommands(context, listed); }));

    struct Withdraw {
        std::string run, command;
    };
    auto& o = line.keep<Withdraw>();
    auto* withdraw = line.addOfRun(
        "withdraw", "Take back a command that waits for a node", o.run,
        [&o](CommandContext& context) { return runWithdraw(context, o.run, o.command); });
    withdraw->add_option("COMMAND", o.command,
                         "Start of its id, of `commands RUN`; default: the only one that waits");
}

} // namespace rm::cli
