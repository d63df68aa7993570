// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/launch_lines.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/store/run_summary.h"
#include "shared/checkpoint/manifest.h"

#include <QDir>

#include <iostream>

namespace rm::cli {

namespace {

/// The arguments of most of these commands.
struct OneCheckpoint {
    std::string run;
    std::string checkpoint; ///< a step, or the name of a folder
};

/// Shows how far a copy is until it is there; asks for the passwords of the nodes that need one.
Result<QString> awaitCopy(CommandContext& context, const RunSummary& run,
                          const std::string& checkpoint, const CopyOrder& order) {
    const auto copy = [&] {
        LaunchLines lines;
        QObject receiver;
        QObject::connect(&context.engine(), &Engine::progressed, &receiver,
                         [&](const QString& which, const Progress& progress) {
                             if (which == run.id)
                                 lines.show(progress);
                         });
        return await(context.engine().ask(
            CopyCheckpointRequest{run.id, QString::fromStdString(checkpoint), order}));
    };
    auto folder = copy();
    const bool denied = !folder && folder.error().code == ErrorCode::kDenied;
    std::vector<std::string> nodes = nodesOf(run);
    nodes.push_back(order.node.toStdString());
    return denied && openAsking(context, nodes) ? copy() : folder;
}

int copyTo(CommandContext& context, const std::string& id, const std::string& checkpoint,
           const CopyOrder& order) {
    const auto run = context.caughtUpOne(id);
    if (!run)
        return printError(context, run.error());
    const auto folder = awaitCopy(context, *run, checkpoint, order);
    if (!folder)
        return printError(context, folder.error());
    if (context.json())
        printJson({{"run", run->id.toStdString()},
                   {"node", order.node.toStdString()},
                   {"folder", folder->toStdString()}});
    else
        std::cout << oneLine(folder->toStdString()) << std::endl;
    return 0;
}

QString absolutePath(const std::string& path) {
    return path.empty() ? QString()
                        : QDir::current().absoluteFilePath(QString::fromStdString(path));
}

/// Asks the engine, and once more when the person has entered what a node asks for.
template <class Ask>
auto answerOf(CommandContext& context, const RunSummary& run, const Ask& ask) {
    auto answer = await(ask());
    const bool denied = !answer && answer.error().code == ErrorCode::kDenied;
    if (denied && openAsking(context, nodesOf(run)))
        answer = await(ask());
    return answer;
}

int runRemoveCheckpoint(CommandContext& context, const std::string& id,
                        const std::string& checkpoint, bool undo) {
    const auto run = context.caughtUpOne(id);
    if (!run)
        return printError(context, run.error());
    const auto done = answerOf(context, *run, [&] {
        const QString which = QString::fromStdString(checkpoint);
        return undo ? context.engine().ask(BringBackCheckpointRequest{run->id, which})
                    : context.engine().ask(RemoveCheckpointRequest{run->id, which});
    });
    if (!done)
        return printError(context, done.error());
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {undo ? "back" : "removed", checkpoint}});
    else if (undo)
        std::cout << run->id.toStdString() << ": checkpoint " << oneLine(checkpoint) << " is back"
                  << std::endl;
    else
        std::cout << run->id.toStdString() << ": checkpoint " << oneLine(checkpoint)
                  << " is removed; --undo brings it back for " << kAsideDays << " days"
                  << std::endl;
    return 0;
}

int runPinCheckpoint(CommandContext& context, const std::string& id, const std::string& checkpoint,
                     bool pinned) {
    const auto run = context.caughtUpOne(id);
    if (!run)
        return printError(context, run.error());
    const auto done = answerOf(context, *run, [&] {
        return context.engine().ask(
            PinCheckpointRequest{run->id, QString::fromStdString(checkpoint), pinned});
    });
    if (!done)
        return printError(context, done.error());
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {"checkpoint", checkpoint}, {"pinned", pinned}});
    else
        std::cout << run->id.toStdString() << ": checkpoint " << oneLine(checkpoint)
                  << (pinned ? " is pinned: it stays until you unpin it"
                             : " is kept as the spec says")
                  << std::endl;
    return 0;
}

std::string tableOf(const TensorComparison& comparison) {
    std::vector<std::vector<std::string>> rows = {
        {"LAYER", "VALUES", "NORM OF A", "NORM OF B", "DIFFERENCE", "OF A", "LARGEST"}};
    for (const LayerDifference& each : comparison.layers)
        rows.push_back({oneLine(each.layer), std::to_string(each.values), formatNumber(each.normA),
                        formatNumber(each.normB), formatNumber(each.normOfDifference),
                        formatNumber(100 * each.normOfDifference / each.normA) + " %",
                        formatNumber(each.largest)});
    std::string text = formatTable(rows);
    for (const std::string& name : comparison.onlyInA)
        text += "only in A: " + oneLine(name) + "\n";
    for (const std::string& name : comparison.onlyInB)
        text += "only in B: " + oneLine(name) + "\n";
    return text;
}

int runCompareCheckpoints(CommandContext& context, const std::string& id, const std::string& a,
                          const std::string& b) {
    const auto run = context.caughtUpOne(id);
    if (!run)
        return printError(context, run.error());
    const auto comparison = answerOf(context, *run, [&] {
        return context.engine().ask(CompareCheckpointsRequest{run->id, QString::fromStdString(a),
                                                              QString::fromStdString(b)});
    });
    if (!comparison)
        return printError(context, comparison.error());
    if (context.json())
        printJson(nlohmann::ordered_json::parse(toJson(*comparison)));
    else
        std::cout << tableOf(*comparison) << std::flush;
    return 0;
}

} // namespace

void addCheckpoints(CommandLine& line) {
    struct Remove : OneCheckpoint {
        bool undo = false;
    };
    auto& removal = line.keep<Remove>();
    auto* remove = line.addOfRun(
        "remove-checkpoint", "Remove a checkpoint that was set aside, or saved before a `set`",
        removal.run, [&removal](CommandContext& context) {
            return runRemoveCheckpoint(context, removal.run, removal.checkpoint, removal.undo);
        });
    remove->add_option("CHECKPOINT", removal.checkpoint, kCheckpointHelp)->required();
    remove->add_flag("--undo", removal.undo, "Bring it back, within a week of its removal");

    struct Pin : OneCheckpoint {
        bool off = false;
    };
    auto& pinning = line.keep<Pin>();
    auto* pin = line.addOfRun("pin-checkpoint", "Keep a checkpoint whatever the spec's rules say",
                              pinning.run, [&pinning](CommandContext& context) {
                                  return runPinCheckpoint(context, pinning.run, pinning.checkpoint,
                                                          !pinning.off);
                              });
    pin->add_option("CHECKPOINT", pinning.checkpoint, kCheckpointHelp)->required();
    pin->add_flag("--off", pinning.off, "Let the rules decide again");

    struct Compare {
        std::string run, a, b;
    };
    auto& two = line.keep<Compare>();
    auto* compare =
        line.addOfRun("compare-checkpoints", "Say how far the weights of two checkpoints are apart",
                      two.run, [&two](CommandContext& context) {
                          return runCompareCheckpoints(context, two.run, two.a, two.b);
                      });
    compare->add_option("A", two.a, kCheckpointHelp)->required();
    compare->add_option("B", two.b, "Likewise")->required();

    struct Pull : OneCheckpoint {
        std::string to;
    };
    auto& pulling = line.keep<Pull>();
    auto* pull = line.addOfRun("pull-checkpoint", "Copy a checkpoint to this computer", pulling.run,
                               [&pulling](CommandContext& context) {
                                   return copyTo(context, pulling.run, pulling.checkpoint,
                                                 {kLocalNodeName, absolutePath(pulling.to), {}});
                               });
    pull->add_option("CHECKPOINT", pulling.checkpoint, kCheckpointOrNewestHelp);
    pull->add_option("--to", pulling.to,
                     "A folder; default: where this computer keeps the run's checkpoints, so that "
                     "the run can go on here or from here");

    struct Push : OneCheckpoint {
        std::string node, from;
    };
    auto& pushing = line.keep<Push>();
    auto* push = line.addOfRun(
        "push-checkpoint", "Copy a checkpoint to a node", pushing.run,
        [&pushing](CommandContext& context) {
            return copyTo(context, pushing.run, pushing.checkpoint,
                          {QString::fromStdString(pushing.node), {}, absolutePath(pushing.from)});
        });
    line.needNodes(*push);
    push->add_option("CHECKPOINT", pushing.checkpoint, kCheckpointOrNewestHelp);
    push->add_option("--node", pushing.node, "The node that gets it")->required();
    push->add_option("--from", pushing.from,
                     "The folder of a checkpoint on this computer, in place of CHECKPOINT");
}

} // namespace rm::cli
