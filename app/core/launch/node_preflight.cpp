// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/node_preflight.h"

#include "app/core/deploy/deploy.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/job_place.h"
#include "app/core/launch/recipes.h"
#include "app/core/launch/staged_tree.h"
#include "app/core/node/chosen_gpus.h"
#include "app/core/remote/ssh_tokens.h"
#include "shared/io/data_files.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"
#include "shared/spec/schema.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>

namespace rm {

namespace {

constexpr const char* kFolderKey = "checkpoint.directory";

std::vector<std::string> dataPaths(const RunSpec& spec) {
    std::vector<std::string> paths = spec.data.train;
    paths.insert(paths.end(), spec.data.validation.begin(), spec.data.validation.end());
    for (const std::string* path : {&spec.data.tokenizerFile, &spec.model.startFrom})
        if (!path->empty())
            paths.push_back(*path);
    return paths;
}

std::string keyOf(const RunSpec& spec, const std::string& path) {
    if (std::ranges::find(spec.data.train, path) != spec.data.train.end())
        return "data.train";
    if (path == spec.data.tokenizerFile)
        return "data.tokenizer_file";
    return path == spec.model.startFrom ? "model.start_from" : "data.validation";
}

LaunchProblem problemOf(const RunSpec& spec, const UnreadablePath& path) {
    const std::string command = whatBrings(path.path);
    return {say("gpu.launch-unreadable",
                {{"key", keyOf(spec, path.path)}, {"path", path.path}, {"why", path.why}}),
            command.empty() ? std::string() : say("launch.fix-install", {{"command", command}}),
            keyOf(spec, path.path), path.path};
}

/// The problem of a folder that is there, where a recipe names it and it has none of what is read:
/// the packages that bring that are not installed. `fix` says where to install them.
std::optional<LaunchProblem> bareFolder(const RunSpec& spec, const std::string& path,
                                        const Result<std::vector<std::string>>& files,
                                        const char* fix) {
    const std::string command = whatBrings(path);
    if (command.empty() || !files || !haveNoDataOf(spec, *files))
        return std::nullopt;
    const auto endings = endingsOf(familyOf(spec).data);
    const std::string why = endings.empty()
                                ? say("launch.has-no-file")
                                : say("launch.has-no-file-of",
                                      {{"endings", orListed({endings.begin(), endings.end()})}});
    return LaunchProblem{
        say("gpu.launch-unreadable", {{"key", keyOf(spec, path)}, {"path", path}, {"why", why}}),
        say(fix, {{"command", command}}), keyOf(spec, path), path};
}

/// A folder of a class that has no file, in the data of a model of pictures. It would not come to
/// be on the node, and the model would have a class less than it has where nothing is staged.
std::optional<LaunchProblem> emptyClass(const RunSpec& spec) {
    if (familyOf(spec).data != DataKind::kPictures)
        return std::nullopt;
    for (const auto* paths : {&spec.data.train, &spec.data.validation})
        for (const std::string& path : *paths)
            for (const QFileInfo& folder : QDir(QString::fromStdString(underHome(path)))
                                               .entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot))
                if (const auto files = dataFiles(folder.filePath().toStdString());
                    files && files->empty())
                    return LaunchProblem{
                        say("launch.empty-class", {{"folder", folder.filePath().toStdString()}}),
                        say("launch.fix-empty-class"), keyOf(spec, path), path};
    return std::nullopt;
}

/// Why the data that is sent from here cannot be sent.
std::vector<LaunchProblem> stagingProblems(const RunSpec& spec) {
    for (const std::string& path : spec.data.train)
        if (!whatBrings(path).empty()) // no other folder is walked for it
            if (const auto bare =
                    bareFolder(spec, path, dataFiles(underHome(path)), "launch.fix-install-here"))
                return {*bare};
    const auto tree = stagedTree(spec);
    if (tree) {
        const auto empty = emptyClass(spec);
        return empty ? std::vector{*empty} : std::vector<LaunchProblem>();
    }
    LaunchProblem problem{tree.error().message};
    const auto paths = dataPaths(spec);
    const auto missing = std::ranges::find_if_not(paths, [](const std::string& path) {
        return QFile::exists(QString::fromStdString(underHome(path)));
    });
    if (missing == paths.end())
        return {problem};
    problem.key = keyOf(spec, *missing);
    problem.path = *missing;
    if (const std::string command = whatBrings(*missing); !command.empty())
        problem.fix = say("launch.fix-install-here", {{"command", command}});
    return {problem};
}

/// Why a run of `spec` may not begin in a folder in which `runs` have checkpoints; nullopt: it may.
std::optional<LaunchProblem> ownedByOther(const RunSpec& spec, const std::vector<SavedRun>& runs) {
    const bool resumes = spec.checkpoint.onExisting == "resume";
    const bool hasOwn = std::ranges::count(runs, spec.name, &SavedRun::runName) > 0;
    if (runs.empty() || (resumes && hasOwn))
        return std::nullopt;
    const SavedRun& owner =
        hasOwn ? *std::ranges::find(runs, spec.name, &SavedRun::runName) : runs.front();
    const bool hasId = !owner.runId.empty();
    const Value folder{"folder", spec.checkpoint.directory},
        step{"step", std::to_string(owner.step)}, name{"name", owner.runName},
        its{"owner", hasId ? say("gpu.launch-run-of-id", {name, {"id", owner.runId}})
                           : say("gpu.launch-run", {name})};
    if (resumes)
        return LaunchProblem{
            say("gpu.launch-folder-without-run", {folder, its, step, {"run", spec.name}}),
            say(hasId ? "gpu.launch-fix-other-folder-or-resume" : "gpu.launch-fix-other-folder"),
            kFolderKey, spec.checkpoint.directory};
    return LaunchProblem{say("gpu.launch-folder-taken", {folder, its, step}),
                         say(hasId ? "gpu.launch-fix-folder-or-resume" : "gpu.launch-fix-folder"),
                         kFolderKey, spec.checkpoint.directory};
}

/// Whether what other runs have in the folder of checkpoints matters.
bool asksWhoSaved(const RunSpec& spec) {
    return !spec.checkpoint.directory.empty() && spec.checkpoint.onExisting != "separate";
}

Result<int64_t> bytesToSend(HostSession& session, const std::string& agent, const RunSpec& spec,
                            const PlacedNode& placed, std::stop_token stop) {
    const auto bytesOf = [&](const Result<LocalTree>& tree) {
        return tree ? missingBytes(session, agent, *tree, stop)
                    : tl::unexpected<Error>(tree.error());
    };
    const auto target = chooseTarget(spec, {placed});
    const auto trainer = bytesOf(trainerBundle(target ? target->runtime : "cpu"));
    if (!trainer || !spec.data.stage)
        return trainer;
    return bytesOf(stagedTree(spec)).map([&](int64_t data) { return *trainer + data; });
}

/// The error with the advice of the node's check, where the node's shell may not execute the agent
/// (as on a disk that is mounted noexec).
Error withAgentAdvice(Error error) {
    if (error.code == ErrorCode::kDenied)
        append(error.message, adviceFor(error.code, AgentFault::kNotRun));
    return error;
}

/// The error as one of Slurm itself: its controller is down, say, and the launch is not wrong.
Error withSlurmAdvice(const Error& error, const Node& cluster) {
    return {error.code, say("gpu.launch-slurm-unanswered",
                            {{"cluster", cluster.name}, {"error", error.message}})};
}

} // namespace

std::string problemWords(const LaunchProblem& problem) {
    return problem.fix.empty() ? problem.what : joined({problem.what, problem.fix});
}

RunSpec specToLookFor(RunSpec spec, bool isFirstNode) {
    if (!isFirstNode && !spec.data.stage)
        spec.data.tokenizerFile = spec.model.startFrom = {};
    if (!isFirstNode)
        spec.checkpoint.directory = {};
    if (!usesField(spec, "data.tokenizer_file"))
        spec.data.tokenizerFile = {};
    return spec;
}

namespace {

/// The answers of one node to what a preflight asks its agent at once.
struct Answers {
    Result<NodeReport> report;
    Result<std::vector<SavedRun>> saved = std::vector<SavedRun>();
    Result<std::vector<UnreadablePath>> unreadable = std::vector<UnreadablePath>();
    Result<FolderOnNode> home = FolderOnNode(), state = FolderOnNode(), saving = FolderOnNode();
    Result<FolderOnNode> unmarked = FolderOnNode(); ///< the same folder once the mark is gone
};

/// Asks about the folders. Only the first node of a launch leaves the mark; the others look for it
/// once that is there.
void askFolders(AgentQuestions& questions, const PreflightMark& mark, Answers& answers) {
    const bool isNamed = !mark.folder.empty();
    const std::string saving = isNamed ? mark.folder : kStateFolder;
    if (mark.isFirst)
        questions.folder({saving, mark.mark, MarkOrder::kLeave},
                         isNamed ? answers.saving : answers.state);
    if (isNamed && !mark.isFirst)
        questions.folder({saving, mark.mark}, answers.saving);
    if (mark.isFirst && !mark.stays)
        questions.folder({saving, mark.mark, MarkOrder::kTake}, answers.unmarked);
    if (isNamed || !mark.isFirst)
        questions.folder({kStateFolder, mark.mark}, answers.state);
    questions.folder({kHomeFolder, mark.mark}, answers.home);
}

/// Asks about the folders first: the mark is to be left soon or never, whatever is cancelled.
Result<Answers> askNode(HostSession& session, const std::string& agent, const RunSpec& spec,
                        const PreflightParts& parts, const PreflightMark& mark,
                        std::stop_token stop) {
    Answers answers;
    AgentQuestions questions;
    if (parts.folders)
        askFolders(questions, mark, answers);
    questions.probe(answers.report);
    if (asksWhoSaved(spec))
        questions.savedRuns(spec.checkpoint.directory, spec.name, answers.saved);
    if (!spec.data.stage)
        questions.unreadable(dataPaths(spec), answers.unreadable);
    RM_RETURN_IF_ERROR(questions.ask(session, agent, std::move(stop)).map_error(&withAgentAdvice));
    return answers;
}

/// Adds by what the node's data is compared with that of others. It is asked for on its own, as a
/// share that is slow or hangs must not prevent a launch.
void addFingerprint(HostSession& session, const std::string& agent, const RunSpec& spec,
                    std::chrono::seconds limit, NodePreflight& there, std::stop_token stop) {
    std::vector<std::string> paths = spec.data.train;
    paths.insert(paths.end(), spec.data.validation.begin(), spec.data.validation.end());
    Result<DataFingerprint> data;
    AgentQuestions question;
    question.fingerprint(paths, familyOf(spec).data == DataKind::kPictures, limit, data);
    if (const auto answered = question.ask(session, agent, std::move(stop)); !answered)
        data = tl::unexpected(answered.error());
    if (data)
        there.data = std::move(*data);
    else
        there.dataProblem = data.error().message;
}

/// Judges a cluster by what its job will find, not by its login node.
Result<void> judgeCluster(HostSession& session, const std::string& agent, const RunSpec& spec,
                          NodePreflight& there, std::stop_token stop) {
    const auto slurm = slurmOnNode(session, agent, std::move(stop));
    if (!slurm && slurm.error().code == ErrorCode::kUnavailable)
        return tl::unexpected(withSlurmAdvice(slurm.error(), there.node));
    auto found = slurm.and_then(
        [&](const SlurmReport& report) { return partitionOfJob(there.node, spec, report); });
    if (found) {
        there.report =
            reportInJob(std::move(there.report), *found, sbatchOptions(there.node, spec));
        there.partition = std::move(*found);
    } else {
        there.problems.push_back({found.error().message});
    }
    return {};
}

/// The files at a path of a recipe, which needs no quoting.
Result<std::vector<std::string>> filesThere(HostSession& session, const std::string& path,
                                            std::stop_token stop) {
    constexpr std::chrono::seconds kListTimeout{20};
    return runToEnd(session, "find", {"-L", path, "-type", "f"}, {}, kListTimeout, std::move(stop))
        .map([](const std::string& lines) {
            std::vector<std::string> files;
            for (const QString& line :
                 QString::fromStdString(lines).split('\n', Qt::SkipEmptyParts))
                files.push_back(line.toStdString());
            return files;
        });
}

/// Adds the folders of a recipe that are there and have none of what is read. They are asked for on
/// their own, as seldom anybody reads a recipe's data.
void addBareFolders(HostSession& session, const RunSpec& spec, NodePreflight& there,
                    const std::stop_token& stop) {
    for (const std::string& path : spec.data.train) {
        const bool isThere =
            std::ranges::find(there.problems, path, &LaunchProblem::path) == there.problems.end();
        if (!isThere || whatBrings(path).empty())
            continue;
        if (auto bare =
                bareFolder(spec, path, filesThere(session, path, stop), "launch.fix-install"))
            there.problems.push_back(std::move(*bare));
    }
}

void addProblems(NodePreflight& there, const RunSpec& spec,
                 const std::vector<UnreadablePath>& unreadable) {
    if (std::string missing = missingGpus(there.node, there.report); !missing.empty())
        there.problems.push_back({std::move(missing), fixOfMissingGpus(there.node, there.report)});
    if (spec.data.stage)
        std::ranges::move(stagingProblems(spec), std::back_inserter(there.problems));
    for (const UnreadablePath& path : unreadable)
        there.problems.push_back(problemOf(spec, path));
}

} // namespace

Result<NodePreflight> preflightOnNode(HostSession& session, const std::string& agent,
                                      const Node& node, const RunSpec& spec,
                                      const PreflightParts& parts, const PreflightMark& mark,
                                      std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(auto answers, askNode(session, agent, spec, parts, mark, stop));
    NodePreflight there;
    there.node = node;
    RM_ASSIGN_OR_RETURN(there.report, std::move(answers.report));
    RM_ASSIGN_OR_RETURN(const auto unreadable, answers.unreadable);
    if (!answers.saved)
        there.problems.push_back({answers.saved.error().message,
                                  say("launch.fix-name-another-folder"), kFolderKey,
                                  spec.checkpoint.directory});
    else if (auto problem = asksWhoSaved(spec) ? ownedByOther(spec, *answers.saved) : std::nullopt)
        there.problems.push_back(std::move(*problem));
    if (node.isSlurm)
        RM_RETURN_IF_ERROR(judgeCluster(session, agent, spec, there, stop));
    addProblems(there, spec, unreadable);
    if (!spec.data.stage)
        addBareFolders(session, spec, there, stop);
    RM_ASSIGN_OR_RETURN(there.home, std::move(answers.home));
    RM_ASSIGN_OR_RETURN(there.state, std::move(answers.state));
    RM_ASSIGN_OR_RETURN(auto saving, std::move(answers.saving));
    if (parts.folders && !mark.folder.empty())
        there.checkpoints = std::move(saving);
    if (!there.problems.empty())
        return there; // the launch is refused
    if (parts.data && !spec.data.stage)
        addFingerprint(session, agent, spec, parts.dataLimit, there, stop);
    if (!parts.bytes)
        return there;
    RM_ASSIGN_OR_RETURN(there.bytesToSend,
                        bytesToSend(session, agent, spec, placeNode(node, there.report, 0), stop));
    return there;
}

std::vector<PlacedNode> placedNodes(const Preflight& preflight) {
    std::vector<PlacedNode> nodes;
    for (const NodePreflight& each : preflight.nodes)
        nodes.push_back(placeNode(each.node, each.report, each.ranks, each.partition));
    return nodes;
}

} // namespace rm
