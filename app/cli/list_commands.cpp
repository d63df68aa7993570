// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/retention.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/fleet.h"
#include "app/core/launch/recipes.h"
#include "app/core/runs/failure_cause.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/requested_words.h"
#include "app/core/runs/run_cost.h"
#include "app/core/runs/run_figures.h"
#include "app/core/runs/slowdowns.h"
#include "app/core/runs/standstill.h"
#include "app/core/store/export.h"
#include "app/core/store/run_metrics.h"
#include "app/core/store/store_reader.h"
#include "shared/amounts.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <QtConcurrent>

#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <set>

namespace rm::cli {

namespace {

struct CheckpointsOptions {
    std::string run;
    /// Every byte of them is read on their node; the exit code says whether all are whole.
    bool verify = false;
    bool preview = false;               ///< say which ones retention removes next
    std::vector<std::string> overrides; ///< section.key=value, of the rules of that
};

std::vector<StoredCheckpoint> present(std::vector<StoredCheckpoint> checkpoints) {
    std::erase_if(checkpoints, std::not_fn(isSomewhere));
    return checkpoints;
}

/// A run, brought up to date from its nodes, and a reader of what is stored about it.
struct ReadRun {
    RunSummary summary;
    std::unique_ptr<StoreReader> reader;
};

Result<ReadRun> readRun(CommandContext& context, const std::string& id) {
    RM_ASSIGN_OR_RETURN(auto run, context.caughtUp(id));
    RM_ASSIGN_OR_RETURN(auto reader, context.reader());
    return ReadRun{std::move(run), std::move(reader)};
}

constexpr size_t kBecause = 4; ///< column

std::vector<std::string> row(const StoredCheckpoint& checkpoint) {
    const CheckpointSaved& saved = checkpoint.saved;
    const bool validated = saved.validationLoss == saved.validationLoss;
    return {std::to_string(saved.step),
            std::to_string(checkpoint.attempt),
            validated ? formatNumber(saved.validationLoss) : "-",
            bytesWords(saved.bytes),
            oneLine(whySaved(checkpoint)),
            formatAgo(saved.wallNs),
            whereWords(checkpoint),
            oneLine(saved.path)};
}

std::string verifiedText(const StoredCheckpoint& checkpoint) {
    return checkpoint.verifiedNs > 0 ? formatAgo(checkpoint.verifiedNs) : "-";
}

std::string countText(const std::vector<StoredCheckpoint>& checkpoints) {
    const auto living = std::ranges::count(checkpoints, 0, &StoredCheckpoint::retiredBy);
    const auto retired = static_cast<std::ptrdiff_t>(checkpoints.size()) - living;
    return std::to_string(living) +
           (retired > 0 ? ", and " + std::to_string(retired) + " that were set aside" : "");
}

/// What is wrong with a run right now. Empty: nothing, or it has ended.
struct Trouble {
    std::string waiting;                  ///< what it waits for, when it makes no progress
    std::vector<std::string> disks = {};  ///< ranks that cannot write what they measure
    std::vector<std::string> silent = {}; ///< nodes of which what is shown is old
};

Trouble troubleOf(CommandContext& context, const RunSummary& run) {
    const LiveState live = context.engine().live(run.id);
    if (hasEnded(run.state))
        return {};
    const bool waits = !live.held && !isAnyDown(live) && standsStill(live, 0);
    return {waits ? whoIsBehind(live) : "", journalProblems(live), silentNodes(live, wallNowNs())};
}

constexpr int kAllEvents = std::numeric_limits<int>::max();

void printShow(const RunSummary& run, StoreReader& reader, const Trouble& trouble,
               const RunCost& cost) {
    std::cout << run.id.toStdString() << "  " << stateText(run) << "\n"
              << "  name        " << oneLine(run.name.toStdString()) << "\n"
              << "  step        " << stepsText(run, " of ") << ", attempt " << run.attempt << "\n"
              << "  loss        " << lossText(run.loss) << ", best validation "
              << lossText(run.validationLoss)
              << lastFigures(reader, run.id, validationMetrics(reader, run.id)) << "\n"
              << "  nodes       " << nodesText(run) << "\n";
    if (const auto attempts = reader.attempts(run.id);
        !attempts.empty() && !attempts.back().runtime.empty())
        std::cout << "  runtime     " << oneLine(attempts.back().runtime) << "\n";
    std::cout << "  created     " << formatAgo(run.createdNs) << "\n";
    if (const std::string used = costWords(cost); !used.empty())
        std::cout << "  used        " << used << "\n";
    std::cout << "  checkpoints " << countText(present(reader.checkpoints(run.id))) << "\n";
    if (!run.parentRun.isEmpty())
        std::cout << "  branch of   " << parentText(run) << "\n";
    if (const auto settings = settingsNow(reader.settings(run.id)); !settings.empty())
        std::cout << "  set to      " << oneLine(settingsWords(settings)) << "\n";
    if (const std::string verdict = verdictLine(readVerdict(reader, run).slowdowns);
        !verdict.empty())
        std::cout << "  why slow    " << oneLine(verdict) << "\n";
    if (!trouble.waiting.empty())
        std::cout << "  waiting     " << oneLine(trouble.waiting) << "\n";
    for (const std::string& node : trouble.silent)
        std::cout << "  silent      " << oneLine(node) << "\n";
    for (const std::string& disk : trouble.disks)
        std::cout << "  disk        " << oneLine(disk) << "\n";
    for (const RequestedCommand& open : reader.openCommands(run.id))
        std::cout << "  asked       " << oneLine(requestedWords(open)) << ", by "
                  << oneLine(requesterWords(open.by)) << ", " << formatAgo(open.requestedNs) << ": "
                  << oneLine(fateWords(open)) << "\n";
    if (const std::string marks = marksText(run); !marks.empty())
        std::cout << "  marks       " << marks << "\n";
    if (!run.tags.isEmpty())
        std::cout << "  tags        " << oneLine(run.tags.join(", ").toStdString()) << "\n";
    if (!run.notes.isEmpty())
        std::cout << "  notes       " << oneLine(run.notes.toStdString()) << "\n";
    for (const Warned& warned : warningsOf(reader.events(run.id, kAllEvents), run.attempt))
        std::cout << "  warned      " << warningText(warned) << "\n";
    for (const LostNode& node : run.lostNodes)
        std::cout << "  unreachable " << node.nodeName << ", noticed " << formatAgo(node.sinceNs)
                  << " (" << oneLine(node.why) << ")\n";
    for (const std::string& node : run.unreadNodes)
        std::cout << "  unread      " << node << ": not all that it has of the run was read\n";
    if (!run.message.isEmpty())
        std::cout << "  message     " << oneLine(run.message.toStdString()) << "\n";
    if (const auto words = unsavedWords(run, reader.checkpoints(run.id)); !words.empty())
        std::cout << "  unsaved     " << words << "\n";
    if (const KnownError* known = knownCause(run, reader.attempts(run.id), reader.ranks(run.id)))
        std::cout << "  known       " << meaningOf(*known) << "\n"
                  << "  to do       " << fixOf(*known) << "\n";
    for (const StoredRank& rank : reader.ranks(run.id)) {
        std::cout << "  rank " << rank.rank << "      step " << rank.step;
        if (rank.exited)
            std::cout << ", " << oneLine(rank.exited->message);
        std::cout << "\n";
    }
}

int runShow(CommandContext& context, const std::string& id) {
    const auto read = readRun(context, id);
    if (!read)
        return printError(context, read.error());
    const RunSummary& run = read->summary;
    StoreReader& reader = *read->reader;
    const Trouble trouble = troubleOf(context, run);
    const RunCost cost = readCost(reader, run, context.fleet().nodes(), wallNowNs());
    if (!context.json()) {
        printShow(run, reader, trouble, cost);
        return 0;
    }
    auto out = toJson(run);
    out["used"] = toJson(cost);
    out["waiting"] = trouble.waiting;
    out["disks"] = trouble.disks;
    out["silent"] = trouble.silent;
    out["commands"] = arrayOf(reader.requestedCommands(run.id));
    out["attempts"] = arrayOf(reader.attempts(run.id));
    out["lines"] = arrayOf(reader.lines(run.id));
    out["rank_states"] = arrayOf(reader.ranks(run.id));
    out["warnings"] = arrayOf(warningsOf(reader.events(run.id, kAllEvents), run.attempt));
    out["events"] = arrayOf(reader.events(run.id));
    out["checkpoints"] = arrayOf(present(reader.checkpoints(run.id)));
    out["spec"] = reader.specToml(run.id);
    out["settings"] = settingsNow(reader.settings(run.id));
    out["why"] = toJson(run, readVerdict(reader, run));
    const KnownError* known = knownCause(run, reader.attempts(run.id), reader.ranks(run.id));
    out["known_error"] = known ? nlohmann::ordered_json{{"id", known->id},
                                                        {"meaning", meaningOf(*known)},
                                                        {"fix", fixOf(*known)}}
                               : nlohmann::ordered_json();
    printJson(out);
    return 0;
}

struct WhyOptions {
    std::string run;
    std::optional<int64_t> from, to; ///< neither: the last steps
};

int runWhy(CommandContext& context, const WhyOptions& options) {
    const auto read = readRun(context, options.run);
    if (!read)
        return printError(context, read.error());
    const RunSummary& run = read->summary;
    std::optional<StepSpan> span;
    if (options.from && options.to && *options.from > *options.to)
        return printError(context,
                          {ErrorCode::kInvalid, "why " + options.run + ": --to is before --from"});
    if (options.from || options.to) {
        const auto there =
            stepsOfRun(*read->reader, run.id,
                       StepSpan{options.from.value_or(0), options.to.value_or(StepSpan::kLast)});
        if (!there)
            return printError(context, failAs("why " + options.run, there.error()).value());
        span = there->steps;
    }
    const Verdict verdict = readVerdict(*read->reader, run, span);
    if (context.json()) {
        printJson(toJson(run, verdict));
        return 0;
    }
    std::cout << oneLine(run.name.toStdString()) << "  " << stateText(run) << ", "
              << stepsText(run, " of ") << "\n";
    if (span && verdict.pace.steps > 0)
        std::cout << "Of steps " << verdict.pace.firstStep() << " to " << verdict.pace.lastStep
                  << "\n";
    for (const Slowdown& slowdown : verdict.slowdowns) {
        std::cout << "\n" << slowdown.row.title << "\n  " << oneLine(slowdown.row.evidence) << "\n";
        if (!slowdown.row.cause.empty())
            std::cout << "  " << oneLine(slowdown.row.cause) << "\n";
        if (!slowdown.row.fix.empty())
            std::cout << "  what to do: " << oneLine(slowdown.row.fix) << "\n";
    }
    if (!verdict.unknowns.empty())
        std::cout << "\nNot known\n";
    for (const std::string& unknown : verdict.unknowns)
        std::cout << "  " << oneLine(unknown) << "\n";
    std::cout << std::flush;
    return 0;
}

/// The verdict on each checkpoint, in their order. The node is asked for one after another, so that
/// other work of the node comes between.
std::vector<Result<void>> verify(CommandContext& context, const RunSummary& run,
                                 const std::vector<StoredCheckpoint>& checkpoints) {
    std::vector<Result<void>> verdicts;
    StatusLine status;
    for (const StoredCheckpoint& checkpoint : checkpoints) {
        const std::string name = checkpointNameOf(checkpoint);
        status.update("Verifying " + oneLine(name) + ", " + std::to_string(verdicts.size() + 1) +
                      " of " + std::to_string(checkpoints.size()));
        const auto ask = [&] {
            return await(context.engine().ask(
                VerifyCheckpointRequest{run.id, QString::fromStdString(name)}));
        };
        auto verdict = ask();
        const bool denied = !verdict && verdict.error().code == ErrorCode::kDenied;
        if (denied && openAsking(context, nodesOf(run)))
            verdict = ask();
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

/// 0, or the exit code of the first verdict that is not whole.
int exitCodeOf(const std::vector<Result<void>>& verdicts) {
    const auto bad = std::ranges::find(verdicts, false, &Result<void>::has_value);
    return bad == verdicts.end() ? 0 : static_cast<int>(exitCodeFor(bad->error().code));
}

nlohmann::ordered_json verifiedJson(const StoredCheckpoint& checkpoint,
                                    const Result<void>& verdict) {
    auto out = toJson(checkpoint);
    const bool isVerdict = verdict || verdict.error().code == ErrorCode::kCorrupt;
    out["whole"] = isVerdict ? nlohmann::ordered_json(verdict.has_value()) : nullptr;
    out["problem"] = verdict ? "" : verdict.error().message;
    return out;
}

Result<std::set<std::string>> previewOf(const ReadRun& read,
                                        const std::vector<std::string>& overrides) {
    const QString& run = read.summary.id;
    RM_ASSIGN_OR_RETURN(auto spec, parseRunSpec(read.reader->specToml(run), run.toStdString()));
    RM_RETURN_IF_ERROR(applyOverrides(spec, overrides));
    RM_ASSIGN_OR_RETURN(const auto checked, check(std::move(spec)));
    // No other one follows that would take its place.
    if (read.summary.state == RunStateKind::kFinished)
        return std::set<std::string>();
    return removedNext(*read.reader, read.summary, *checked);
}

int runCheckpoints(CommandContext& context, const CheckpointsOptions& options) {
    const auto read = readRun(context, options.run);
    if (!read)
        return printError(context, read.error());
    const auto stored = read->reader->checkpoints(read->summary.id);
    const auto checkpoints = present(stored);
    const bool verified = options.verify;
    const auto verdicts =
        verified ? verify(context, read->summary, checkpoints) : std::vector<Result<void>>();
    const auto gone = options.preview ? previewOf(*read, options.overrides)
                                      : Result<std::set<std::string>>(std::set<std::string>());
    if (!gone)
        return printError(context, gone.error());
    if (context.json()) {
        auto out = arrayOf(checkpoints);
        for (size_t at = 0; at < verdicts.size(); ++at)
            out[at] = verifiedJson(checkpoints[at], verdicts[at]);
        for (size_t at = 0; options.preview && at < checkpoints.size(); ++at)
            out[at]["removed_next"] = gone->contains(checkpoints[at].saved.path);
        printJson(out);
        return exitCodeOf(verdicts);
    }
    std::vector<std::vector<std::string>> rows = {{"STEP", "ATTEMPT", "VALIDATION", "SIZE",
                                                   "SAVED BECAUSE", "SAVED", "ON", "WHERE",
                                                   "VERIFIED"}};
    for (size_t at = 0; at < checkpoints.size(); ++at) {
        rows.push_back(row(checkpoints[at]));
        if (gone->contains(checkpoints[at].saved.path))
            rows.back()[kBecause] += "; " + std::string(kRemovedNext);
        rows.back().push_back(verified ? oneLine(verdictText(verdicts[at]))
                                       : verifiedText(checkpoints[at]));
    }
    if (!checkpoints.empty())
        std::cout << formatTable(rows);
    else if (hasEnded(read->summary.state))
        std::cout << "No checkpoints: "
                  << whyNoCheckpoint(read->summary, stored,
                                     read->reader->requestedCommands(read->summary.id))
                  << ".\n";
    else if (const std::string why = whyNoneIsKnown(read->summary); !why.empty())
        std::cout << "No checkpoint is known: " << oneLine(why) << ".\n";
    else
        std::cout << "No checkpoints yet.\n";
    if (options.preview && read->summary.state == RunStateKind::kFinished)
        std::cout << "The run has finished: it saves none any more, so that none is removed.\n";
    std::cout << std::flush;
    return exitCodeOf(verdicts);
}

struct ExportOptions {
    std::vector<std::string> runs;
    std::string output; ///< empty: standard output
    std::string format = "csv";
    SampleChoice choice;
};

int runExport(CommandContext& context, const ExportOptions& options) {
    if (context.json() && options.output.empty())
        return printError(context, {ErrorCode::kInvalid, "export " + joined(options.runs, " ") +
                                                             ": with --json name an --output: two "
                                                             "answers do not fit into one stream"});
    if (options.choice.first > options.choice.last)
        return printError(context, {ErrorCode::kInvalid, "export " + joined(options.runs, " ") +
                                                             ": --to is before --from"});
    QStringList ids;
    std::unique_ptr<StoreReader> reader;
    for (const std::string& name : options.runs) {
        auto read = readRun(context, name);
        if (!read)
            return printError(context, read.error());
        ids << read->summary.id;
        reader = std::move(read->reader);
    }
    ids.removeDuplicates();
    // Not in this thread, which may be serving other terminals.
    SampleChoice choice = options.choice;
    choice.namesRuns = options.runs.size() > 1;
    const auto rows = await(QtConcurrent::run([&] {
        return options.output.empty()
                   ? exportCsv(*reader, ids, std::cout, choice)
                   : exportCsv(*reader, ids, QString::fromStdString(options.output), choice);
    }));
    if (!rows)
        return printError(context, rows.error());
    if (context.json()) {
        std::vector<std::string> names;
        for (const QString& id : ids)
            names.push_back(id.toStdString());
        nlohmann::ordered_json answer;
        if (choice.namesRuns)
            answer["runs"] = names;
        else
            answer["run"] = names.front();
        answer["rows"] = *rows;
        answer["output"] = options.output;
        printJson(answer);
    } else if (!options.output.empty()) {
        std::cerr << *rows << " rows written to " << options.output << std::endl;
    }
    return 0;
}

int listRecipes(CommandContext& context) {
    auto lines = nlohmann::ordered_json::array();
    std::vector<std::vector<std::string>> rows = {{"RECIPE", "IN SHORT"}};
    for (const Recipe& recipe : recipes()) {
        rows.push_back({recipe.name.toStdString(), recipe.brief.toStdString()});
        lines.push_back({{"name", recipe.name.toStdString()},
                         {"brief", recipe.brief.toStdString()},
                         {"description", recipe.description.toStdString()},
                         {"path", recipe.path.toStdString()}});
    }
    if (context.json())
        printJson(lines);
    else
        std::cout << formatTable(rows) << std::flush;
    return 0;
}

int showRecipe(CommandContext& context, const std::string& name) {
    const auto recipe = findRecipe(name);
    if (!recipe)
        return printError(context, recipe.error());
    const std::string toml = recipe->toml.toStdString();
    if (context.json())
        printJson({{"name", name}, {"toml", toml}});
    else
        std::cout << toml << std::flush;
    return 0;
}

} // namespace

void addLists(CommandLine& line) {
    auto& recipe = line.keep<std::string>();
    auto* recipeCommand =
        line.add("recipes", "List the recipes, or print one", [&recipe](CommandContext& context) {
            return recipe.empty() ? listRecipes(context) : showRecipe(context, recipe);
        });
    line.needNoEngine(*recipeCommand);
    recipeCommand->add_option("RECIPE", recipe,
                              "The one to print, as the beginning of a spec of your own");

    auto& shown = line.keep<std::string>();
    line.mayOnlyRead(
        *line.addOfRun("show", "Show one run", shown,
                       [&shown](CommandContext& context) { return runShow(context, shown); }));

    auto& slow = line.keep<WhyOptions>();
    auto* why = line.addOfRun("why", "Say why a run is not faster, and what to do", slow.run,
                              [&slow](CommandContext& context) { return runWhy(context, slow); });
    why->add_option("--from", slow.from, "From this step on, in place of the last ones")
        ->check(wholeNumber("a step", 0, std::numeric_limits<int64_t>::max()));
    why->add_option("--to", slow.to, "Up to this step")
        ->check(wholeNumber("a step", 0, std::numeric_limits<int64_t>::max()));
    line.mayOnlyRead(*why);

    auto& o = line.keep<CheckpointsOptions>();
    auto* checkpoints =
        line.addOfRun("checkpoints", "List a run's checkpoints", o.run,
                      [&o](CommandContext& context) { return runCheckpoints(context, o); });
    checkpoints->add_flag("--verify", o.verify, "Read every byte of them and say which are whole");
    auto* preview = checkpoints->add_flag(
        "--preview", o.preview, "Say which of them are removed once the next one is saved");
    checkpoints
        ->add_option(
            "--set", o.overrides,
            "With --preview: checkpoint.keep_last=2 and such, in place of the spec's rules")
        ->allow_extra_args(false)
        ->needs(preview);

    auto& exported = line.keep<ExportOptions>();
    auto* exporting =
        line.add("export", "Write every sample of runs, without the steps that were set aside",
                 [&exported](CommandContext& context) { return runExport(context, exported); });
    exporting->add_option("RUN", exported.runs, kRunsHelp)->required();
    line.mayOnlyRead(*exporting);
    exporting->add_option("--format", exported.format, "csv")->check(CLI::IsMember({"csv"}));
    exporting->add_option("--output", exported.output, "A file; default: standard output");
    exporting
        ->add_option("--metric", exported.choice.metrics, "Only of this metric; may be repeated")
        ->allow_extra_args(false);
    exporting->add_option("--from", exported.choice.first, "From this step on")
        ->check(wholeNumber("a step", 0, std::numeric_limits<int64_t>::max()));
    exporting->add_option("--to", exported.choice.last, "Up to this step")
        ->check(wholeNumber("a step", 0, std::numeric_limits<int64_t>::max()));
}

} // namespace rm::cli
