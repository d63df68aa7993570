// SPDX-License-Identifier: GPL-3.0-or-later
// Taking a change of a setting back, in either of its two meanings.
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/control.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/engine/go_back.h"
#include "app/core/runs/live_changes.h"
#include "shared/return_if_error.h"

#include <iostream>

namespace rm::cli {

namespace {

struct RevertOptions {
    std::string run;
    std::string change; ///< id of a command, or a key; empty: the newest in force
    bool fromCheckpoint = false;
    bool list = false;
    bool yes = false;
};

std::string revertAttempt(const RunSummary& run) {
    return "revert a change of " + run.id.toStdString();
}

nlohmann::ordered_json jsonOf(const LiveChange& change) {
    return {{"command", change.command},
            {"key", change.key},
            {"before", change.before},
            {"after", change.after},
            {"attempt", change.attempt},
            {"step", change.step},
            {"in_force", change.isInForce},
            {"checkpoint", change.checkpoint
                               ? nlohmann::ordered_json(checkpointNameOf(*change.checkpoint))
                               : nlohmann::ordered_json()}};
}

int listChanges(const CommandContext& context, const std::vector<LiveChange>& changes) {
    if (context.json()) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const LiveChange& change : changes)
            list.push_back(jsonOf(change));
        printJson(list);
        return 0;
    }
    std::vector<std::vector<std::string>> rows = {
        {"COMMAND", "CHANGE", "STEP", "IN FORCE", "CHECKPOINT FROM BEFORE IT"}};
    for (const LiveChange& change : changes)
        rows.push_back({oneLine(change.command.substr(0, 8)), oneLine(changeWords(change)),
                        std::to_string(change.step), change.isInForce ? "yes" : "no",
                        change.checkpoint ? oneLine(checkpointNameOf(*change.checkpoint)) : "-"});
    std::cout << (changes.empty() ? "No setting of it was changed while it trained.\n"
                                  : formatTable(rows))
              << std::flush;
    return 0;
}

int setBack(CommandContext& context, const RunSummary& run, const LiveChange& change) {
    if (const auto possible = checkSetBack(run, change); !possible)
        return printError(
            context, {possible.error().code, revertAttempt(run) + ": " + possible.error().message});
    if (!context.json())
        std::cerr << "Setting " << oneLine(change.key) << " back to what it was before step "
                  << change.step << "; the weights stay as they are (--from-checkpoint goes back "
                  << "to those of that step)" << std::endl;
    return runControl(context, run.id.toStdString(), CommandKind::kSet, settingsBefore(change));
}

/// Says what going back sets aside; a person has to agree, or to have said --yes.
Result<void> agreeToGoBack(CommandContext& context, const RunSummary& run, const LiveChange& change,
                           bool yes) {
    RM_ASSIGN_OR_RETURN(const auto reader, context.reader());
    const Retirement retired = reader->retirementBy(run.id, *change.checkpoint);
    std::string words = "Going back to step " + std::to_string(change.step) + ", before " +
                        oneLine(changeWords(change)) + ",";
    words += hasEnded(run.state) ? "" : " pauses the run, and";
    words += " begins its next attempt there";
    if (!retired.isEmpty())
        words += "; that sets aside " + retirementText(retired) + ", which stay";
    if (yes) {
        std::cerr << words << std::endl;
        return {};
    }
    return agree(context, revertAttempt(run), words, false);
}

int goBack(CommandContext& context, const RunSummary& run, const LiveChange& change, bool yes) {
    if (const auto possible = checkGoBack(change); !possible)
        return printError(
            context, {possible.error().code, revertAttempt(run) + ": " + possible.error().message});
    if (const auto agreed = agreeToGoBack(context, run, change, yes); !agreed)
        return printError(context, agreed.error());
    const QString name = QString::fromStdString(checkpointNameOf(*change.checkpoint));
    const auto answer = goBackTo(context.engine(), run, name);
    const Interruption interruption;
    StatusLine status;
    awaitUntil([&] {
        status.update(context.engine().live(run.id).launching
                          ? "starting from step " + std::to_string(change.step)
                          : "waiting for the ranks to end");
        return answer.isFinished() || interruption.isRequested();
    });
    status.update("");
    if (interruption.isRequested()) {
        std::cerr << "ringmaster: " << revertAttempt(run) << ": given up; `ringmaster restore "
                  << run.id.toStdString() << ' ' << name.toStdString() << "` goes back to there"
                  << std::endl;
        return interruption.exitCode();
    }
    if (answer.resultCount() == 0)
        return printError(
            context, {ErrorCode::kUnavailable, revertAttempt(run) + ": Ringmaster was closed"});
    if (const auto started = answer.result(); !started)
        return printError(
            context, {started.error().code, revertAttempt(run) + ": " + started.error().message});
    if (context.json()) {
        nlohmann::ordered_json shown = jsonOf(change);
        shown["run"] = run.id.toStdString();
        shown["from_step"] = change.step;
        printJson(shown);
    } else {
        std::cout << run.id.toStdString() << " goes on from step " << change.step << ", before "
                  << oneLine(changeWords(change)) << "; follow it with: ringmaster attach "
                  << run.id.toStdString() << std::endl;
    }
    return 0;
}

int runRevert(CommandContext& context, const RevertOptions& options) {
    const auto run = context.caughtUpOne(options.run, true);
    if (!run)
        return printError(context, run.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto changes = liveChanges(**reader, *run);
    if (options.list)
        return listChanges(context, changes);
    const auto change = findChange(changes, options.change, revertAttempt(*run));
    if (!change)
        return printError(context, change.error());
    return options.fromCheckpoint ? goBack(context, *run, *change, options.yes)
                                  : setBack(context, *run, *change);
}

} // namespace

void addRevert(CommandLine& line) {
    auto& o = line.keep<RevertOptions>();
    auto* revert = line.addOfRun("revert", "Take back a setting that was changed by `set`", o.run,
                                 [&o](CommandContext& context) { return runRevert(context, o); });
    line.needNodes(*revert);
    revert->add_option("CHANGE", o.change,
                       "The start of the id of a `set`, of `commands RUN`, or a key; default: the "
                       "newest change that is in force");
    revert->add_flag("--from-checkpoint", o.fromCheckpoint,
                     "Go back to the checkpoint from before the change, in place of only setting "
                     "the value back");
    revert->add_flag("--list", o.list, "Only list the changes");
    revert->add_flag("--yes", o.yes,
                     "With --from-checkpoint: agree that later steps are set aside; a script has "
                     "to");
}

} // namespace rm::cli
