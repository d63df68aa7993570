// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/node_comparison.h"
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/fleet/ssh_offers.h"
#include "app/core/launch/recipes.h"
#include "app/core/node/ssh_address.h"
#include "shared/counted.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <QString>

#include <algorithm>
#include <array>
#include <iostream>

namespace rm::cli {

namespace {

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
    std::optional<double> price;
    std::vector<std::string> environment; ///< all of them; one empty text: none
    std::vector<std::string> groups;      ///< likewise
};

struct ImportOptions {
    std::vector<std::string> aliases;
    bool all = false;                ///< that are not in the list and can be added
    std::vector<std::string> groups; ///< of those that are added
};

/// `node` reached by "[USER@]HOST[:PORT]"; IPv6 addresses stand in brackets.
Result<Node> reachedBy(Node node, const std::string& typed) {
    node.isLocal = false;
    RM_ASSIGN_OR_RETURN(const auto address,
                        parseSshAddress(typed, "read the address of " + node.name));
    node.user = address.user;
    node.port = address.port;
    node.sshHost = address.host;
    return node;
}

/// The list that was typed: one empty text clears it.
std::vector<std::string> listFrom(const std::vector<std::string>& typed) {
    return typed == std::vector<std::string>{""} ? std::vector<std::string>() : typed;
}

std::vector<std::string> gpusFrom(const std::string& typed) {
    std::vector<std::string> gpus;
    const QString list = typed == "all" ? QString() : QString::fromStdString(typed);
    for (const QString& gpu : list.split(',', Qt::SkipEmptyParts))
        gpus.push_back(gpu.trimmed().toStdString());
    return gpus;
}

/// The node with Slurm switched on or off; a node that is no cluster any more has no job options.
Node withSlurm(Node node, const NodeOptions& options) {
    node.isSlurm = (node.isSlurm || options.isSlurm) && !options.isNoSlurm;
    if (!options.sbatch.empty() || !node.isSlurm)
        node.sbatch = listFrom(options.sbatch);
    if (!options.partition)
        return node;
    std::erase_if(node.sbatch,
                  [](const std::string& option) { return !partitionOf({option}).empty(); });
    if (!options.partition->empty())
        node.sbatch.push_back("--partition=" + *options.partition);
    return node;
}

/// The node with what the options say of it, the address apart.
Node withOptions(Node node, const NodeOptions& options) {
    node.identityFile = options.key.value_or(node.identityFile);
    node.jumpHost = options.jump.value_or(node.jumpHost);
    node.notes = options.notes.value_or(node.notes);
    node.pricePerHour = options.price.value_or(node.pricePerHour);
    if (options.gpus)
        node.gpus = gpusFrom(*options.gpus);
    if (!options.environment.empty())
        node.environment = listFrom(options.environment);
    if (!options.groups.empty())
        node.groups = listFrom(options.groups);
    return withSlurm(std::move(node), options);
}

/// What nodes.toml has that this release does not know.
void printWarnings(CommandContext& context) {
    for (const std::string& warning : context.fleet().takeWarnings())
        std::cerr << "ringmaster: " << oneLine(warning) << std::endl;
}

std::string joined(const std::vector<std::string>& words, const char* between = ", ") {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : between) + word;
    return text;
}

/// A table without the columns that are empty in all rows below the head.
std::string formatFilled(std::vector<std::vector<std::string>> rows) {
    for (size_t column = rows.front().size(); column-- > 0;) {
        const auto isEmpty = [column](const auto& row) { return row[column].empty(); };
        if (std::all_of(rows.begin() + 1, rows.end(), isEmpty))
            for (auto& row : rows)
                row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
    return formatTable(rows);
}

void printCheck(const NodeCheck& check) {
    std::cout << oneLine(check.node) << ": "
              << (!check.ready             ? "not ready"
                  : isReadyOnItsCpu(check) ? "ready on its CPU"
                                           : "ready")
              << "\n";
    for (const CheckRow& row : check.rows)
        printRow(row);
    std::cout << std::flush;
}

void printDifferences(const NodeComparison& comparison) {
    std::vector<std::vector<std::string>> rows = {{"DIFFERENT", "VALUE", "NODES"}};
    for (const NodeDifference& difference : comparison.differences)
        for (const NodeDifference::Side& side : difference.sides)
            rows.push_back({&side == &difference.sides.front() ? difference.what : "",
                            oneLine(side.value), oneLine(someOf(side.nodes))});
    if (rows.size() > 1)
        std::cout << "\n" << formatTable(rows);
    else
        std::cout << "\nno differences between the " << comparison.compared << " nodes\n";
}

void printComparison(const NodeComparison& comparison) {
    if (comparison.compared > 1)
        printDifferences(comparison);
    for (const std::string& sentence : comparison.shared)
        std::cout << oneLine(sentence) << "\n";
    std::cout << std::flush;
}

/// "differences": what of the node is not the same on all that were checked, as {"what", "value",
/// "nodes": who has that value}; "shared": sentences on machines that have several names and
/// folders that nodes share.
nlohmann::ordered_json withDifferences(nlohmann::ordered_json check,
                                       const NodeComparison& comparison, const std::string& node) {
    check["differences"] = nlohmann::ordered_json::array();
    for (const NodeDifference& difference : comparison.differences)
        for (const NodeDifference::Side& side : difference.sides)
            if (std::ranges::find(side.nodes, node) != side.nodes.end())
                check["differences"].push_back(
                    {{"what", difference.what}, {"value", side.value}, {"nodes", side.nodes}});
    check["shared"] = comparison.shared;
    return check;
}

int reportCheck(const CommandContext& context, const NodeCheck& check) {
    if (check.failure)
        return printError(context,
                          {check.failure->error.code, withAdvice(*check.failure, check.node)});
    if (context.json())
        printJson(toJson(check));
    else
        printCheck(check);
    return 0;
}

/// A fingerprint is compared with what the machine shows, and so trusted, by a check alone.
Result<void> checkTrust(const std::string& attempt, const NodeOptions& options) {
    if (options.check || options.fingerprint.empty())
        return {};
    return fail(ErrorCode::kInvalid,
                attempt + ": --fingerprint is compared with the key that the machine shows, and "
                          "--no-check does not connect to it; leave one of them out");
}

int runNodesAdd(CommandContext& context, const NodeOptions& options) {
    if (const auto trust = checkTrust("add node " + options.name, options); !trust)
        return printError(context, trust.error());
    Node wanted;
    wanted.name = options.name;
    wanted = withOptions(wanted, options);
    wanted.isLocal = options.isHere;
    const auto node = wanted.isLocal
                          ? Result<Node>(wanted)
                          : reachedBy(wanted, options.ssh.empty() ? options.name : options.ssh);
    if (!node)
        return printError(context, node.error());
    if (const auto added = context.fleet().add(*node); !added)
        return printError(context, added.error());
    if (!options.check) {
        if (context.json())
            printJson(toJson(*node));
        return 0;
    }
    const NodeCheck check = checkAsking(context, *node, options.fingerprint);
    if (check.failure) {
        (void)context.fleet().remove(QString::fromStdString(node->name));
        return printError(context, {check.failure->error.code,
                                    withAdvice(*check.failure, {}) +
                                        " (not added; --no-check adds it without connecting)"});
    }
    return reportCheck(context, check);
}

int runNodesEdit(CommandContext& context, const NodeOptions& options) {
    printWarnings(context);
    if (const auto trust = checkTrust("edit node " + options.name, options); !trust)
        return printError(context, trust.error());
    const auto known = context.fleet().find(QString::fromStdString(options.name));
    if (!known)
        return printError(context, {ErrorCode::kNotFound,
                                    "edit node " + options.name + ": it is not in the list"});
    const auto node = options.ssh.empty() ? Result<Node>(*known) : reachedBy(*known, options.ssh);
    if (!node)
        return printError(context, node.error());
    const Node wanted = withOptions(*node, options);
    if (const auto changed = context.fleet().change(wanted); !changed)
        return printError(context, changed.error());
    if (const auto reader = context.reader(); reader && !areReachedAlike(wanted, *known))
        if (const auto live = liveRunsOn((*reader)->runs(), wanted.name); !live.isEmpty())
            std::cerr << "ringmaster: "
                      << say("engine.edited-while-live",
                             {{"runs", live.join(", ").toStdString()}, {"node", wanted.name}})
                      << std::endl;
    const bool isOnlyUsedElse = wanted != *known && wanted.gpus == known->gpus &&
                                wanted.isSlurm == known->isSlurm &&
                                wanted.sbatch == known->sbatch && areReachedAlike(wanted, *known) &&
                                options.fingerprint.empty();
    if (options.check && !isOnlyUsedElse) {
        NodeCheck check = checkAsking(context, wanted, options.fingerprint);
        if (check.failure)
            check.failure->error.message += " (edited all the same)";
        return reportCheck(context, check);
    }
    if (context.json())
        printJson(toJson(wanted));
    return 0;
}

/// Empty: it has none.
std::string priceText(const Node& node) {
    return node.pricePerHour > 0 ? plainNumber(node.pricePerHour) + " an hour" : std::string();
}

int runNodesList(CommandContext& context) {
    printWarnings(context);
    const auto nodes = context.fleet().nodes();
    if (context.json()) {
        auto out = nlohmann::ordered_json::array();
        for (const Node& node : nodes)
            out.push_back(toJson(node));
        printJson(out);
        return 0;
    }
    std::vector<std::vector<std::string>> rows = {
        {"NODE", "REACHED BY", "GROUPS", "GPUS", "ENVIRONMENT", "PRICE", "NOTES"}};
    for (const Node& node : nodes) {
        const std::string jump = node.jumpHost.empty() ? "" : " through " + node.jumpHost;
        const std::string way = "ssh " + toText({node.user, node.sshHost, node.port}) + jump;
        rows.push_back(
            {node.name, (node.isLocal ? "no SSH" : way) + (node.isSlurm ? ", Slurm" : ""),
             joined(node.groups), joined(node.gpus), oneLine(joined(node.environment, " ")),
             priceText(node), oneLine(node.notes)});
    }
    std::cout << formatFilled(std::move(rows)) << std::flush;
    return 0;
}

int runNodesHistory(CommandContext& context, const std::string& name) {
    if (!context.fleet().find(QString::fromStdString(name)))
        return printError(context, {ErrorCode::kNotFound,
                                    "show the checks of " + name + ": it is not in the list"});
    const auto past = context.fleet().history(QString::fromStdString(name));
    if (context.json()) {
        auto out = nlohmann::ordered_json::array();
        for (const PastCheck& check : past)
            out.push_back(toJson(check));
        printJson(out);
        return 0;
    }
    std::vector<std::vector<std::string>> rows = {{"CHECKED", "STATE", "PROBLEM", "CHANGED"}};
    for (const PastCheck& check : past)
        rows.push_back({formatAgo(check.checkedNs), check.ready ? "ready" : "not ready",
                        oneLine(check.problem), oneLine(joined(check.changes, "; "))});
    std::cout << (past.empty()
                      ? "no check was kept; check it with ringmaster nodes check " + name + "\n"
                      : formatFilled(std::move(rows)))
              << std::flush;
    return 0;
}

int printOffers(const CommandContext& context, const std::vector<SshOffer>& offers) {
    if (context.json()) {
        auto out = nlohmann::ordered_json::array();
        for (const SshOffer& offer : offers)
            out.push_back(toJson(offer));
        printJson(out);
        return 0;
    }
    if (offers.empty())
        std::cout << "~/.ssh/config has no names" << std::endl;
    std::vector<std::vector<std::string>> rows = {
        {"NAME", "HOST", "USER", "PORT", "THROUGH", "KEY", "NODE", "PROBLEM"}};
    for (const SshOffer& offer : offers)
        rows.push_back({oneLine(offer.node.sshHost), oneLine(offer.route.host),
                        oneLine(offer.route.user), std::to_string(offer.route.port),
                        oneLine(offer.passes), oneLine(offer.route.keyFile), offer.known,
                        oneLine(offer.problem)});
    if (!offers.empty())
        std::cout << formatFilled(std::move(rows)) << std::flush;
    return 0;
}

Result<Node> importedFrom(const SshOffer& offer) {
    const std::string attempt = "import " + offer.node.sshHost + ": ";
    if (!offer.known.empty())
        return fail(ErrorCode::kInvalid, attempt + "it is in the list as " + offer.known);
    if (!offer.problem.empty())
        return fail(ErrorCode::kInvalid, attempt + offer.problem);
    return offer.node;
}

/// What ssh_config says of these names. Of many that takes seconds, which is said.
std::vector<SshOffer> offersOf(CommandContext& context, const std::vector<std::string>& aliases) {
    constexpr size_t kMany = 100;
    if (aliases.size() >= kMany)
        std::cerr << "reading where ~/.ssh/config leads with "
                  << counted(std::ssize(aliases), "name") << std::endl;
    return sshOffers(context.fleet().nodes(), aliases);
}

int runNodesImport(CommandContext& context, const ImportOptions& options) {
    const auto all = sshAliases();
    if (options.aliases.empty() && !options.all)
        return printOffers(context, offersOf(context, all));
    for (const std::string& alias : options.aliases)
        if (std::ranges::find(all, alias) == all.end())
            return printError(context,
                              {ErrorCode::kNotFound, "import " + alias +
                                                         ": it is no name of ~/.ssh/config; "
                                                         "ringmaster nodes import lists them"});
    std::vector<Node> wanted;
    for (const SshOffer& offer : offersOf(context, options.all ? all : options.aliases)) {
        auto node = importedFrom(offer);
        if (!node && options.all) {
            if (offer.known.empty())
                std::cerr << "left out: " << oneLine(node.error().message) << std::endl;
            continue;
        }
        if (!node)
            return printError(context, node.error());
        node->groups = options.groups;
        wanted.push_back(std::move(*node));
    }
    if (const auto added = context.fleet().addAll(wanted); !added)
        return printError(context, added.error());
    auto out = nlohmann::ordered_json::array();
    for (const Node& node : wanted)
        out.push_back(toJson(node));
    if (context.json())
        printJson(out);
    else
        std::cout << counted(std::ssize(wanted), "node")
                  << " added; ringmaster nodes check says whether they can train" << std::endl;
    return 0;
}

void printLaunchCheck(const std::string& launchOf, const LaunchCheck& check) {
    std::cout << "\nlaunch of " << oneLine(launchOf) << ": "
              << (check.isReady ? "possible" : "refused") << "\n";
    for (const CheckRow& row : check.rows)
        printRow(row);
    std::cout << std::flush;
}

/// Checks a launch on the nodes with the ranks that the spec would have there.
Result<LaunchCheck> checkLaunchOn(CommandContext& context, const RunSpec& spec,
                                  const std::vector<Node>& nodes) {
    std::vector<Placement> placements;
    for (const Node& node : nodes)
        placements.push_back({QString::fromStdString(node.name), 0});
    return checkLaunchAsking(context, spec, placements);
}

int runNodesCheck(CommandContext& context, const std::vector<std::string>& typed,
                  const std::string& launchOf) {
    printWarnings(context);
    const auto names = namedNodes(context.fleet().nodes(), typed);
    if (!names)
        return printError(context, names.error());
    std::optional<CheckedSpec> spec;
    if (!launchOf.empty()) {
        auto loaded = loadSpecOrRecipe(launchOf, {});
        if (!loaded)
            return printError(context, loaded.error());
        spec = std::move(*loaded);
    }
    std::vector<Node> nodes;
    for (const std::string& name : *names) {
        const auto node = context.fleet().find(QString::fromStdString(name));
        if (!node)
            return printError(
                context, {ErrorCode::kNotFound, "check node " + name + ": it is not in the list"});
        nodes.push_back(*node);
    }
    if (names->empty())
        nodes = context.fleet().nodes();
    const auto answers = checkAllAsking(context, nodes);
    if (!answers)
        return answers.error();
    const std::vector<NodeCheck>& checks = *answers;
    const NodeComparison comparison = compareNodes(checks, context.fleet().lastChecks());
    auto out = nlohmann::ordered_json::array();
    int code = 0;
    for (const NodeCheck& check : checks) {
        if (!check.ready && code == 0)
            code = static_cast<int>(check.failure ? exitCodeFor(check.failure->error.code)
                                                  : ExitCode::kFailed);
        if (check.failure)
            std::cerr << "ringmaster: " << oneLine(withAdvice(*check.failure, check.node))
                      << std::endl;
        if (context.json())
            out.push_back(withDifferences(toJson(check), comparison, check.node));
        else
            printCheck(check);
    }
    std::optional<Result<LaunchCheck>> launch;
    if (spec)
        launch = checkLaunchOn(context, **spec, names->empty() ? measuredNodes(nodes) : nodes);
    if (launch && *launch) {
        out.push_back(toJson(**launch));
        out.back()["launch"] = launchOf;
    }
    if (context.json())
        printJson(out);
    else
        printComparison(comparison);
    if (!launch)
        return code;
    if (!*launch)
        return printError(context, launch->error());
    if (!context.json())
        printLaunchCheck(launchOf, **launch);
    return code == 0 && !(*launch)->isReady ? static_cast<int>(ExitCode::kFailed) : code;
}

/// The runs that this Ringmaster has not started, as far as it knows.
std::vector<std::string> othersOf(const CommandContext& context,
                                  const std::vector<std::string>& runs) {
    const auto reader = context.reader();
    std::vector<std::string> others;
    for (const std::string& run : runs)
        if (!reader || !(*reader)->run(QString::fromStdString(run)))
            others.push_back(run);
    return others;
}

/// Asks before what another Ringmaster started is ended: whether any of it lives, and may be.
Result<OtherRuns> agreeToEndOthers(CommandContext& context, const std::string& name,
                                   const std::vector<std::string>& runs, bool yes) {
    const auto node = context.fleet().find(QString::fromStdString(name));
    const std::vector<std::string> others = othersOf(context, runs);
    if (yes || others.empty() || !node)
        return yes ? OtherRuns::kEnd : OtherRuns::kRefuse;
    const NodeCheck check = checkAsking(context, *node, {});
    if (check.failure)
        return fail(check.failure->error.code, withAdvice(*check.failure, name));
    std::string living;
    for (const RunReport& run : check.report.value_or(NodeReport()).runs)
        if (std::ranges::find(others, run.runId) != others.end())
            living +=
                (living.empty() ? "" : "; ") + oneLine(otherRunWords(run, check.report->wallNs));
    if (living.empty())
        return OtherRuns::kRefuse;
    RM_RETURN_IF_ERROR(agree(context, "end leftovers on " + name,
                             "this ends what another Ringmaster started on " + name + ": " +
                                 living + "; what it has not saved is lost",
                             false));
    return OtherRuns::kEnd;
}

int runNodesEndLeftovers(CommandContext& context, const std::string& name,
                         const std::vector<std::string>& runs, bool yes) {
    QStringList ids;
    for (const std::string& run : runs)
        ids << QString::fromStdString(run);
    const auto others = agreeToEndOthers(context, name, runs, yes);
    if (!others)
        return printError(context, others.error());
    const auto end = [&] {
        return await(
            context.engine().ask(EndLeftoversRequest{QString::fromStdString(name), ids, *others}));
    };
    auto ended = end();
    if (!ended && ended.error().code == ErrorCode::kDenied && openAsking(context, {name}))
        ended = end();
    if (!ended)
        return printError(context, ended.error());
    if (context.json())
        printJson({{"ended", runs}});
    return 0;
}

CLI::Option* addReaching(CLI::App& command, NodeOptions& o, const char* ssh) {
    auto* address = command.add_option("--ssh", o.ssh, ssh);
    command.add_option("--key", o.key,
                       "Private key file; \"\": that of ssh_config, or the usual ones");
    command.add_option("--fingerprint", o.fingerprint,
                       "SHA256:... of the host key; another one is refused");
    command.add_flag("!--no-check", o.check, "Do not connect to it");
    command.add_option("--jump", o.jump,
                       "[USER@]HOST[:PORT] to pass on the way, several joined by ',', as ssh -J; "
                       "default: as ssh_config");
    command.add_option("--gpus", o.gpus,
                       "Train on these alone: numbers or UUIDs of nvidia-smi -L, joined by ','; "
                       "default: all");
    command
        .add_option("--env", o.environment,
                    "NAME=value for its ranks, once per variable: NCCL_*, GLOO_*, TORCH_*, OMP_* "
                    "and MKL_*; replaces those that it has, \"\" clears them")
        ->allow_extra_args(false);
    command
        .add_option("--group", o.groups,
                    "A group to choose it by, as @GROUP, once per group; replaces those that it "
                    "has, \"\" clears them")
        ->allow_extra_args(false);
    command.add_option("--notes", o.notes, "What people should know of it");
    command.add_option("--price", o.price,
                       "What an hour of it costs, such as 2.49, for what a run has cost; 0: not "
                       "known");
    return address;
}

/// How jobs are sent to a cluster.
std::array<CLI::Option*, 2> addSlurm(CLI::App& command, NodeOptions& o) {
    return {command.add_option("--partition", o.partition,
                               "Of the cluster; default, and \"\": its own default"),
            command
                .add_option("--sbatch", o.sbatch,
                            "An option for each of its jobs, once per option, such as "
                            "--sbatch=--account=NAME; replaces those that it has, \"\" clears them")
                ->allow_extra_args(false)};
}

void addNodeEdits(CommandLine& line, CLI::App& nodes) {
    auto& added = line.keep<NodeOptions>();
    auto* add = line.add(nodes, "add", "Add a machine that SSH reaches",
                         [&added](CommandContext& context) { return runNodesAdd(context, added); });
    add->add_option("NAME", added.name, "What to call it")->required();
    auto* ssh =
        addReaching(*add, added, "[USER@]HOST[:PORT] or a name of ~/.ssh/config; default NAME");
    auto* slurm = add->add_flag("--slurm", added.isSlurm,
                                "It is the login node of a Slurm cluster, whose nodes train");
    add->add_flag("--here", added.isHere, "That is this computer, so that no SSH is needed")
        ->needs(slurm)
        ->excludes(ssh);
    for (auto* option : addSlurm(*add, added))
        option->needs(slurm);

    auto& edited = line.keep<NodeOptions>();
    auto* edit =
        line.add(nodes, "edit", "Change how a machine is reached and used",
                 [&edited](CommandContext& context) { return runNodesEdit(context, edited); });
    edit->add_option("NAME", edited.name, "Its name, which stays the same")->required();
    addReaching(*edit, edited, "[USER@]HOST[:PORT] or a name of ~/.ssh/config; default as it is");
    auto* slurmNow = edit->add_flag("--slurm", edited.isSlurm,
                                    "It is the login node of a Slurm cluster, whose nodes train");
    edit->add_flag("--no-slurm", edited.isNoSlurm, "It is none")->excludes(slurmNow);
    addSlurm(*edit, edited);
}

void addNodeChecks(CommandLine& line, CLI::App& nodes) {
    struct Check {
        std::vector<std::string> names;
        std::string spec;
    };
    auto& checked = line.keep<Check>();
    auto* check = line.add(nodes, "check", "Connect to machines and check them",
                           [&checked](CommandContext& context) {
                               return runNodesCheck(context, checked.names, checked.spec);
                           });
    check->add_option("NAME", checked.names, "Names or @GROUPs; default: all");
    check->add_option("--for", checked.spec,
                      "A run spec (.toml) or the name of a recipe: check its launch on them, too, "
                      "as run --check does");

    auto& past = line.keep<std::string>();
    auto* history =
        line.add(nodes, "history", "What the last checks of a machine found, and what changed",
                 [&past](CommandContext& context) { return runNodesHistory(context, past); });
    history->add_option("NAME", past, "Which")->required();
}

void addImport(CommandLine& line, CLI::App& nodes) {
    auto& o = line.keep<ImportOptions>();
    auto* import = line.add(nodes, "import", "Add machines by their names in ~/.ssh/config",
                            [&o](CommandContext& context) { return runNodesImport(context, o); });
    auto* aliases = import->add_option("ALIAS", o.aliases, "Names; default: list what there is");
    import->add_flag("--all", o.all, "All that are not in the list")->excludes(aliases);
    import->add_option("--group", o.groups, "A group for them, once per group")
        ->allow_extra_args(false);
}

void addEndLeftovers(CommandLine& line, CLI::App& nodes) {
    struct Options {
        std::string name;
        std::vector<std::string> runs;
        bool yes = false;
    };
    auto& o = line.keep<Options>();
    auto* end =
        line.add(nodes, "end-leftovers", "End runs that a check found left over on a machine",
                 [&o](CommandContext& context) {
                     return runNodesEndLeftovers(context, o.name, o.runs, o.yes);
                 });
    end->add_option("NAME", o.name, "The machine")->required();
    end->add_option("RUN", o.runs, "Ids of runs, as the check says them")->required();
    end->add_flag("--yes", o.yes, "Do not ask, even of what another Ringmaster started");
}

} // namespace

void addNodes(CommandLine& line) {
    CLI::App* nodes = line.addGroup("nodes", "The machines that can train");
    line.needNodes(*nodes);
    addNodeEdits(line, *nodes);
    line.add(*nodes, "list", "List the machines", &runNodesList);
    addNodeChecks(line, *nodes);
    addImport(line, *nodes);
    addNetwork(line, *nodes);
    addEndLeftovers(line, *nodes);
    addTrials(line, *nodes);
    addNodeRemoval(line, *nodes);
}

} // namespace rm::cli
