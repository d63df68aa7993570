// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of runs: their names, the trash, what lies on the nodes.
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/node_comparison.h"
#include "app/core/runs/run_tags.h"
#include "app/core/store/recover.h"
#include "app/core/store/run_summary.h"
#include "shared/amounts.h"
#include "shared/counted.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

/// What a command removes, and whether it does.
struct Removal {
    bool preview = false; ///< only say what would go
    bool yes = false;     ///< do not ask
};

struct CleanOptions : Removal {
    std::string run;                 ///< empty: what was deployed to nodes
    std::vector<std::string> nodes;  ///< without a run; empty: all
    std::vector<std::string> agents; ///< as NodeCleaning's
    bool withRecent = false;         ///< likewise
};

struct RemoveNodeOptions : Removal {
    std::string name;
    bool fromNode = false;
    bool withRuns = false; ///< also the folders of its runs
};

using Json = nlohmann::ordered_json;

Json jsonOf(const std::vector<NamedFolder>& folders) {
    auto out = Json::array();
    for (const NamedFolder& folder : folders)
        out.push_back({{"folder", folder.path},
                       {"bytes", folder.bytes},
                       {"checkpoints", folder.checkpoints},
                       {"stays_as", folder.staysAs}});
    return out;
}

Json jsonOf(const std::vector<RunFolder>& folders) {
    Json out = Json::array();
    for (const RunFolder& folder : folders)
        out.push_back({{"node", folder.node},
                       {"folder", folder.path},
                       {"bytes", folder.bytes},
                       {"checkpoints", folder.checkpoints},
                       {"same_as", folder.sameAs},
                       {"named", jsonOf(folder.named)},
                       {"problem", folder.problem}});
    return out;
}

std::string tableOf(const std::vector<RunFolder>& folders) {
    std::vector<std::vector<std::string>> rows = {{"NODE", "SIZE", "CHECKPOINTS", "FOLDER"}};
    for (const RunFolder& folder : folders) {
        if (!folder.sameAs.empty())
            rows.push_back({folder.node, "-", "-", "the folder of " + folder.sameAs});
        else if (folder.problem.empty())
            rows.push_back({folder.node, bytesWords(folder.bytes),
                            std::to_string(folder.checkpoints), oneLine(folder.path)});
        else
            rows.push_back({folder.node, "?", "?", "not known: " + oneLine(folder.problem)});
        for (const NamedFolder& named : folder.named)
            rows.push_back({"", "", "", oneLine(namedFolderWords(named, bytesWords(named.bytes)))});
    }
    return formatTable(rows);
}

/// What the run's nodes say of its folders, after their logins were asked for if that is needed.
Result<std::vector<RunFolder>> foldersOf(CommandContext& context, const RunSummary& run) {
    auto folders = await(context.engine().ask(OnNodesRequest{run.id}));
    const bool denied = !folders && folders.error().code == ErrorCode::kDenied;
    if (denied && openAsking(context, nodesOf(run)))
        folders = await(context.engine().ask(OnNodesRequest{run.id}));
    return folders;
}

/// Asks all nodes at once, after their logins were asked for if that is needed.
std::vector<CleanedNode> cleanAll(CommandContext& context, const std::vector<std::string>& nodes,
                                  const NodeCleaning& cleaning) {
    const auto ask = [&](const std::string& node) {
        return context.engine().ask(CleanNodeRequest{QString::fromStdString(node), cleaning});
    };
    std::vector<QFuture<Result<DeployedReport>>> pending;
    for (const std::string& node : nodes)
        pending.push_back(ask(node));
    std::vector<CleanedNode> answers;
    for (size_t at = 0; at < nodes.size(); ++at) {
        answers.push_back({nodes[at], await(pending[at])});
        Result<DeployedReport>& report = answers.back().report;
        if (!report && report.error().code == ErrorCode::kDenied &&
            openAsking(context, {nodes[at]}))
            report = await(ask(nodes[at]));
    }
    return answers;
}

/// "node-a, node-b": whose folder it is.
std::string ownersOf(const CleanedNode& answer) {
    std::vector<std::string> owners = answer.sharers;
    owners.insert(owners.begin(), answer.node);
    return someOf(owners);
}

std::string nameOf(const DeployedItem& item, const KnownRuns& known) {
    if (item.kind == "other")
        return item.name;
    if (!isOfRun(item))
        return item.name.substr(0, 12);
    const std::string mark = otherRunMark(item, known);
    return item.name + (item.path.empty() ? "" : " in " + item.path) +
           (mark.empty() ? "" : ", " + mark);
}

std::string tableOf(const std::vector<CleanedNode>& answers, const KnownRuns& known) {
    std::vector<std::vector<std::string>> rows = {
        {"NODE", "WHAT", "SIZE", "LAST USED", "KEPT FOR", "NAME"}};
    for (const CleanedNode& answer : answers)
        for (const DeployedItem& item : answer.report.value_or(DeployedReport()).items)
            rows.push_back(
                {isOfRun(item) ? answer.node : ownersOf(answer), oneLine(deployedWord(item)),
                 bytesWords(item.bytes), formatAgo(item.usedNs),
                 item.keptFor.empty() ? "-" : oneLine(item.keptFor), oneLine(nameOf(item, known))});
    return rows.size() == 1 ? "" : formatTable(rows);
}

Json jsonOf(const CleanedNode& answer, const KnownRuns& known) {
    if (!answer.report)
        return {{"node", answer.node}, {"error", answer.report.error().message}};
    Json items = Json::array();
    for (const DeployedItem& item : answer.report->items)
        items.push_back({{"kind", item.kind},
                         {"name", item.name},
                         {"bytes", item.bytes},
                         {"last_used", static_cast<double>(item.usedNs) / 1e9},
                         {"kept_for", item.keptFor},
                         {"label", item.label},
                         {"started_by", item.startedBy},
                         {"of_another", !otherRunMark(item, known).empty()}});
    return {{"node", answer.node},
            {"home", answer.report->home},
            {"shares_with", answer.sharers},
            {"told_by", answer.reportedBy},
            {"needed_bytes", neededBytes(*answer.report)},
            {"unneeded_bytes", unneededBytes(*answer.report)},
            {"in_the_way", answer.report->inTheWay},
            {"items", items}};
}

/// One line a node; its code is that of the first that did not answer.
int printNodesCleaned(CommandContext& context, const std::vector<CleanedNode>& answers,
                      bool isPreview) {
    int code = 0;
    Json nodes = Json::array();
    const KnownRuns known = context.fleet().knownRuns();
    for (const CleanedNode& answer : answers) {
        nodes.push_back(jsonOf(answer, known));
        if (!answer.report) {
            std::cerr << "ringmaster: " << oneLine(answer.report.error().message) << std::endl;
            code = code != 0 ? code : static_cast<int>(exitCodeFor(answer.report.error().code));
            continue;
        }
        if (context.json())
            continue;
        if (!answer.reportedBy.empty()) {
            std::cout << answer.node << ": has the folder of " << answer.reportedBy
                      << ", where it is counted" << std::endl;
            continue;
        }
        const int64_t unneeded = unneededBytes(*answer.report);
        const int64_t needed = neededBytes(*answer.report);
        const std::string& inTheWay = answer.report->inTheWay;
        std::cout << answer.node << ": "
                  << (inTheWay.empty() ? "" : "refused now, as " + oneLine(inTheWay) + "; then ")
                  << bytesWords(unneeded) << (isPreview ? " can go, " : " removed, ")
                  << bytesWords(needed) << " stays";
        const std::string kinds = diskByKind(*answer.report, &bytesWords);
        std::cout << (kinds.empty() ? "" : " (" + kinds + ")")
                  << (answer.sharers.empty() ? "" : ", for " + someOf(answer.sharers) + " as well")
                  << std::endl;
    }
    if (context.json())
        printJson({{"removed", !isPreview}, {"nodes", nodes}});
    return code;
}

std::vector<std::string> leftOf(const std::vector<RunFolder>& folders) {
    return leftWords(folders, &bytesWords);
}

/// What became of the folders after their removal.
std::string removedWords(const std::vector<RunFolder>& folders) {
    std::string except;
    for (const std::string& left : leftOf(folders))
        except += "\n  " + oneLine(left) +
                  "; no later clean finds it, so remove it by hand if nobody needs it";
    for (const RunFolder& folder : folders)
        if (!folder.problem.empty())
            except += "\n  " + folder.node + ": not known: " + oneLine(folder.problem);
    return "its folders are gone from its nodes" + (except.empty() ? "" : ", except:" + except);
}

int printCleaned(const CommandContext& context, const RunSummary& run,
                 const std::vector<RunFolder>& folders, bool isPreview) {
    const std::string id = run.id.toStdString();
    if (context.json())
        printJson({{"run", id},
                   {"removed", !isPreview},
                   {"folders", jsonOf(folders)},
                   {"left", leftOf(folders)}});
    else if (isPreview)
        std::cout << tableOf(folders) << std::flush;
    else
        std::cout << id << ": " << removedWords(folders) << std::endl;
    return 0;
}

/// The run once the database has what was asked of the engine.
template <class Request>
Result<RunSummary> stored(CommandContext& context, const Request& edit) {
    return await(context.engine().ask(edit)).and_then([&] {
        return context.resolve(edit.run.toStdString());
    });
}

int runRename(CommandContext& context, const std::string& id, const std::string& name) {
    const auto run = context.resolveOne(id);
    if (!run)
        return printError(context, run.error());
    const auto renamed =
        await(context.engine().ask(RenameRequest{run->id, QString::fromStdString(name)}));
    if (!renamed)
        return printError(context, renamed.error());
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {"name", name}});
    else
        std::cout << run->id.toStdString() << " is called " << oneLine(name) << std::endl;
    return 0;
}

int runNote(CommandContext& context, const std::string& id,
            const std::optional<std::string>& text) {
    const auto run = text ? context.resolveOne(id) : context.resolve(id);
    if (!run)
        return printError(context, run.error());
    RunSummary now = *run;
    if (text) {
        const auto noted = stored(context, NotesRequest{run->id, QString::fromStdString(*text)});
        if (!noted)
            return printError(context, noted.error());
        now = *noted;
    }
    const std::string notes = now.notes.toStdString();
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {"notes", notes}});
    else
        std::cout << safeText(notes) << std::endl;
    return 0;
}

/// What became of a run that a command was for.
struct Done {
    Json answer;
    std::string line; ///< the same for people
};

/// Does it to each of the runs, also behind one that refuses. The answer in JSON is that of the
/// run, of several an array. The code is that of the first that refused.
int doToEach(CommandContext& context, const std::vector<std::string>& runs,
             const std::function<Result<Done>(const std::string&)>& act) {
    if (runs.size() == 1) {
        const auto done = act(runs.front());
        if (!done)
            return printError(context, done.error());
        context.json() ? printJson(done->answer) : void(std::cout << done->line << std::endl);
        return 0;
    }
    int code = 0;
    Json answers = Json::array();
    for (const std::string& run : runs) {
        const auto done = act(run);
        answers.push_back(done ? done->answer
                               : Json{{"run", run}, {"error", done.error().message}});
        if (!done) {
            std::cerr << "ringmaster: " << oneLine(done.error().message) << std::endl;
            code = code != 0 ? code : static_cast<int>(exitCodeFor(done.error().code));
        } else if (!context.json()) {
            std::cout << done->line << std::endl;
        }
    }
    if (context.json())
        printJson(answers);
    return code;
}

struct TagOptions {
    std::string run;
    std::vector<std::string> also; ///< further runs
    std::vector<std::string> added, removed;
};

Result<Done> tagRun(CommandContext& context, const std::string& id, const TagOptions& options) {
    const bool isEdit = !options.added.empty() || !options.removed.empty();
    RM_ASSIGN_OR_RETURN(RunSummary now, isEdit ? context.resolveOne(id) : context.resolve(id));
    if (isEdit) {
        const QStringList wanted =
            withTags(now.tags, toTags(options.added), toTags(options.removed));
        RM_ASSIGN_OR_RETURN(now, stored(context, TagsRequest{now.id, wanted}));
    }
    const std::string tags = oneLine(now.tags.join(", ").toStdString());
    return Done{{{"run", now.id.toStdString()}, {"tags", toJson(now)["tags"]}},
                options.also.empty() ? tags : now.id.toStdString() + ": " + tags};
}

int runTag(CommandContext& context, const TagOptions& options) {
    std::vector<std::string> runs = options.also;
    runs.insert(runs.begin(), options.run);
    return doToEach(context, runs,
                    [&](const std::string& id) { return tagRun(context, id, options); });
}

Result<Done> starRun(CommandContext& context, const std::string& id, bool isStarred) {
    RM_ASSIGN_OR_RETURN(const auto run, context.resolveOne(id));
    RM_RETURN_IF_ERROR(await(context.engine().ask(StarRequest{run.id, isStarred})));
    const std::string name = run.id.toStdString();
    return Done{{{"run", name}, {"starred", isStarred}},
                name + (isStarred ? " has a star" : " has no star")};
}

Result<Done> archiveRun(CommandContext& context, const std::string& id, bool isArchived) {
    RM_ASSIGN_OR_RETURN(const auto run, context.caughtUpOne(id));
    RM_RETURN_IF_ERROR(await(context.engine().ask(ArchiveRequest{run.id, isArchived})));
    const std::string name = run.id.toStdString();
    return Done{{{"run", name}, {"archived", isArchived}},
                name + (isArchived ? " is in the archive; `ringmaster runs --archived` lists it"
                                   : " is in the list again")};
}

Result<Done> deleteRun(CommandContext& context, const std::string& id) {
    RM_ASSIGN_OR_RETURN(const auto run, context.caughtUpOne(id));
    RM_RETURN_IF_ERROR(await(context.engine().ask(DeletedRequest{run.id, true})));
    const std::string name = run.id.toStdString();
    return Done{{{"run", name}, {"deleted", true}},
                name + " is in the trash for " + std::to_string(kTrashDays) +
                    " days; `ringmaster trash restore` brings it back"};
}

int runTrash(CommandContext& context) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto runs = (*reader)->trash();
    auto list = Json::array();
    std::vector<std::vector<std::string>> rows = {{"RUN", "NAME", "STATE", "STEP", "DELETED"}};
    for (const RunSummary& run : runs) {
        list.push_back(toJson(run));
        rows.push_back({run.id.toStdString(), oneLine(run.name.toStdString()), runStateName(run),
                        stepsText(run), formatAgo(run.deletedNs)});
    }
    if (context.json())
        printJson(list);
    else
        std::cout << (runs.empty() ? "The trash is empty.\n" : formatTable(rows)) << std::flush;
    return 0;
}

int runTrashRestore(CommandContext& context, const std::string& id) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto run = (*reader)->resolveDeleted(QString::fromStdString(id));
    if (!run)
        return printError(context, run.error());
    if (const auto restored = await(context.engine().ask(DeletedRequest{run->id, false}));
        !restored)
        return printError(context, restored.error());
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {"deleted", false}});
    else
        std::cout << run->id.toStdString() << " is back" << std::endl;
    return 0;
}

int runTrashEmpty(CommandContext& context, bool yes) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto runs = (*reader)->trash();
    if (!runs.empty()) {
        const std::string what = "this forgets " + counted(std::ssize(runs), "run") +
                                 " for good, with all samples and logs; what is on the nodes "
                                 "stays there (`ringmaster clean RUN` deletes it, while the run is "
                                 "known)";
        if (const auto agreed = agree(context, "empty the trash", what, yes); !agreed)
            return printError(context, agreed.error());
        // Not what is deleted while a person thinks about it.
        const auto done =
            await(context.engine().ask(EmptyTrashRequest{runs.front().deletedNs + 1}));
        if (!done)
            return printError(context, done.error());
    }
    // Others may have brought some back, or emptied it, meanwhile; one that trains is kept.
    auto forgotten = Json::array();
    std::string kept;
    for (const RunSummary& run : runs)
        if (!(*reader)->run(run.id))
            forgotten.push_back(run.id.toStdString());
        else
            kept += (kept.empty() ? "" : ", ") + run.id.toStdString();
    if (const auto failure = (*reader)->failure())
        return printError(context, *failure);
    if (context.json())
        printJson({{"forgotten", forgotten}});
    else
        std::cout << (runs.empty()
                          ? std::string("The trash is empty.")
                          : counted(static_cast<int64_t>(forgotten.size()), "run is", "runs are") +
                                " forgotten" +
                                (kept.empty()
                                     ? ""
                                     : "; not, as they train or were brought back: " + kept))
                  << std::endl;
    return 0;
}

int runClean(CommandContext& context, const CleanOptions& options) {
    const auto run = context.caughtUpOne(options.run);
    if (!run)
        return printError(context, run.error());
    const auto folders = foldersOf(context, *run);
    if (!folders)
        return printError(context, folders.error());
    int64_t bytes = 0, checkpoints = 0, own = 0;
    for (const RunFolder& folder : *folders) {
        own += folder.sameAs.empty() ? 1 : 0;
        bytes += folder.bytes;
        checkpoints += std::max(0, folder.checkpoints);
    }
    if (options.preview)
        return printCleaned(context, *run, *folders, true);
    if (!context.json())
        std::cout << tableOf(*folders) << std::flush;
    const std::string what =
        "this deletes " + bytesWords(bytes) + " with " + counted(checkpoints, "checkpoint") +
        " on " + counted(own, "node") + " for good" +
        (checkpoints > 0 ? ", and the run cannot go on from what is deleted" : "") +
        (leftOf(*folders).empty() ? "" : "; what stays is not found by a later clean");
    // Nothing may be left of a deletion whose answer was lost: it is asked for again all the same,
    // as what went with it is noted then.
    const bool isAgreed = options.yes || bytes == 0;
    if (const auto agreed = agree(context, "clean " + run->id.toStdString(), what, isAgreed);
        !agreed)
        return printError(context, agreed.error());
    if (const auto removed = await(context.engine().ask(RemoveFromNodesRequest{run->id})); !removed)
        return printError(context, removed.error());
    return printCleaned(context, *run, *folders, false);
}

NodeCleaning cleaningOf(const CleanOptions& options, bool isPreview) {
    NodeCleaning cleaning{isPreview, options.withRecent};
    cleaning.agents = options.agents;
    return cleaning;
}

/// Cleans each folder once; the other nodes that share it still say so.
std::vector<CleanedNode> cleanShared(CommandContext& context, std::vector<CleanedNode> found,
                                     const CleanOptions& options) {
    std::vector<std::string> reporters;
    for (const CleanedNode& node : found)
        if (node.reportedBy.empty())
            reporters.push_back(node.node);
    for (const CleanedNode& done : cleanAll(context, reporters, cleaningOf(options, false)))
        std::ranges::find(found, done.node, &CleanedNode::node)->report = done.report;
    return found;
}

int runCleanNodes(CommandContext& context, const CleanOptions& options) {
    const auto named = namedNodes(context.fleet().nodes(), options.nodes);
    if (!named)
        return printError(context, named.error());
    std::vector<std::string> nodes = *named;
    if (nodes.empty())
        for (const Node& node : context.fleet().nodes())
            nodes.push_back(node.name);
    auto found = cleanAll(context, nodes, cleaningOf(options, true));
    reportSharedOnce(found);
    if (!context.json())
        std::cout << tableOf(found, context.fleet().knownRuns()) << std::flush;
    if (options.preview)
        return printNodesCleaned(context, found, true);
    int64_t bytes = 0, cleanable = 0;
    for (const CleanedNode& answer : found)
        if (answer.report && unneededBytes(*answer.report) > 0) {
            bytes += unneededBytes(*answer.report);
            ++cleanable;
        }
    const std::string what = "this deletes " + bytesWords(bytes) + " on " +
                             counted(cleanable, "node") +
                             " that no run there needs; what a later launch needs is sent again";
    if (const auto agreed = agree(context, "clean the nodes", what, options.yes || cleanable == 0);
        !agreed)
        return printError(context, agreed.error());
    if (cleanable == 0)
        return printNodesCleaned(context, found, false);
    return printNodesCleaned(context, cleanShared(context, std::move(found), options), false);
}

/// The answer of a node that was to be rid of all, and the list without that node.
int finishUninstall(CommandContext& context, const std::string& node,
                    const std::vector<CleanedNode>& done) {
    const QString name = QString::fromStdString(node);
    const Result<DeployedReport>& report = done.front().report;
    if (!report && report.error().code == ErrorCode::kNotFound && !context.fleet().find(name))
        return printError(
            context, {ErrorCode::kNotFound,
                      "remove " + node + ": another terminal or window has removed it meanwhile"});
    if (report)
        if (const auto removed = context.fleet().remove(name);
            !removed && removed.error().code != ErrorCode::kNotFound)
            return printError(context, removed.error());
    return printNodesCleaned(context, done, false);
}

/// Where the list has checkpoints that stay though the runs go.
std::string exceptionWords(const DeployedReport& report) {
    const bool anyStays = std::ranges::any_of(report.items, [](const DeployedItem& item) {
        return item.kind == "checkpoints" && !item.keptFor.empty();
    });
    return anyStays ? ", but for those that the list keeps" : "";
}

/// The agreement in words that a deletion of other Ringmasters' runs needs.
std::string agreementToOthers(const DeployedReport& report, const KnownRuns& known) {
    const std::vector<std::string> others = otherRunsThatGo(report, known);
    std::string words;
    for (const std::string& run : others)
        words += (words.empty() ? "" : "; ") + oneLine(run);
    return others.empty()
               ? ""
               : "; " + counted(std::ssize(others), "of these runs is", "of these runs are") +
                     " of another Ringmaster (" + words +
                     "), and cannot go on from what is deleted";
}

int runNodesRemove(CommandContext& context, const std::string& name) {
    // A machine that is off the list is not asked any more, and its runs cannot be commanded.
    if (const std::string live = liveWordsOf(context, name); !live.empty())
        return printError(context, {ErrorCode::kUnavailable, "remove " + name + ": " + live});
    const auto removed = context.fleet().remove(QString::fromStdString(name));
    if (!removed)
        return printError(context, removed.error());
    if (context.json())
        printJson({{"removed", name}});
    return 0;
}

int runNodesUninstall(CommandContext& context, const RemoveNodeOptions& options) {
    const auto node = context.fleet().find(QString::fromStdString(options.name));
    if (!node || isThisComputer(*node))
        return runNodesRemove(context, options.name); // which says that there is none to remove
    NodeCleaning cleaning{true, false, true, options.withRuns};
    auto found = cleanAll(context, {node->name}, cleaning);
    Result<DeployedReport>& report = found.front().report;
    // The node itself knows of no run that is live elsewhere, or waits for a lost link.
    if (const std::string live = liveWordsOf(context, node->name); report && !live.empty())
        report->inTheWay = live;
    const KnownRuns known = context.fleet().knownRuns();
    if (!context.json())
        std::cout << tableOf(found, known) << std::flush;
    if (options.preview || !report)
        return printNodesCleaned(context, found, true);
    if (!report->inTheWay.empty())
        return printError(
            context, {ErrorCode::kUnavailable, "remove " + node->name + ": " + report->inTheWay});
    const std::vector<std::string> sharers =
        sharersOf(node->name, context.fleet().lastChecks(), options.withRuns);
    const std::string what =
        "this deletes " + bytesWords(unneededBytes(*report)) + " on " + node->name +
        " and forgets the machine" +
        (options.withRuns ? "; checkpoints of its runs go, too" + exceptionWords(*report) : "") +
        agreementToOthers(*report, known) +
        (sharers.empty() ? ""
                         : "; it is gone for " + someOf(sharers) + ", too, by the same folder");
    if (const auto agreed = agree(context, "remove " + node->name, what, options.yes); !agreed)
        return printError(context, agreed.error());
    cleaning.isPreview = false;
    const auto done = cleanAll(context, {node->name}, cleaning);
    (void)context.fleet().load();
    return finishUninstall(context, node->name, done);
}

using DoneTo = Result<Done> (*)(CommandContext&, const std::string&);

void addOfRuns(CommandLine& line, const char* name, const char* description, DoneTo act) {
    auto& runs = line.keep<std::vector<std::string>>();
    auto* command = line.add(name, description, [&runs, act](CommandContext& context) {
        return doToEach(context, runs, [&](const std::string& id) { return act(context, id); });
    });
    command->add_option("RUN", runs, kRunsHelp)->required();
}

void addMarks(CommandLine& line) {
    addOfRuns(
        line, "star", "Mark runs that matter",
        [](CommandContext& context, const std::string& id) { return starRun(context, id, true); });
    addOfRuns(
        line, "unstar", "Take that mark away",
        [](CommandContext& context, const std::string& id) { return starRun(context, id, false); });
    addOfRuns(line, "archive", "Take runs out of the list, and keep all that they have",
              [](CommandContext& context, const std::string& id) {
                  return archiveRun(context, id, true);
              });
    addOfRuns(line, "unarchive", "Put archived runs back into the list",
              [](CommandContext& context, const std::string& id) {
                  return archiveRun(context, id, false);
              });
    addOfRuns(line, "delete", "Move runs to the trash", &deleteRun);
}

void addTrash(CommandLine& line) {
    auto* trash = line.addGroup("trash", "List the runs that were deleted", &runTrash);
    auto& restored = line.keep<std::string>();
    line.addOfRun(
        *trash, "restore", "Bring a deleted run back", restored,
        [&restored](CommandContext& context) { return runTrashRestore(context, restored); });
    auto& agreed = line.keep<bool>();
    auto* empty =
        line.add(*trash, "empty", "Forget the deleted runs for good",
                 [&agreed](CommandContext& context) { return runTrashEmpty(context, agreed); });
    empty->add_flag("--yes", agreed, "Do not ask");
}

void addClean(CommandLine& line) {
    auto& o = line.keep<CleanOptions>();
    auto* clean = line.add(
        "clean",
        "Delete a run's folder on its nodes, with the checkpoints in it; without a run: trainers, "
        "agents and staged data that no run on a node needs any more",
        [&o](CommandContext& context) {
            return o.run.empty() ? runCleanNodes(context, o) : runClean(context, o);
        });
    line.needNodes(*clean);
    auto* run = clean->add_option("RUN", o.run, kRunHelp);
    clean->add_option("--node", o.nodes, "Without a run: only these nodes or @GROUPs; default: all")
        ->excludes(run);
    clean
        ->add_option("--agent", o.agents,
                     "Without a run: only agents whose SHA-256 begins so, in 8 digits or more")
        ->check([](const std::string& text) {
            return isBeginOfSha256(text) ? std::string()
                                         : text + " is no begin of a SHA-256, in 8 digits or more";
        })
        ->excludes(run);
    clean
        ->add_flag("--recent", o.withRecent,
                   "Without a run: also what was used within the last day")
        ->excludes(run);
    clean->add_flag("--preview", o.preview, "Only say what that is");
    clean->add_flag("--yes", o.yes, "Do not ask");
}

int runRecover(CommandContext& context) {
    const auto done = recoverStore(context.paths().database());
    if (!done)
        return printError(context, done.error());
    if (context.json())
        printJson({{"damaged", done->wasDamaged},
                   {"runs", done->runs},
                   {"lost_tables", done->lostTables},
                   {"kept", done->kept.toStdString()}});
    else if (!done->wasDamaged)
        std::cout << "Nothing in it is damaged; it stays as it is." << std::endl;
    else
        std::cout << counted(done->runs, "run")
                  << " could be read, and what is left of their data; "
                  << (done->lostTables.empty()
                          ? std::string()
                          : "nothing was found of: " + joined(done->lostTables, ", ") + "; ")
                  << "the damaged file is kept: " << done->kept.toStdString() << std::endl;
    return 0;
}

} // namespace

void addKeeping(CommandLine& line) {
    struct Name {
        std::string run, name;
    };
    auto& named = line.keep<Name>();
    auto* rename = line.addOfRun(
        "rename", "Call a run something else", named.run,
        [&named](CommandContext& context) { return runRename(context, named.run, named.name); });
    rename->add_option("NAME", named.name, "What no other run is called")->required();

    line.needNoEngine(*line.add(
        "recover", "Put what can be read of a damaged list of runs in its place", &runRecover));

    struct Note {
        std::string run;
        std::optional<std::string> text;
    };
    auto& noted = line.keep<Note>();
    auto* note = line.addOfRun(
        "note", "Print or replace the notes on a run", noted.run,
        [&noted](CommandContext& context) { return runNote(context, noted.run, noted.text); });
    note->add_option("TEXT", noted.text, "What the notes are to say; empty: nothing");

    auto& tagged = line.keep<TagOptions>();
    auto* tag =
        line.addOfRun("tag", "Print a run's tags, add some or take some away", tagged.run,
                      [&tagged](CommandContext& context) { return runTag(context, tagged); });
    tag->add_option("TAG", tagged.added, "Tags to add");
    tag->add_option("--remove", tagged.removed, "A tag to take away")->allow_extra_args(false);
    tag->add_option("--also", tagged.also, "Another run with the same change")
        ->allow_extra_args(false);

    addMarks(line);
    addTrash(line);
    addClean(line);
}

void addNodeRemoval(CommandLine& line, CLI::App& nodes) {
    auto& o = line.keep<RemoveNodeOptions>();
    auto* remove = line.add(nodes, "remove", "Forget a machine", [&o](CommandContext& context) {
        return o.fromNode ? runNodesUninstall(context, o) : runNodesRemove(context, o.name);
    });
    remove->add_option("NAME", o.name, "Which")->required();
    auto* fromNode =
        remove->add_flag("--from-node", o.fromNode, "First delete there what Ringmaster put there");
    remove->add_flag("--runs", o.withRuns, "Also its runs' folders, with their checkpoints")
        ->needs(fromNode);
    remove->add_flag("--preview", o.preview, "Only say what that is")->needs(fromNode);
    remove->add_flag("--yes", o.yes, "Do not ask")->needs(fromNode);
}

} // namespace rm::cli
