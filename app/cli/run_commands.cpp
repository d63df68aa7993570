// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/launch_lines.h"
#include "app/cli/named_nodes.h"
#include "app/cli/queueing.h"
#include "app/cli/run_text.h"
#include "app/cli/run_watch.h"
#include "app/cli/terminal.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/engine/earlier_run.h"
#include "app/core/engine/procedures.h"
#include "app/core/findings/text.h"
#include "app/core/launch/launch_rows.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/recipes.h"
#include "app/core/runs/branch_name.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/runs/same_name.h"
#include "app/core/store/store_reader.h"
#include "shared/checkpoint/manifest.h"
#include "shared/return_if_error.h"
#include "shared/spec/rule.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string_view>

namespace rm::cli {

namespace {

struct RunOptions {
    std::string spec;                   ///< path of a .toml, or the name of a recipe
    std::string like;                   ///< instead of `spec`: a run whose spec (and nodes) to use
    bool exact = false;                 ///< with `like`: its trainer and data, too
    std::vector<std::string> nodes;     ///< NAME[:RANKS] or @GROUP[:RANKS]
    std::vector<std::string> overrides; ///< section.key=value
    bool wait = false;
    bool anyway = false;      ///< launch even if memory seems too small
    bool queue = false;       ///< wait for free nodes
    int take = 0;             ///< of the nodes, those that are free first; 0: all
    bool check = false;       ///< only say what the nodes say of it
    bool printSbatch = false; ///< only print the script of its job on a Slurm cluster
};

/// A sweep is launched as `run` is, many times.
struct SweepOptions {
    RunOptions run;
    std::vector<std::string> axes; ///< see parseSweepAxis()
    SweepPlan plan;
    bool preview = false; ///< only say which runs there would be
};

struct ResumeOptions {
    std::string run;
    std::vector<std::string> nodes; ///< NAME[:RANKS]; none: those of the last attempt
    bool wait = false;
    bool anyway = false; ///< as RunOptions'
    bool queue = false;
    bool preview = false; ///< only say what would change
};

struct RestoreOptions {
    std::string run;
    std::string checkpoint; ///< a step, or the name of a folder
    bool asNew = false;
    std::vector<std::string> overrides; ///< section.key=value, of the new run
    std::vector<std::string> nodes;     ///< as ResumeOptions'
    bool yes = false;                   ///< do not ask whether to retire what came after
    bool wait = false;
    bool anyway = false;  ///< as RunOptions'
    bool preview = false; ///< as ResumeOptions'
};

using namespace std::chrono_literals;

/// How long ranks may take to say that they train, or that they cannot. Those of a resumed run have
/// data already, and read a checkpoint that may be damaged.
constexpr auto kFirstWords = 10s;
constexpr auto kResumedWords = 2min;
constexpr auto kFirstMoments = 1s;
constexpr int64_t kMostRungSteps = 1'000'000'000'000;

/// The nodes that were named, else those of the run, of which some may not have taken part last.
Result<std::vector<Placement>> placementsFor(CommandContext& context, const RunSummary& run,
                                             const std::vector<std::string>& nodes) {
    if (!nodes.empty())
        return namedPlacements(context.fleet().nodes(), nodes);
    RM_ASSIGN_OR_RETURN(const auto reader, context.reader());
    const auto whole = reader->wholePlaces(run.id);
    if (const std::string words = partWords(run.nodes, whole); !words.empty())
        std::cerr << oneLine(words) << " --node names others." << std::endl;
    if (const std::string words = unreadWords(run); !words.empty())
        std::cerr << oneLine(words) << std::endl;
    for (const RunNode& node : whole)
        if (!context.fleet().find(QString::fromStdString(node.nodeName)) &&
            !context.fleet().problem())
            return fail(ErrorCode::kNotFound,
                        "find node " + node.nodeName + ", on which " + run.id.toStdString() +
                            " trained: it is not in the list; add it again with ringmaster nodes "
                            "add, or name others with --node");
    return placementsOf(whole);
}

QString newId(const std::string& name) {
    return QString::fromStdString(newRunId(name));
}

/// Shows the stages of a launch until it is over, and cancels it when that is asked for.
Result<QString> awaitLaunch(CommandContext& context, const QString& run,
                            QFuture<Result<QString>> started, const Interruption& interruption) {
    QObject receiver;
    bool isTooLarge = false, isCancelled = false;
    QObject::connect(&context.engine(), &Engine::tooLarge, &receiver,
                     [&](const QString& which) { isTooLarge = isTooLarge || which == run; });
    auto answer = awaitShown(context, run, started, interruption, [&] {
        isCancelled = true;
        context.engine().ask(CommandRequest{run, CommandKind::kKill});
    });
    // It came when nothing could be cancelled any more, or for a run that goes on as an earlier
    // one, which is not known by the id of this launch.
    if (answer && interruption.isRequested() && (!isCancelled || *answer != run))
        context.engine().ask(CommandRequest{*answer, CommandKind::kKill});
    if (!answer && isTooLarge)
        answer.error().message += "; --anyway launches it all the same";
    return answer;
}

IfTooLarge ifTooLarge(bool anyway) {
    return anyway ? IfTooLarge::kLaunch : IfTooLarge::kRefuse;
}

/// A launch, the nodes that it needs, and how long its ranks may be silent.
struct Start {
    std::function<QFuture<Result<QString>>()> begin;
    std::vector<std::string> nodes;
    std::chrono::seconds firstWords = kFirstWords;
    std::function<void()> reportBegun = [] {}; ///< once it has begun
};

/// A node refuses a login before anything was started. So the launch can simply be repeated once
/// the person has entered what the node asks for.
Result<QString> launchAsking(CommandContext& context, const QString& run, const Start& start,
                             const Interruption& interruption) {
    auto id = awaitLaunch(context, run, start.begin(), interruption);
    const bool denied = !id && id.error().code == ErrorCode::kDenied;
    if (denied && !interruption.isRequested() && openAsking(context, start.nodes))
        id = awaitLaunch(context, run, start.begin(), interruption);
    return id;
}

/// The error of a run that fails before its ranks train, or within its first moments; nullopt: it
/// did not, or nothing was heard of them for as long as `firstWords`.
std::optional<Error> earlyEnd(CommandContext& context, const QString& run,
                              std::chrono::seconds firstWords) {
    bool ended = false;
    QObject receiver;
    QObject::connect(&context.engine(), &Engine::attemptEnded, &receiver,
                     [&](const QString& which) { ended = ended || which == run; });
    const auto stored = [&] { return context.resolve(run.toStdString()); };
    // A short run has ended before it was seen to train, perhaps before this was called.
    const auto isStored = [&](bool (*is)(RunStateKind)) {
        const auto now = stored();
        ended = ended || (now && hasEnded(now->state));
        return ended || (now && is(now->state));
    };
    // The process that started it may end: the next one follows what it was asked for by name.
    if (!isStored(&hasEnded))
        context.engine().attach(run);
    awaitUntil(
        [&] {
            return isStored([](RunStateKind state) { return state != RunStateKind::kPreparing; });
        },
        firstWords);
    awaitUntil([&] { return isStored(&hasEnded); }, kFirstMoments);
    const auto now = stored();
    if (!now || now->state != RunStateKind::kFailed)
        return std::nullopt;
    return Error{ErrorCode::kInternal,
                 run.toStdString() + " failed: " + now->message.toStdString()};
}

/// The texts of the events in the newest attempt, in their order, whose code is, or begins with,
/// this one.
std::vector<std::string> eventTexts(CommandContext& context, const std::string& id,
                                    std::string_view code) {
    constexpr int kNewest = 100;
    std::vector<std::string> messages;
    const auto run = context.resolve(id);
    const auto reader = context.reader();
    if (!run || !reader)
        return messages;
    for (const StoredEvent& each : (*reader)->events(run->id, kNewest))
        if (each.attempt == run->attempt && each.event.code.starts_with(code))
            messages.push_back(each.event.message);
    std::ranges::reverse(messages); // the newest came first
    return messages;
}

/// Prints what the launch found that did not prevent it. With --wait, watchRun() prints these
/// events instead.
std::vector<std::string> printWarnings(CommandContext& context, const QString& run) {
    auto warnings = eventTexts(context, run.toStdString(), kLaunchRowPrefix);
    for (const std::string& words : warnings)
        std::cerr << "warning: " << oneLine(words) << std::endl;
    return warnings;
}

/// Shows a launch while it goes on, then the run's id. Ctrl+C cancels it.
int reportStarted(CommandContext& context, const QString& wanted, const Start& start, bool wait) {
    bool isRequested = false;
    QString run = wanted;
    {
        const Interruption interruption;
        const Result<QString> id = launchAsking(context, wanted, start, interruption);
        isRequested = interruption.isRequested();
        if (!id && isRequested) {
            Error cancelled = failCancelled("launch " + run.toStdString()).value();
            cancelled.message += "; nothing of it runs";
            printError(context, cancelled);
            return interruption.exitCode();
        }
        if (!id)
            return printError(context, id.error());
        run = *id; // that of an earlier run, if the launch goes on with it
    }
    start.reportBegun();
    // A Ctrl+C that came too late to cancel the launch kills the run, which is watched to its end.
    if (wait || isRequested)
        return watchRun(context, run);
    const Interruption interruption;
    const auto warnings = printWarnings(context, run);
    if (const auto end = earlyEnd(context, run, start.firstWords)) {
        printError(context, *end);
        return static_cast<int>(ExitCode::kRunFailed);
    }
    const auto damages = eventTexts(context, run.toStdString(), kCheckpointDamagedEvent);
    for (const std::string& words : eventTexts(context, run.toStdString(), kEarlierRunEvent))
        std::cerr << oneLine(words) << std::endl;
    for (const std::string& damage : damages)
        std::cerr << "warning: " << oneLine(damage) << std::endl;
    const auto now = context.resolve(run.toStdString());
    if (interruption.isRequested() && now && now->state == RunStateKind::kPreparing) {
        await(context.engine().ask(CommandRequest{run, CommandKind::kKill}));
        return watchRun(context, run);
    }
    if (interruption.isRequested())
        std::cerr << "The run goes on. Come back with: ringmaster attach " << run.toStdString()
                  << std::endl;
    if (context.json())
        printJson({{"id", run.toStdString()}, {"damaged", damages}, {"warnings", warnings}});
    else
        std::cout << run.toStdString() << "\n"
                  << startedText(context.resolve(run.toStdString()).value_or(RunSummary()),
                                 context.engine().live(run))
                  << "; follow it with: ringmaster attach " << run.toStdString() << std::endl;
    return interruption.isRequested() ? interruption.exitCode() : 0;
}

Result<StoredCheckpoint> restoredCheckpoint(StoreReader& reader, const RunSummary& run,
                                            const RestoreOptions& options) {
    auto checkpoint = findCheckpoint(reader, run.id, options.checkpoint);
    if (!checkpoint)
        return failAs("restore " + run.id.toStdString(), checkpoint.error());
    return checkpoint;
}

/// The parent's spec with the overrides applied. If they do not set a name, one is made from them.
Result<CheckedSpec> branchSpec(CommandContext& context, const RunSummary& run,
                               const RestoreOptions& options) {
    RM_ASSIGN_OR_RETURN(const auto reader, context.reader());
    RM_ASSIGN_OR_RETURN(const auto checkpoint, restoredCheckpoint(*reader, run, options));
    RM_ASSIGN_OR_RETURN(const auto parent, specOfBranch(*reader, run.id, checkpoint));
    RunSpec spec = parent;
    spec.name = branchName(parent, spec, checkpoint.saved.step);
    const std::string unchanged = spec.name;
    RM_RETURN_IF_ERROR(applyOverrides(spec, options.overrides));
    if (spec.name == unchanged)
        spec.name = branchName(parent, spec, checkpoint.saved.step);
    return check(std::move(spec));
}

/// Nothing is wrong with it, but commands that change a run will ask which is meant.
void reportSameName(const CommandContext& context, const std::string& name) {
    const auto reader = context.reader();
    const std::string words = reader ? sameNameWords((*reader)->runs(), name) : std::string();
    if (!words.empty())
        std::cerr << "warning: " << oneLine(words) << std::endl;
}

int runBranch(CommandContext& context, const RunSummary& run, const RestoreOptions& options) {
    const auto spec = branchSpec(context, run, options);
    if (!spec)
        return printError(context, spec.error());
    const auto placements = placementsFor(context, run, options.nodes);
    if (!placements)
        return printError(context, placements.error());
    reportSameName(context, (*spec)->name);
    const QString started = newId((*spec)->name);
    const auto begin = [&] {
        return context.engine().ask(
            BranchRequest{run.id, QString::fromStdString(options.checkpoint), **spec, started,
                          ifTooLarge(options.anyway), *placements});
    };
    return reportStarted(context, started, {begin, namesOf(*placements)}, options.wait);
}

/// "Going on from step 400 sets aside steps 401 to 467 of gpt-1: they stay, and ..."
std::string goingOnText(const RunSummary& run, const StoredCheckpoint& from,
                        const Retirement& retired) {
    const std::string text = "Going on from step " + std::to_string(from.saved.step);
    if (retired.isEmpty())
        return text;
    return text + " sets aside " + retirementText(retired) + " of " + run.id.toStdString() +
           ": they stay, and can be restored or branched from.";
}

/// The step that the newest attempt began with, as the engine has found its checkpoint.
std::optional<int64_t> begunFrom(StoreReader& reader, const QString& run) {
    const auto attempts = reader.attempts(run);
    return attempts.empty() ? std::nullopt : std::optional(attempts.back().startStep);
}

/// Says from which checkpoint a run that is simply resumed goes on, and what that retires, once
/// that is known: the list of checkpoints may name one that is not on the nodes.
std::function<void()> startReport(CommandContext& context, const RunSummary& run) {
    const auto reader = context.reader();
    const auto newest = reader && hasEnded(run.state)
                            ? findCheckpoint(**reader, run.id, {})
                            : Result<StoredCheckpoint>(fail(ErrorCode::kNotFound, ""));
    if (!newest)
        return [] {}; // the engine says why it cannot go on
    return [&context, id = run.id, step = newest->saved.step,
            text = goingOnText(run, *newest, (*reader)->retirementBy(run.id, *newest))] {
        const auto now = context.reader();
        const auto begun = now ? begunFrom(**now, id) : std::nullopt;
        std::cerr << (begun && *begun != step ? "Going on from step " + std::to_string(*begun)
                                              : text)
                  << std::endl;
    };
}

/// Says what resuming from there retires. The person has to agree: on a terminal, or by --yes,
/// which a script has to give.
Result<void> agreeToRetire(CommandContext& context, const RunSummary& run,
                           const RestoreOptions& options) {
    if (!hasEnded(run.state))
        return {}; // the engine will refuse it
    RM_ASSIGN_OR_RETURN(const auto reader, context.reader());
    RM_ASSIGN_OR_RETURN(const auto checkpoint, restoredCheckpoint(*reader, run, options));
    const Retirement retired = reader->retirementBy(run.id, checkpoint);
    if (retired.isEmpty())
        return {};
    const std::string text = goingOnText(run, checkpoint, retired);
    if (options.yes) {
        std::cerr << text << std::endl;
        return {};
    }
    if (context.json() || !::isatty(STDIN_FILENO))
        return fail(ErrorCode::kInvalid, "restore " + run.id.toStdString() + ": " + text +
                                             " --yes agrees to that; nothing was changed");
    if (askYesNo(text + "\nGo on?"))
        return {};
    return fail(ErrorCode::kInvalid,
                "restore " + run.id.toStdString() + ": not agreed to; nothing was changed");
}

/// What to run, and where.
struct RunRequest {
    CheckedSpec spec;
    std::vector<Placement> placements;
    QString like = {}; ///< the id of RunOptions::like
};

/// What an earlier run did, with the overrides applied.
Result<RunRequest> requestLike(CommandContext& context, const RunOptions& options) {
    RM_ASSIGN_OR_RETURN(const auto run, context.resolve(options.like));
    RM_ASSIGN_OR_RETURN(const auto reader, context.reader());
    RM_ASSIGN_OR_RETURN(auto spec, parseRunSpec(reader->specToml(run.id), run.id.toStdString()));
    spec = withoutRungs(std::move(spec), reader->sweep(run.sweep));
    RM_RETURN_IF_ERROR(applyOverrides(spec, options.overrides));
    RM_ASSIGN_OR_RETURN(auto checked, check(std::move(spec)));
    RM_ASSIGN_OR_RETURN(auto placements, placementsFor(context, run, options.nodes));
    return RunRequest{std::move(checked), std::move(placements), run.id};
}

Result<RunRequest> requestOf(CommandContext& context, const RunOptions& options) {
    if (!options.like.empty())
        return requestLike(context, options);
    if (options.spec.empty())
        return fail(ErrorCode::kInvalid,
                    "run: name a SPEC, a recipe or a .toml file, or a run by --like");
    RM_ASSIGN_OR_RETURN(auto spec, loadSpecOrRecipe(options.spec, options.overrides));
    RM_ASSIGN_OR_RETURN(auto placements, namedPlacements(context.fleet().nodes(), options.nodes));
    return RunRequest{std::move(spec), std::move(placements)};
}

int checkLaunch(CommandContext& context, const RunSpec& spec,
                const std::vector<Placement>& placements) {
    const auto launch = checkLaunchAsking(context, spec, placements);
    if (!launch)
        return printError(context, launch.error());
    if (context.json()) {
        printJson(toJson(*launch));
    } else {
        for (const CheckRow& row : launch->rows)
            printRow(row);
        std::cout << std::flush;
    }
    return launch->isReady ? 0 : static_cast<int>(ExitCode::kFailed);
}

int printSbatch(CommandContext& context, const RunRequest& request) {
    const auto ask = [&] {
        return await(context.engine().ask(BatchScriptRequest{*request.spec, request.placements}));
    };
    auto script = ask();
    if (!script && script.error().code == ErrorCode::kDenied &&
        openAsking(context, namesOf(request.placements)))
        script = ask();
    if (!script)
        return printError(context, script.error());
    if (context.json())
        printJson({{"script", script->toStdString()}});
    else
        std::cout << script->toStdString() << std::flush;
    return 0;
}

/// Puts a run into the queue, or the runs of a sweep.
int enqueue(CommandContext& context, const RunOptions& options, const RunRequest& request,
            const SweepPlan& sweep, const std::vector<CheckedSpec>& specs) {
    auto place = placeInQueue(request.placements, options.take, options.anyway);
    if (!place)
        return printError(context, place.error());
    Queueing queueing{{}, sweep.axes.empty() ? QString() : newId(request.spec->name), options.wait};
    for (const CheckedSpec& spec : specs)
        queueing.runs.push_back(newId(spec->name));
    const auto done = await(context.engine().ask(
        EnqueueRequest{*request.spec, sweep, queueing.runs, std::move(*place), queueing.sweep}));
    return done ? startQueued(context, queueing) : printError(context, done.error());
}

/// What the runs of the sweep would be; nothing is begun.
int previewSweep(const CommandContext& context, const std::vector<CheckedSpec>& specs) {
    auto json = nlohmann::ordered_json::array();
    for (const CheckedSpec& spec : specs) {
        json.push_back({{"name", spec->name}, {"spec", toToml(*spec)}});
        if (!context.json())
            std::cout << oneLine(spec->name) << "\n";
    }
    if (context.json())
        printJson(json);
    else
        std::cout << specs.size() << (specs.size() == 1 ? " run" : " runs") << std::endl;
    return 0;
}

int runSweep(CommandContext& context, const SweepOptions& options) {
    const auto request = requestOf(context, options.run);
    if (!request)
        return printError(context, request.error());
    SweepPlan plan = options.plan;
    for (const std::string& text : options.axes) {
        const auto axis = parseSweepAxis(text);
        if (!axis)
            return printError(context, axis.error());
        plan.axes.push_back(*axis);
    }
    const auto specs = sweepSpecs(*request->spec, plan);
    if (!specs)
        return printError(context, specs.error());
    if (options.preview)
        return previewSweep(context, *specs);
    return enqueue(context, options.run, *request, plan, *specs);
}

int runRun(CommandContext& context, const RunOptions& options) {
    const auto request = requestOf(context, options);
    if (!request)
        return printError(context, request.error());
    const auto& [spec, placements, like] = *request;
    if (options.check)
        return checkLaunch(context, *spec, placements);
    if (options.printSbatch)
        return printSbatch(context, *request);
    if (options.queue)
        return enqueue(context, options, *request, {}, {request->spec});
    if (spec->checkpoint.onExisting != "resume") // which would go on as that run
        reportSameName(context, spec->name);
    const QString run = newId(spec->name);
    const auto begin = [&] {
        return context.engine().ask(LaunchRequest{*request->spec, request->placements, run,
                                                  ifTooLarge(options.anyway),
                                                  options.exact ? request->like : QString()});
    };
    return reportStarted(context, run, {begin, namesOf(placements)}, options.wait);
}

int runAttach(CommandContext& context, const std::string& id) {
    const auto run = context.resolve(id);
    return run ? watchRun(context, run->id) : printError(context, run.error());
}

nlohmann::ordered_json jsonOf(const std::vector<Placement>& placements) {
    auto nodes = nlohmann::ordered_json::array();
    for (const Placement& placement : placements)
        nodes.push_back({{"node", placement.node.toStdString()}, {"ranks", placement.ranks}});
    return nodes;
}

nlohmann::ordered_json jsonOf(const ResumePreflight& preflight) {
    return {{"step", preflight.step},
            {"checkpoint", preflight.checkpoint},
            {"taken_from", preflight.takenFrom},
            {"bytes_to_copy", preflight.bytesToMove},
            {"before", jsonOf(preflight.before)},
            {"after", jsonOf(preflight.after)},
            {"passed_over", preflight.passedOver},
            {"warnings", preflight.warnings}};
}

Result<ResumePreflight> lookAhead(CommandContext& context, const RunSummary& run,
                                  const std::string& checkpoint,
                                  const std::vector<Placement>& placements) {
    const auto ask = [&] {
        return await(context.engine().ask(
            ResumePreflightRequest{run.id, QString::fromStdString(checkpoint), placements}));
    };
    auto preflight = ask();
    const bool denied = !preflight && preflight.error().code == ErrorCode::kDenied;
    return denied && openAsking(context, namesOf(placements)) ? ask() : preflight;
}

int printPreview(CommandContext& context, const RunSummary& run, const std::string& checkpoint,
                 const std::vector<Placement>& placements) {
    const auto preflight = lookAhead(context, run, checkpoint, placements);
    if (!preflight)
        return printError(context, preflight.error());
    if (context.json()) {
        printJson(jsonOf(*preflight));
        return 0;
    }
    for (const QString& sentence : preflightWords(*preflight))
        std::cout << oneLine(sentence.toStdString()) << "\n";
    std::cout << std::flush;
    return 0;
}

/// Tells, for a run that goes on elsewhere, what changes, before anything does.
Result<void> reportChanges(CommandContext& context, const RunSummary& run,
                           const std::string& checkpoint,
                           const std::vector<Placement>& placements) {
    if (placements == placementsOf(run.nodes))
        return {};
    RM_ASSIGN_OR_RETURN(auto preflight, lookAhead(context, run, checkpoint, placements));
    preflight.warnings.clear(); // printWarnings() tells them
    for (const QString& sentence : preflightWords(preflight))
        std::cerr << oneLine(sentence.toStdString()) << std::endl;
    return {};
}

int queueResume(CommandContext& context, const QString& run,
                const std::vector<Placement>& placements, const ResumeOptions& options) {
    auto place = placeInQueue(placements, 0, options.anyway);
    const auto done = place.and_then([&](const QueuedPlace& where) {
        return await(context.engine().ask(EnqueueResumeRequest{run, where}));
    });
    return done ? startQueued(context, {{run}, {}, options.wait})
                : printError(context, done.error());
}

int runResume(CommandContext& context, const ResumeOptions& options) {
    const auto run = context.caughtUpOne(options.run);
    if (!run)
        return printError(context, run.error());
    const auto placements = placementsFor(context, *run, options.nodes);
    if (!placements)
        return printError(context, placements.error());
    if (options.preview)
        return printPreview(context, *run, {}, *placements);
    if (options.queue)
        return queueResume(context, run->id, *placements, options);
    if (const auto shown = reportChanges(context, *run, {}, *placements); !shown)
        return printError(context, shown.error());
    const auto report = startReport(context, *run);
    const auto begin = [&] {
        return context.engine().ask(
            ResumeRequest{run->id, {}, *placements, {}, ifTooLarge(options.anyway)});
    };
    return reportStarted(context, run->id, {begin, namesOf(*placements), kResumedWords, report},
                         options.wait);
}

int runRestore(CommandContext& context, const RestoreOptions& options) {
    const auto run = context.caughtUpOne(options.run);
    if (!run)
        return printError(context, run.error());
    if (options.asNew)
        return runBranch(context, *run, options);
    const auto placements = placementsFor(context, *run, options.nodes);
    if (!placements)
        return printError(context, placements.error());
    if (options.preview)
        return printPreview(context, *run, options.checkpoint, *placements);
    if (const auto shown = reportChanges(context, *run, options.checkpoint, *placements); !shown)
        return printError(context, shown.error());
    if (const auto agreed = agreeToRetire(context, *run, options); !agreed)
        return printError(context, agreed.error());
    const auto begin = [&] {
        return context.engine().ask(ResumeRequest{run->id,
                                                  QString::fromStdString(options.checkpoint),
                                                  *placements,
                                                  {},
                                                  ifTooLarge(options.anyway)});
    };
    return reportStarted(context, run->id, {begin, namesOf(*placements), kResumedWords},
                         options.wait);
}

constexpr const char* kNodeHelp = "NAME[:RANKS] or @GROUP[:RANKS], once per node; default those "
                                  "of the last attempt. The checkpoint is copied to "
                                  "the first of them if it is not there";
constexpr const char* kPreviewHelp = "Only say what would change, and what a launch would warn of";
constexpr const char* kWaitHelp = "Follow the run until it ends";
constexpr const char* kAnywayHelp = "Launch even if a node seems to have too little memory";
constexpr const char* kQueueHelp = "Wait in the queue until the nodes are free";

/// What `run` and `sweep` have alike. Returns the option --take.
CLI::Option* addLaunch(CLI::App& command, RunOptions& o) {
    auto* spec = command.add_option("SPEC", o.spec, "A run spec (.toml) or the name of a recipe");
    command.add_option("--like", o.like, "Use the spec and the nodes of this run instead")
        ->excludes(spec);
    command
        .add_option("--node", o.nodes,
                    "NAME[:RANKS] or @GROUP[:RANKS], once per node; default this-computer, or "
                    "--like's")
        ->allow_extra_args(false);
    command.add_option("--set", o.overrides, "section.key=value, overrides the spec")
        ->allow_extra_args(false);
    command.add_option_function<std::string>(
        "--name", [&o](const std::string& name) { o.overrides.push_back("name=" + name); },
        "What the run is called; the same as --set name=NAME");
    command.add_flag("--wait", o.wait, kWaitHelp);
    command.add_flag("--anyway", o.anyway, kAnywayHelp);
    return command
        .add_option("--take", o.take, "Train on this many of the nodes, those that are free first")
        ->check(wholeNumber("nodes", 1, 10'000));
}

void addSweep(CommandLine& line) {
    auto& o = line.keep<SweepOptions>();
    auto* sweep = line.add("sweep", "Launch runs that differ in some settings, as nodes are free",
                           [&o](CommandContext& context) { return runSweep(context, o); });
    line.needNodes(*sweep);
    addLaunch(*sweep, o.run);
    sweep
        ->add_option("--vary", o.axes,
                     "KEY=VALUE,VALUE or a range, KEY=FROM..TO/COUNT; once per setting, such as "
                     "--vary lr=1e-4..1e-2/5 --vary batch_size=8,16")
        ->required()
        ->allow_extra_args(false);
    sweep->add_option("--random", o.plan.samples, "Try this many random choices, not all")
        ->check(wholeNumber("choices", 1, static_cast<int64_t>(kMostSweepRuns)));
    sweep->add_option("--seed", o.plan.seed, "Of the random choices; default 1");
    auto* halving =
        sweep
            ->add_option("--halving", o.plan.firstRung,
                         "Successive halving: all runs pause after this many steps, and the best "
                         "of them go on to eta times as many, and so on")
            ->check(wholeNumber("steps", 1, kMostRungSteps));
    sweep->add_option("--eta", o.plan.eta, "Of those that pause 1/eta go on; default 2")
        ->needs(halving)
        ->check(wholeNumber("eta", 2, 100));
    sweep->add_flag("--preview", o.preview, "Only list the runs");
}

void addRun(CommandLine& line) {
    auto& o = line.keep<RunOptions>();
    auto* run = line.add("run", "Launch a run",
                         [&o](CommandContext& context) { return runRun(context, o); });
    line.needNodes(*run);
    auto* take = addLaunch(*run, o);
    auto* queue = run->add_flag("--queue", o.queue, kQueueHelp);
    take->needs(queue);
    run->add_flag("--exact", o.exact,
                  "With --like: only if its trainer and its data are what they were then")
        ->needs(run->get_option("--like"))
        ->excludes(queue);
    auto* justCheck =
        run->add_flag("--check", o.check,
                      "Launch nothing; say what the nodes say of it: device, disks, checkpoints, "
                      "data, who is there, address");
    run->add_flag("--print-sbatch", o.printSbatch,
                  "Launch nothing; print the script that a Slurm cluster would get. Lines of your "
                  "own come from --set 'launch.sbatch=[\"--account=NAME\"]', "
                  "'launch.srun=[\"--mpi=none\"]' and "
                  "'launch.job_setup=[\"module load NAME\"]'")
        ->excludes(justCheck);
    run->footer("What a run does by itself, --set 'rules=[\"RULE\", ...]', where RULE is\n" +
                ruleHelp());
}

void addResume(CommandLine& line) {
    auto& o = line.keep<ResumeOptions>();
    auto* resume = line.addOfRun("resume", "Go on from the newest checkpoint", o.run,
                                 [&o](CommandContext& context) { return runResume(context, o); });
    line.needNodes(*resume);
    resume->add_option("--node", o.nodes, kNodeHelp)->allow_extra_args(false);
    resume->add_flag("--preview", o.preview, kPreviewHelp);
    resume->add_flag("--wait", o.wait, kWaitHelp);
    resume->add_flag("--anyway", o.anyway, kAnywayHelp);
    resume->add_flag("--queue", o.queue, kQueueHelp);
}

void addRestore(CommandLine& line) {
    auto& o = line.keep<RestoreOptions>();
    auto* restore = line.addOfRun("restore", "Go on from an earlier checkpoint", o.run,
                                  [&o](CommandContext& context) { return runRestore(context, o); });
    line.needNodes(*restore);
    restore->add_option("CHECKPOINT", o.checkpoint, kCheckpointHelp)->required();
    auto* asNew =
        restore->add_flag("--as-new", o.asNew, "Branch: a new run that starts from there");
    restore->add_option("--set", o.overrides, "section.key=value, overrides the branch's spec")
        ->allow_extra_args(false)
        ->needs(asNew);
    restore->add_option("--node", o.nodes, kNodeHelp)->allow_extra_args(false);
    restore->add_flag("--preview", o.preview, kPreviewHelp)->excludes(asNew);
    restore->add_flag("--yes", o.yes,
                      "Agree that later steps and checkpoints are set aside; a script has to");
    restore->add_flag("--wait", o.wait, kWaitHelp);
    restore->add_flag("--anyway", o.anyway, kAnywayHelp);
}

void addAttach(CommandLine& line) {
    struct Options {
        std::string run;
        bool wait = false;
    };
    auto& o = line.keep<Options>();
    auto* attach =
        line.addOfRun("attach", "Follow a run until it ends", o.run,
                      [&o](CommandContext& context) { return runAttach(context, o.run); });
    attach->add_flag("--wait", o.wait, "No effect: attach always waits");
}

} // namespace

void addLaunching(CommandLine& line) {
    addRun(line);
    addSweep(line);
    addResume(line);
    addRestore(line);
    addAttach(line);
}

} // namespace rm::cli
