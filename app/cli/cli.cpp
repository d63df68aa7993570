// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "shared/spec/live_settings.h"
#include "shared/spec/rule.h"
#include "shared/wire/deployed.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cstring>
#include <functional>
#include <limits>

namespace rm {

namespace {

using namespace rm::cli;

/// Everything that the parser fills in; `action` is set by the subcommand that was named.
struct Arguments {
    bool json = false;
    RunOptions run;
    NodeOptions node;
    ImportOptions import;
    std::vector<std::string> names;
    std::vector<std::string> agents;
    std::string id;
    std::string output;
    std::string format = "csv";
    std::string setting;
    LogOptions logs;
    std::string checkpoint;
    std::string command;
    std::string name;
    std::string search; ///< words
    std::optional<std::string> text;
    std::vector<std::string> removed;
    std::string other; ///< checkpoint
    bool undo = false;
    bool off = false;
    bool verify = false;
    bool preview = false;
    bool yes = false;
    bool recent = false;
    bool last = false;
    bool fromNode = false;
    bool withRuns = false;
    int64_t steps = 1;
    bool wait = false;
    bool asNew = false;
    bool needsNodes = false; ///< more of them than a run has
    bool needsEngine = true;
    std::function<int(CommandContext&)> action;
};

struct Control {
    const char* name;
    CommandKind kind;
    const char* description;
};

constexpr Control kControls[] = {
    {"hold", CommandKind::kHold, "Hold all ranks at the next step; the devices stay taken"},
    {"continue", CommandKind::kContinue, "Go on after hold"},
    {"pause", CommandKind::kPause, "Checkpoint, end the ranks and free the devices"},
    {"checkpoint", CommandKind::kCheckpoint, "Write a checkpoint at the next step"},
    {"validate", CommandKind::kValidate, "Validate at the next step"},
    {"sample", CommandKind::kSample, "Generate a sample at the next step"},
    {"stop", CommandKind::kStop, "End the run at the next step, without a checkpoint"},
    {"kill", CommandKind::kKill, "End the ranks at once, also hanging ones"},
};

constexpr const char* kCheckpoint = "A step or the name of a folder, of `checkpoints RUN`";
constexpr const char* kElsewhere = "NAME[:RANKS] or @GROUP[:RANKS], once per node; default those "
                                   "of the last attempt. The checkpoint is copied to "
                                   "the first of them if it is not there";
constexpr const char* kPreview = "Only say what would change";
constexpr const char* kCheckpointOrNewest =
    "A step or the name of a folder, of `checkpoints RUN`; default: the newest";
constexpr const char* kAnyway = "Launch even if a node seems to have too little memory";

constexpr int64_t kMostSteps = 1'000'000'000'000; // as the ranks take them

/// CLI11's own checks are of real numbers, and name their bounds with all 309 digits.
std::function<std::string(const std::string&)> wholeNumber(const char* what, int64_t least,
                                                           int64_t most) {
    return [=](const std::string& typed) {
        int64_t number = 0;
        const char* end = typed.data() + typed.size();
        const auto parsed = std::from_chars(typed.data(), end, number);
        const bool isGood = parsed.ec == std::errc() && parsed.ptr == end;
        if (isGood && number >= least && number <= most)
            return std::string();
        return std::string(what) + ": a whole number from " + std::to_string(least) + " to " +
               std::to_string(most);
    };
}

CLI::App* addCommand(CLI::App& parser, Arguments& a, const char* name, const char* description,
                     std::function<int(CommandContext&)> action) {
    CLI::App* command = parser.add_subcommand(name, description);
    command->add_flag("--json", a.json, "Answer in JSON on standard output");
    command->callback([&a, action = std::move(action)] { a.action = action; });
    return command;
}

/// For what reads or changes the list of nodes.
void needNodes(CLI::App& command, Arguments& a) {
    command.preparse_callback([&a](size_t) { a.needsNodes = true; });
}

CLI::App* addRunCommand(CLI::App& parser, Arguments& a, const char* name, const char* description,
                        std::function<int(CommandContext&)> action) {
    CLI::App* command = addCommand(parser, a, name, description, std::move(action));
    command->add_option("RUN", a.id, "Id, start of an id, or name of a run")->required();
    return command;
}

void addLaunching(CLI::App& parser, Arguments& a) {
    auto* run = addCommand(parser, a, "run", "Launch a run",
                           [&a](CommandContext& s) { return runRun(s, a.run); });
    auto* spec = run->add_option("SPEC", a.run.spec, "A run spec (.toml) or the name of a recipe");
    run->add_option("--like", a.run.like, "Use the spec and the nodes of this run instead")
        ->excludes(spec);
    run->add_option("--node", a.run.nodes,
                    "NAME[:RANKS] or @GROUP[:RANKS], once per node; default this-computer, or "
                    "--like's")
        ->allow_extra_args(false);
    run->add_option("--set", a.run.overrides, "section.key=value, overrides the spec")
        ->allow_extra_args(false);
    run->add_flag("--wait", a.run.wait, "Follow the run until it ends");
    run->add_flag("--anyway", a.run.anyway, kAnyway);
    auto* justCheck = run->add_flag(
        "--check", a.run.check,
        "Launch nothing; say what the nodes say of it: device, disks, checkpoints, data, "
        "who is there, address");
    run->add_flag("--print-sbatch", a.run.printSbatch,
                  "Launch nothing; print the script that a Slurm cluster would get. Lines of your "
                  "own come from --set 'launch.sbatch=[\"--account=NAME\"]', "
                  "'launch.srun=[\"--mpi=none\"]' and "
                  "'launch.job_setup=[\"module load NAME\"]'")
        ->excludes(justCheck);
    auto* forecast =
        addCommand(parser, a, "forecast",
                   "Measure a step on one node and the links to others, and say what a "
                   "step would take on all of them",
                   [&a](CommandContext& s) { return runForecast(s, a.run); });
    forecast->add_option("SPEC", a.run.spec, "A run spec (.toml) or the name of a recipe")
        ->required();
    forecast
        ->add_option("--node", a.run.nodes,
                     "NAME[:RANKS] or @GROUP[:RANKS], once per node, two nodes or more")
        ->required()
        ->allow_extra_args(false);
    forecast->add_option("--set", a.run.overrides, "section.key=value, overrides the spec")
        ->allow_extra_args(false);
    run->footer("What a run does by itself, --set 'rules=[\"RULE\", ...]', where RULE is\n" +
                ruleHelp());

    auto* resume = addRunCommand(parser, a, "resume", "Go on from the newest checkpoint",
                                 [&a](CommandContext& s) {
                                     return runResume(s, {a.id, a.run.nodes, a.wait, a.preview});
                                 });
    resume->add_option("--node", a.run.nodes, kElsewhere)->allow_extra_args(false);
    resume->add_flag("--preview", a.preview, kPreview);
    resume->add_flag("--wait", a.wait, "Follow the run until it ends");

    auto* restore = addRunCommand(
        parser, a, "restore", "Go on from an earlier checkpoint", [&a](CommandContext& s) {
            return runRestore(s, {a.id, a.checkpoint, a.asNew, a.run.overrides, a.run.nodes, a.yes,
                                  a.wait, a.run.anyway, a.preview});
        });
    restore->add_option("CHECKPOINT", a.checkpoint, kCheckpoint)->required();
    auto* asNew =
        restore->add_flag("--as-new", a.asNew, "Branch: a new run that starts from there");
    restore->add_option("--set", a.run.overrides, "section.key=value, overrides the branch's spec")
        ->allow_extra_args(false)
        ->needs(asNew);
    restore->add_option("--node", a.run.nodes, kElsewhere)->allow_extra_args(false);
    restore->add_flag("--preview", a.preview, kPreview)->excludes(asNew);
    restore->add_flag("--yes", a.yes,
                      "Agree that later steps and checkpoints are set aside; a script has to");
    restore->add_flag("--wait", a.wait, "Follow the run until it ends");
    restore->add_flag("--anyway", a.run.anyway, kAnyway);

    for (CLI::App* command : {run, forecast, resume, restore})
        needNodes(*command, a);

    auto* attach = addRunCommand(parser, a, "attach", "Follow a run until it ends",
                                 [&a](CommandContext& s) { return runAttach(s, a.id); });
    attach->add_flag("--wait", a.wait, "No effect: attach always waits");
}

void addControls(CLI::App& parser, Arguments& a) {
    for (const Control& control : kControls)
        addRunCommand(
            parser, a, control.name, control.description,
            [&a, kind = control.kind](CommandContext& s) { return runControl(s, a.id, kind); });
    auto* lost =
        addRunCommand(parser, a, "declare-lost", "End a run without a node that cannot be reached",
                      [&a](CommandContext& s) { return runDeclareLost(s, a.id, a.node.name); });
    lost->add_option("NODE", a.node.name, "The node to give up")->required();
    auto* step = addRunCommand(
        parser, a, "step", "While held: do N steps and hold again", [&a](CommandContext& s) {
            return runControl(s, a.id, CommandKind::kStep, {{"steps", std::to_string(a.steps)}});
        });
    step->add_option("N", a.steps, "How many steps")->check(wholeNumber("steps", 1, kMostSteps));
    auto* set =
        addRunCommand(parser, a, "set", "Change a setting of a live run", [&a](CommandContext& s) {
            const size_t equals = a.setting.find('=');
            return runControl(s, a.id, CommandKind::kSet,
                              {{a.setting.substr(0, equals), a.setting.substr(equals + 1)}});
        });
    std::string keys;
    for (const std::string_view key : liveKeys())
        keys.append(keys.empty() ? "one of " : ", ").append(key);
    set->add_option("KEY=VALUE", a.setting, keys)->required()->check([](const std::string& text) {
        return text.find('=') == std::string::npos ? "write KEY=VALUE" : "";
    });
}

void addAsked(CLI::App& parser, Arguments& a) {
    addRunCommand(parser, a, "commands", "List what was asked of a run, by whom, and its answers",
                  [&a](CommandContext& s) { return runCommands(s, a.id); });
    auto* withdraw =
        addRunCommand(parser, a, "withdraw", "Take back a command that waits for a node",
                      [&a](CommandContext& s) { return runWithdraw(s, a.id, a.command); });
    withdraw->add_option("COMMAND", a.command,
                         "Start of its id, of `commands RUN`; default: the only one that waits");
}

void addLists(CLI::App& parser, Arguments& a) {
    addCommand(parser, a, "runs", "List the runs, newest first", &runRuns);
    addRunCommand(parser, a, "show", "Show one run",
                  [&a](CommandContext& s) { return runShow(s, a.id); });
    auto* checkpoints = addRunCommand(
        parser, a, "checkpoints", "List a run's checkpoints", [&a](CommandContext& s) {
            return runCheckpoints(s, {a.id, a.verify, a.preview, a.run.overrides});
        });
    checkpoints->add_flag("--verify", a.verify, "Read every byte of them and say which are whole");
    auto* preview = checkpoints->add_flag(
        "--preview", a.preview, "Say which of them are removed once the next one is saved");
    checkpoints
        ->add_option(
            "--set", a.run.overrides,
            "With --preview: checkpoint.keep_last=2 and such, in place of the spec's rules")
        ->allow_extra_args(false)
        ->needs(preview);
    auto* remove = addRunCommand(
        parser, a, "remove-checkpoint", "Remove a checkpoint that was set aside",
        [&a](CommandContext& s) { return runRemoveCheckpoint(s, a.id, a.checkpoint, a.undo); });
    remove->add_option("CHECKPOINT", a.checkpoint, kCheckpoint)->required();
    remove->add_flag("--undo", a.undo, "Bring it back, within a week of its removal");
    auto* pin = addRunCommand(
        parser, a, "pin-checkpoint", "Keep a checkpoint whatever the spec's rules say",
        [&a](CommandContext& s) { return runPinCheckpoint(s, a.id, a.checkpoint, !a.off); });
    pin->add_option("CHECKPOINT", a.checkpoint, kCheckpoint)->required();
    pin->add_flag("--off", a.off, "Let the rules decide again");
    auto* compare = addRunCommand(
        parser, a, "compare-checkpoints", "Say how far the weights of two checkpoints are apart",
        [&a](CommandContext& s) { return runCompareCheckpoints(s, a.id, a.checkpoint, a.other); });
    compare->add_option("A", a.checkpoint, kCheckpoint)->required();
    compare->add_option("B", a.other, "Likewise")->required();
    auto* pull = addRunCommand(
        parser, a, "pull-checkpoint", "Copy a checkpoint to this computer",
        [&a](CommandContext& s) { return runPullCheckpoint(s, a.id, a.checkpoint, a.output); });
    pull->add_option("CHECKPOINT", a.checkpoint, kCheckpointOrNewest);
    pull->add_option("--to", a.output,
                     "A folder; default: where this computer keeps the run's checkpoints, so that "
                     "the run can go on here or from here");
    auto* push = addRunCommand(
        parser, a, "push-checkpoint", "Copy a checkpoint to a node", [&a](CommandContext& s) {
            return runPushCheckpoint(s, a.id, a.checkpoint, a.node.name, a.output);
        });
    push->add_option("CHECKPOINT", a.checkpoint, kCheckpointOrNewest);
    needNodes(*push, a);
    push->add_option("--node", a.node.name, "The node that gets it")->required();
    push->add_option("--from", a.output,
                     "The folder of a checkpoint on this computer, in place of CHECKPOINT");
    auto* exporting = addRunCommand(
        parser, a, "export", "Write every sample of a run, without the steps that were set aside",
        [&a](CommandContext& s) { return runExport(s, a.id, a.output); });
    exporting->add_option("--format", a.format, "csv")->check(CLI::IsMember({"csv"}));
    exporting->add_option("--output", a.output, "A file; default: standard output");
    auto* logs =
        addRunCommand(parser, a, "logs", "Print what the ranks wrote", [&a](CommandContext& s) {
            a.logs.run = a.id;
            return runLogs(s, a.logs);
        });
    logs->add_option("--rank", a.logs.rank, "Only of this rank")
        ->check(wholeNumber("a rank", 0, std::numeric_limits<int>::max()));
    logs->add_option("--filter", a.logs.contains, "Lines that contain these words");
    logs->add_option("--output", a.logs.output, "A file; default: standard output");
}

void addTrash(CLI::App& parser, Arguments& a) {
    CLI::App* trash = parser.add_subcommand("trash", "List the runs that were deleted");
    trash->require_subcommand(0, 1);
    trash->add_flag("--json", a.json, "Answer in JSON on standard output");
    // CLI11 calls this after that of a subcommand.
    trash->callback([&a] {
        if (!a.action)
            a.action = &runTrash;
    });
    addRunCommand(*trash, a, "restore", "Bring a deleted run back",
                  [&a](CommandContext& s) { return runTrashRestore(s, a.id); });
    auto* empty = addCommand(*trash, a, "empty", "Forget the deleted runs for good",
                             [&a](CommandContext& s) { return runTrashEmpty(s, a.yes); });
    empty->add_flag("--yes", a.yes, "Do not ask");
}

void addKeeping(CLI::App& parser, Arguments& a) {
    auto* rename = addRunCommand(parser, a, "rename", "Call a run something else",
                                 [&a](CommandContext& s) { return runRename(s, a.id, a.name); });
    rename->add_option("NAME", a.name, "What no other run is called")->required();
    auto* note = addRunCommand(parser, a, "note", "Print or replace the notes on a run",
                               [&a](CommandContext& s) { return runNote(s, a.id, a.text); });
    note->add_option("TEXT", a.text, "What the notes are to say; empty: nothing");
    auto* tag =
        addRunCommand(parser, a, "tag", "Print a run's tags, add some or take some away",
                      [&a](CommandContext& s) { return runTag(s, a.id, a.names, a.removed); });
    tag->add_option("TAG", a.names, "Tags to add");
    tag->add_option("--remove", a.removed, "A tag to take away")->allow_extra_args(false);
    addRunCommand(parser, a, "delete", "Move a run to the trash",
                  [&a](CommandContext& s) { return runDelete(s, a.id); });
    addTrash(parser, a);
    auto* clean = addCommand(
        parser, a, "clean",
        "Delete a run's folder on its nodes, with the checkpoints in it; without a run: trainers, "
        "agents and staged data that no run on a node needs any more",
        [&a](CommandContext& s) {
            return a.id.empty() ? runCleanNodes(s, {a.names, a.preview, a.recent, a.yes, a.agents})
                                : runClean(s, {a.id, a.preview, a.yes});
        });
    needNodes(*clean, a);
    auto* run = clean->add_option("RUN", a.id, "Id, start of an id, or name of a run");
    clean->add_option("--node", a.names, "Without a run: only these nodes or @GROUPs; default: all")
        ->excludes(run);
    clean
        ->add_option("--agent", a.agents,
                     "Without a run: only agents whose SHA-256 begins so, in 8 digits or more")
        ->check([](const std::string& text) {
            return isBeginOfSha256(text) ? std::string()
                                         : text + " is no begin of a SHA-256, in 8 digits or more";
        })
        ->excludes(run);
    clean->add_flag("--recent", a.recent, "Without a run: also what was used within the last day")
        ->excludes(run);
    clean->add_flag("--preview", a.preview, "Only say what that is");
    clean->add_flag("--yes", a.yes, "Do not ask");
}

CLI::Option* addReaching(CLI::App& command, Arguments& a, const char* ssh) {
    auto* address = command.add_option("--ssh", a.node.ssh, ssh);
    command.add_option("--key", a.node.key,
                       "Private key file; \"\": that of ssh_config, or the usual ones");
    command.add_option("--fingerprint", a.node.fingerprint,
                       "SHA256:... of the host key; another one is refused");
    command.add_flag("!--no-check", a.node.check, "Do not connect to it");
    command.add_option("--jump", a.node.jump,
                       "[USER@]HOST[:PORT] to pass on the way, several joined by ',', as ssh -J; "
                       "default: as ssh_config");
    command.add_option("--gpus", a.node.gpus,
                       "Train on these alone: numbers or UUIDs of nvidia-smi -L, joined by ','; "
                       "default: all");
    command
        .add_option("--env", a.node.environment,
                    "NAME=value for its ranks, once per variable: NCCL_*, GLOO_*, TORCH_*, OMP_* "
                    "and MKL_*; replaces those that it has, \"\" clears them")
        ->allow_extra_args(false);
    command
        .add_option("--group", a.node.groups,
                    "A group to choose it by, as @GROUP, once per group; replaces those that it "
                    "has, \"\" clears them")
        ->allow_extra_args(false);
    command.add_option("--notes", a.node.notes, "What people should know of it");
    return address;
}

/// How jobs are sent to a cluster.
std::array<CLI::Option*, 2> addSlurm(CLI::App& command, Arguments& a) {
    return {command.add_option("--partition", a.node.partition,
                               "Of the cluster; default, and \"\": its own default"),
            command
                .add_option("--sbatch", a.node.sbatch,
                            "An option for each of its jobs, once per option, such as "
                            "--sbatch=--account=NAME; replaces those that it has, \"\" clears them")
                ->allow_extra_args(false)};
}

void addNodes(CLI::App& parser, Arguments& a) {
    CLI::App* nodes = parser.add_subcommand("nodes", "The machines that can train");
    nodes->require_subcommand(1);
    needNodes(*nodes, a);
    auto* add = addCommand(*nodes, a, "add", "Add a machine that SSH reaches",
                           [&a](CommandContext& s) { return runNodesAdd(s, a.node); });
    add->add_option("NAME", a.node.name, "What to call it")->required();
    auto* ssh = addReaching(*add, a, "[USER@]HOST[:PORT] or a name of ~/.ssh/config; default NAME");
    auto* slurm = add->add_flag("--slurm", a.node.isSlurm,
                                "It is the login node of a Slurm cluster, whose nodes train");
    add->add_flag("--here", a.node.isHere, "That is this computer, so that no SSH is needed")
        ->needs(slurm)
        ->excludes(ssh);
    for (auto* option : addSlurm(*add, a))
        option->needs(slurm);
    auto* edit = addCommand(*nodes, a, "edit", "Change how a machine is reached and used",
                            [&a](CommandContext& s) { return runNodesEdit(s, a.node); });
    edit->add_option("NAME", a.node.name, "Its name, which stays the same")->required();
    addReaching(*edit, a, "[USER@]HOST[:PORT] or a name of ~/.ssh/config; default as it is");
    auto* slurmNow = edit->add_flag("--slurm", a.node.isSlurm,
                                    "It is the login node of a Slurm cluster, whose nodes train");
    edit->add_flag("--no-slurm", a.node.isNoSlurm, "It is none")->excludes(slurmNow);
    addSlurm(*edit, a);
    addCommand(*nodes, a, "list", "List the machines", &runNodesList);
    auto* check =
        addCommand(*nodes, a, "check", "Connect to machines and check them",
                   [&a](CommandContext& s) { return runNodesCheck(s, a.names, a.run.spec); });
    check->add_option("NAME", a.names, "Names or @GROUPs; default: all");
    check->add_option("--for", a.run.spec,
                      "A run spec (.toml) or the name of a recipe: check its launch on them, too, "
                      "as run --check does");
    auto* history = addCommand(*nodes, a, "history",
                               "What the last checks of a machine found, and what changed",
                               [&a](CommandContext& s) { return runNodesHistory(s, a.node.name); });
    history->add_option("NAME", a.node.name, "Which")->required();
    auto* import = addCommand(*nodes, a, "import", "Add machines by their names in ~/.ssh/config",
                              [&a](CommandContext& s) { return runNodesImport(s, a.import); });
    auto* aliases =
        import->add_option("ALIAS", a.import.aliases, "Names; default: list what there is");
    import->add_flag("--all", a.import.all, "All that are not in the list")->excludes(aliases);
    import->add_option("--group", a.import.groups, "A group for them, once per group")
        ->allow_extra_args(false);
    auto* network = addCommand(
        *nodes, a, "network", "Measure how machines reach each other, and by which interface",
        [&a](CommandContext& s) { return runNodesNetwork(s, a.names, a.last); });
    network->add_option("NAME", a.names,
                        "Names or @GROUPs; default: all that are no Slurm cluster, without this "
                        "computer where there are two others");
    network->add_flag("--last", a.last, "Show what was found last, without measuring");
    auto* end = addCommand(
        *nodes, a, "end-leftovers", "End runs that a check found left over on a machine",
        [&a](CommandContext& s) { return runNodesEndLeftovers(s, a.node.name, a.names, a.yes); });
    end->add_option("NAME", a.node.name, "The machine")->required();
    end->add_option("RUN", a.names, "Ids of runs, as the check says them")->required();
    end->add_flag("--yes", a.yes, "Do not ask, even of what another Ringmaster started");
    auto* selfTest = addCommand(*nodes, a, "self-test",
                                "Let a machine compare what its devices compute with what is right",
                                [&a](CommandContext& s) { return runNodesSelfTest(s, a.name); });
    selfTest->add_option("NAME", a.name, "Which")->required();
    auto* links =
        addCommand(*nodes, a, "all-reduce",
                   "Measure how fast gradients are summed between machines, in about 10 s",
                   [&a](CommandContext& s) { return runNodesAllReduce(s, a.names, a.preview); });
    auto* which =
        links->add_option("NAME", a.names, "NAME[:RANKS] or @GROUP[:RANKS], two nodes or more");
    links->add_flag("--history", a.preview, "Only show the earlier measurements")->excludes(which);
    auto* remove = addCommand(*nodes, a, "remove", "Forget a machine", [&a](CommandContext& s) {
        return a.fromNode ? runNodesUninstall(s, {a.node.name, a.withRuns, a.preview, a.yes})
                          : runNodesRemove(s, a.node.name);
    });
    remove->add_option("NAME", a.node.name, "Which")->required();
    auto* fromNode =
        remove->add_flag("--from-node", a.fromNode, "First delete there what Ringmaster put there");
    remove->add_flag("--runs", a.withRuns, "Also its runs' folders, with their checkpoints")
        ->needs(fromNode);
    remove->add_flag("--preview", a.preview, "Only say what that is")->needs(fromNode);
    remove->add_flag("--yes", a.yes, "Do not ask")->needs(fromNode);
}

void addManual(CLI::App& parser, Arguments& a) {
    auto* help = addCommand(parser, a, "help", "Print a topic of the manual",
                            [&a](CommandContext& s) { return runHelp(s, a.name, a.search); });
    auto* topic = help->add_option("TOPIC", a.name, "Default: index, which lists them");
    help->add_option("--search", a.search, "Instead the paragraphs of all topics with these words")
        ->excludes(topic);
    help->preparse_callback([&a](size_t) { a.needsEngine = false; });
}

void describe(CLI::App& parser, Arguments& arguments) {
    parser.require_subcommand(1);
    parser.set_version_flag("--version", "ringmaster " RINGMASTER_RELEASE);
    addLaunching(parser, arguments);
    addControls(parser, arguments);
    addAsked(parser, arguments);
    addLists(parser, arguments);
    addKeeping(parser, arguments);
    addNodes(parser, arguments);
    addManual(parser, arguments);
}

/// Looked up before parsing: a script gets its error as JSON even when its arguments are wrong.
bool asksForJson(int argc, char** argv) {
    return std::any_of(argv, argv + argc,
                       [](const char* word) { return std::strcmp(word, "--json") == 0; });
}

/// The command line that prints the help of the subcommand named so far.
std::string helpOf(const CLI::App& parser) {
    std::string words = "ringmaster";
    const CLI::App* command = &parser;
    while (!command->get_subcommands().empty()) {
        command = command->get_subcommands().front();
        words += ' ' + command->get_name();
    }
    return words + " --help";
}

int refuseWords(const CLI::App& parser, const CLI::ParseError& error, const std::string& word,
                bool json) {
    if (error.get_exit_code() == 0)
        return parser.exit(error);
    const auto isCalledSo = [&](const CLI::App* command) { return command->check_name(word); };
    // In the order in which they were typed; CLI11's own message lists them in reverse.
    std::string unexpected;
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
        for (const std::string& each : parser.remaining(true))
            unexpected += (unexpected.empty() ? "" : " ") + each;
    const bool isKnown = !parser.get_subcommands(isCalledSo).empty();
    const std::string why = !isKnown             ? "there is no command " + word
                            : unexpected.empty() ? error.what()
                                                 : "not understood: " + unexpected;
    return printError(json, {ErrorCode::kInvalid, why + "; see " + helpOf(parser)});
}

} // namespace

bool isTerminalCommand(int argc, char** argv) {
    if (argc < 2)
        return false;
    const std::string_view first = argv[1];
    return first.empty() || first[0] != '-' || first == "-h" || first == "--help" ||
           first == "--version";
}

int runTerminalCommand(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    std::setlocale(LC_NUMERIC, "C"); // Qt has set the person's; ours are English texts
    Arguments arguments;
    CLI::App parser("Ringmaster trains models on the machines that you can reach by SSH. Without "
                    "a command it opens its window.",
                    "ringmaster");
    describe(parser, arguments);
    try {
        parser.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return refuseWords(parser, error, argv[1], asksForJson(argc, argv));
    }
    CommandContext context(arguments.json);
    if (!arguments.needsEngine)
        return arguments.action(context);
    if (const auto opened = context.open(arguments.needsNodes); !opened)
        return printError(context, opened.error());
    const int code = arguments.action(context);
    context.finish();
    return code;
}

} // namespace rm
