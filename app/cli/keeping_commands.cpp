// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of runs: their names, the trash, what lies on the nodes.
#include "app/cli/access.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Before what cannot be undone: a person is asked, a script has to say --yes.
Result<void> agree(const Session& session, const std::string& attempt, const std::string& what,
                   bool yes) {
    if (yes)
        return {};
    if (session.json() || !::isatty(STDIN_FILENO))
        return fail(ErrorCode::kInvalid, attempt + ": " + what + "; --yes agrees to that");
    if (askYesNo(what + "\nGo on?"))
        return {};
    return fail(ErrorCode::kInvalid, attempt + ": not agreed to; nothing was changed");
}

std::string counted(size_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
}

std::vector<std::string> nodesOf(const RunSummary& run) {
    std::vector<std::string> nodes;
    for (const RunNode& node : run.nodes)
        nodes.push_back(node.nodeName);
    return nodes;
}

Json jsonOf(const std::vector<RunFolder>& folders) {
    Json out = Json::array();
    for (const RunFolder& folder : folders)
        out.push_back({{"node", folder.node},
                       {"folder", folder.path},
                       {"bytes", folder.bytes},
                       {"checkpoints", folder.checkpoints}});
    return out;
}

std::string tableOf(const std::vector<RunFolder>& folders) {
    std::vector<std::vector<std::string>> rows = {{"NODE", "SIZE", "CHECKPOINTS", "FOLDER"}};
    for (const RunFolder& folder : folders)
        rows.push_back({folder.node, formatBytes(static_cast<double>(folder.bytes)),
                        std::to_string(folder.checkpoints), oneLine(folder.path)});
    return formatTable(rows);
}

/// What its nodes say, after their logins were asked for if that is needed.
Result<std::vector<RunFolder>> foldersOf(Session& session, const RunSummary& run) {
    auto folders = await(session.engine().onNodes(run.id));
    const bool denied = !folders && folders.error().code == ErrorCode::kDenied;
    if (denied && openAsking(session, nodesOf(run)))
        folders = await(session.engine().onNodes(run.id));
    return folders;
}

int printCleaned(const Session& session, const RunSummary& run,
                 const std::vector<RunFolder>& folders, bool isPreview) {
    const std::string id = run.id.toStdString();
    if (session.json())
        printJson({{"run", id}, {"removed", !isPreview}, {"folders", jsonOf(folders)}});
    else if (isPreview)
        std::cout << tableOf(folders) << std::flush;
    else
        std::cout << id << ": nothing of it is on its nodes any more" << std::endl;
    return 0;
}

} // namespace

int runRename(Session& session, const std::string& id, const std::string& name) {
    const auto run = session.resolve(id);
    if (!run)
        return printError(session, run.error());
    const auto renamed = await(session.engine().rename(run->id, QString::fromStdString(name)));
    if (!renamed)
        return printError(session, renamed.error());
    if (session.json())
        printJson({{"run", run->id.toStdString()}, {"name", name}});
    else
        std::cout << run->id.toStdString() << " is called " << oneLine(name) << std::endl;
    return 0;
}

int runDelete(Session& session, const std::string& id) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    if (const auto deleted = await(session.engine().setDeleted(run->id, true)); !deleted)
        return printError(session, deleted.error());
    if (session.json())
        printJson({{"run", run->id.toStdString()}, {"deleted", true}});
    else
        std::cout << run->id.toStdString() << " is in the trash for " << kTrashDays
                  << " days; `ringmaster trash restore` brings it back" << std::endl;
    return 0;
}

int runTrash(Session& session) {
    const auto reader = session.reader();
    if (!reader)
        return printError(session, reader.error());
    const auto runs = (*reader)->trash();
    auto list = Json::array();
    std::vector<std::vector<std::string>> rows = {{"RUN", "NAME", "STATE", "STEP", "DELETED"}};
    for (const RunSummary& run : runs) {
        list.push_back(toJson(run));
        rows.push_back({run.id.toStdString(), oneLine(run.name.toStdString()), runStateName(run),
                        std::to_string(run.step) + "/" + std::to_string(run.totalSteps),
                        formatAgo(run.deletedNs)});
    }
    if (session.json())
        printJson(list);
    else
        std::cout << (runs.empty() ? "The trash is empty.\n" : formatTable(rows)) << std::flush;
    return 0;
}

int runTrashRestore(Session& session, const std::string& id) {
    const auto reader = session.reader();
    if (!reader)
        return printError(session, reader.error());
    const auto run = (*reader)->resolveDeleted(QString::fromStdString(id));
    if (!run)
        return printError(session, run.error());
    if (const auto restored = await(session.engine().setDeleted(run->id, false)); !restored)
        return printError(session, restored.error());
    if (session.json())
        printJson({{"run", run->id.toStdString()}, {"deleted", false}});
    else
        std::cout << run->id.toStdString() << " is back" << std::endl;
    return 0;
}

int runTrashEmpty(Session& session, bool yes) {
    const auto reader = session.reader();
    if (!reader)
        return printError(session, reader.error());
    const auto runs = (*reader)->trash();
    auto forgotten = Json::array();
    for (const RunSummary& run : runs)
        forgotten.push_back(run.id.toStdString());
    if (!runs.empty()) {
        const std::string what = "this forgets " + counted(runs.size(), "run", "runs") +
                                 " for good, with all their samples and logs; what is on the "
                                 "nodes stays there";
        if (const auto agreed = agree(session, "empty the trash", what, yes); !agreed)
            return printError(session, agreed.error());
        // Not what is deleted while a person thinks about it.
        const auto done = await(session.engine().emptyTrash(runs.front().deletedNs + 1));
        if (!done)
            return printError(session, done.error());
    }
    if (session.json())
        printJson({{"forgotten", forgotten}});
    else
        std::cout << (runs.empty() ? "The trash is empty."
                                   : counted(runs.size(), "run is", "runs are") + " forgotten")
                  << std::endl;
    return 0;
}

int runClean(Session& session, const CleanOptions& options) {
    const auto run = session.caughtUp(options.run);
    if (!run)
        return printError(session, run.error());
    const auto folders = foldersOf(session, *run);
    if (!folders)
        return printError(session, folders.error());
    int64_t bytes = 0;
    size_t checkpoints = 0;
    for (const RunFolder& folder : *folders) {
        bytes += folder.bytes;
        checkpoints += static_cast<size_t>(std::max(0, folder.checkpoints));
    }
    if (options.preview || bytes == 0)
        return printCleaned(session, *run, *folders, options.preview);
    if (!session.json())
        std::cout << tableOf(*folders) << std::flush;
    const std::string what =
        "this deletes " + formatBytes(static_cast<double>(bytes)) + " with " +
        counted(checkpoints, "checkpoint", "checkpoints") + " on " +
        counted(folders->size(), "node", "nodes") + " for good" +
        (checkpoints > 0 ? ", and the run cannot go on from what is deleted" : "");
    if (const auto agreed = agree(session, "clean " + run->id.toStdString(), what, options.yes);
        !agreed)
        return printError(session, agreed.error());
    if (const auto removed = await(session.engine().removeFromNodes(run->id)); !removed)
        return printError(session, removed.error());
    return printCleaned(session, *run, *folders, false);
}

} // namespace rm::cli
