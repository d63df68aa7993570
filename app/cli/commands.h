// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/messages.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm::cli {

class CommandContext;

/// Each function is one subcommand. It gets the options that CLI11 read and returns the exit code.

struct RunOptions {
    std::string spec;                   ///< path of a .toml, or the name of a recipe
    std::string like;                   ///< instead of `spec`: a run whose spec (and nodes) to use
    std::vector<std::string> nodes;     ///< NAME[:RANKS] or @GROUP[:RANKS]
    std::vector<std::string> overrides; ///< section.key=value
    bool wait = false;
    bool anyway = false;      ///< launch even if memory seems too small
    bool check = false;       ///< only say what the nodes say of it
    bool printSbatch = false; ///< only print the script of its job on a Slurm cluster
};
int runRun(CommandContext& context, const RunOptions& options);
int runAttach(CommandContext& context, const std::string& run);

struct ResumeOptions {
    std::string run;
    std::vector<std::string> nodes; ///< NAME[:RANKS]; none: those of the last attempt
    bool wait = false;
    bool preview = false; ///< only say what would change
};
int runResume(CommandContext& context, const ResumeOptions& options);
/// Ends a run without a node of its that nothing is heard of.
int runDeclareLost(CommandContext& context, const std::string& run, const std::string& node);

struct RestoreOptions {
    std::string run;
    std::string checkpoint; ///< a step, or the name of a folder
    bool asNew = false;
    std::vector<std::string> overrides; ///< as RunOptions', of the new run
    std::vector<std::string> nodes;     ///< as ResumeOptions'
    bool yes = false;                   ///< do not ask whether to retire what came after
    bool wait = false;
    bool anyway = false;  ///< as RunOptions'
    bool preview = false; ///< as ResumeOptions'
};
int runRestore(CommandContext& context, const RestoreOptions& options);

int runControl(CommandContext& context, const std::string& run, CommandKind kind,
               std::vector<std::pair<std::string, std::string>> args = {});

/// What was asked of a run, by whom, and what became of it.
int runCommands(CommandContext& context, const std::string& run);
/// Takes back the command whose id begins so; empty: the only one that waits.
int runWithdraw(CommandContext& context, const std::string& run, const std::string& command);

int runRuns(CommandContext& context);
int runShow(CommandContext& context, const std::string& run);
struct CheckpointsOptions {
    std::string run;
    /// Every byte of them is read on their node; the exit code says whether all are whole.
    bool verify = false;
    bool preview = false;               ///< say which ones retention removes next
    std::vector<std::string> overrides; ///< as RunOptions', of the rules of that
};
int runCheckpoints(CommandContext& context, const CheckpointsOptions& options);
/// `undo`: brings it back.
int runRemoveCheckpoint(CommandContext& context, const std::string& run,
                        const std::string& checkpoint, bool undo);
int runPinCheckpoint(CommandContext& context, const std::string& run, const std::string& checkpoint,
                     bool pinned);
int runCompareCheckpoints(CommandContext& context, const std::string& run, const std::string& a,
                          const std::string& b);
/// `to`: a folder of this computer; empty: where its runs lie. The newest where none is named.
int runPullCheckpoint(CommandContext& context, const std::string& run,
                      const std::string& checkpoint, const std::string& to);
/// `from`: the folder of a checkpoint on this computer; empty: from where it lies.
int runPushCheckpoint(CommandContext& context, const std::string& run,
                      const std::string& checkpoint, const std::string& node,
                      const std::string& from);
int runExport(CommandContext& context, const std::string& run, const std::string& output);

int runRename(CommandContext& context, const std::string& run, const std::string& name);
/// Prints the notes; with `text` replaces them.
int runNote(CommandContext& context, const std::string& run,
            const std::optional<std::string>& text);
/// Adds tags to a run and takes others away, then prints them.
int runTag(CommandContext& context, const std::string& run, const std::vector<std::string>& add,
           const std::vector<std::string>& remove);
int runDelete(CommandContext& context, const std::string& run); ///< to the trash
int runTrash(CommandContext& context);
int runTrashRestore(CommandContext& context, const std::string& run);
int runTrashEmpty(CommandContext& context, bool yes);

struct CleanOptions {
    std::string run;
    bool preview = false; ///< only say what would go
    bool yes = false;     ///< do not ask
};
/// Deletes the folders of a run on its nodes.
int runClean(CommandContext& context, const CleanOptions& options);

struct CleanNodesOptions {
    std::vector<std::string> nodes;       ///< empty: all
    bool preview = false;                 ///< only say what would go
    bool withRecent = false;              ///< as NodeCleaning's
    bool yes = false;                     ///< do not ask
    std::vector<std::string> agents = {}; ///< as NodeCleaning's
};
/// Removes what was deployed to nodes and is not needed there any more.
int runCleanNodes(CommandContext& context, const CleanNodesOptions& options);

struct LogOptions {
    std::string run;
    int rank = -1;        ///< -1: all
    std::string contains; ///< empty: all
    std::string output;   ///< empty: standard output
};
int runLogs(CommandContext& context, const LogOptions& options);

struct NodeOptions {
    std::string name;
    std::string ssh;                ///< [USER@]HOST[:PORT] or an ssh_config name
    std::optional<std::string> key; ///< empty: that of ssh_config, or the usual ones
    std::string fingerprint;
    bool isSlurm = false;   ///< the login node of a Slurm cluster
    bool isNoSlurm = false; ///< and not any more
    bool isHere = false;    ///< which is this computer
    std::vector<std::string> sbatch;
    std::optional<std::string> partition; ///< short for one of these
    bool check = true;
    std::optional<std::string> jump; ///< [USER@]HOST[:PORT]; empty: none
    std::optional<std::string> gpus; ///< joined by ','; "all" or empty: all
    std::optional<std::string> notes;
    std::vector<std::string> environment; ///< all of them; one empty text: none
    std::vector<std::string> groups;      ///< likewise
};
int runNodesAdd(CommandContext& context, const NodeOptions& options);
/// The node keeps its own value for every option that is not given.
int runNodesEdit(CommandContext& context, const NodeOptions& options);
int runNodesList(CommandContext& context);
/// `launchOf`: a spec or recipe whose launch on those nodes (none: measuredNodes()) is checked as
/// well; empty: none.
int runNodesCheck(CommandContext& context, const std::vector<std::string>& names,
                  const std::string& launchOf);
/// Measures how the nodes (none: all) reach each other; `last` shows the last measurement instead.
/// Failed where a pair of them cannot talk in either direction, or a node took no part.
int runNodesNetwork(CommandContext& context, const std::vector<std::string>& names, bool last);
/// What the last checks of a node found, and what changed in between.
int runNodesHistory(CommandContext& context, const std::string& name);
/// Adds nodes by names of ~/.ssh/config; without `aliases` and `all` lists what there is.
struct ImportOptions {
    std::vector<std::string> aliases;
    bool all = false;                ///< that are not in the list and can be added
    std::vector<std::string> groups; ///< of those that are added
};
int runNodesImport(CommandContext& context, const ImportOptions& options);
/// Ends what lives of these runs on the node; before it ends what another Ringmaster started, a
/// person has to agree.
int runNodesEndLeftovers(CommandContext& context, const std::string& name,
                         const std::vector<std::string>& runs, bool yes);
/// Tests the node's devices.
int runNodesSelfTest(CommandContext& context, const std::string& name);
/// Measures sums between ranks of these nodes (NAME[:RANKS]); `history`: prints the earlier tests.
int runNodesAllReduce(CommandContext& context, const std::vector<std::string>& names, bool history);
/// What a step of RunOptions::spec would take on 1 to all of its nodes.
int runForecast(CommandContext& context, const RunOptions& options);
int runNodesRemove(CommandContext& context, const std::string& name);

struct RemoveNodeOptions {
    std::string name;
    bool withRuns = false; ///< also the folders of its runs
    bool preview = false;  ///< only say what would go
    bool yes = false;      ///< do not ask
};
/// Removes what Ringmaster put on the node, then forgets the node. What cannot be removed there
/// stays, and so does the node.
int runNodesUninstall(CommandContext& context, const RemoveNodeOptions& options);

/// Prints a topic of the manual, or the paragraphs of it that have these words. Needs neither fleet
/// nor engine.
int runHelp(CommandContext& context, const std::string& topic, const std::string& words);

} // namespace rm::cli
