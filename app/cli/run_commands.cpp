// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/run_watch.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/recipes.h"
#include "app/core/run/branch_name.h"
#include "app/core/run/checkpoint_words.h"
#include "app/core/run/procedures.h"

#include <QTimer>

#include <unistd.h>

#include <functional>
#include <iostream>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookForInterruption = 50ms;
constexpr auto kFirstWords = 10s; ///< for the ranks to say that they train, or that they cannot
constexpr auto kFirstMoments = 1s;

Result<Placement> parsePlacement(const std::string& text) {
    const size_t colon = text.find(':');
    Placement placement{QString::fromStdString(text.substr(0, colon)), 0};
    if (colon == std::string::npos)
        return placement;
    bool isNumber = false;
    placement.ranks = QString::fromStdString(text.substr(colon + 1)).toInt(&isNumber);
    if (!isNumber || placement.ranks < 1)
        return fail(ErrorCode::kInvalid,
                    "place ranks: \"" + text + "\" must read NAME or NAME:RANKS with RANKS >= 1");
    return placement;
}

Result<std::vector<Placement>> parsePlacements(const std::vector<std::string>& nodes) {
    if (nodes.empty())
        return std::vector<Placement>{{kLocalNodeName, 0}};
    std::vector<Placement> placements;
    for (const std::string& text : nodes) {
        const auto placement = parsePlacement(text);
        if (!placement)
            return tl::unexpected<Error>(placement.error());
        placements.push_back(*placement);
    }
    return placements;
}

QString newId(const std::string& name) {
    return QString::fromStdString(newRunId(name));
}

/// The stages of a launch, one over the other; what was sent stays to be read.
class LaunchLines {
public:
    ~LaunchLines() { show({}); }

    void show(const Progress& progress) {
        const auto now = std::chrono::steady_clock::now();
        if (progress.stage != m_last.stage) {
            const std::chrono::duration<double> took = now - m_began;
            if (m_last.total > 0 && m_last.done >= m_last.total)
                m_status.print(sentText(m_last, took.count()));
            m_began = now;
        }
        m_last = progress;
        m_status.update(progressText(progress), nodeProgressTexts(progress));
    }

private:
    StatusLine m_status;
    Progress m_last;
    std::chrono::steady_clock::time_point m_began;
};

/// Shows the stages of a launch until it is over, and cancels it when that is asked for.
Result<QString> awaitLaunch(Session& session, const QString& run, QFuture<Result<QString>> started,
                            const Interruption& interruption) {
    LaunchLines lines;
    QObject context;
    bool isTooLarge = false;
    QObject::connect(&session.engine(), &Engine::tooLarge, &context,
                     [&](const QString& which) { isTooLarge = isTooLarge || which == run; });
    QObject::connect(&session.engine(), &Engine::progressed, &context,
                     [&](const QString& which, const Progress& progress) {
                         if (which == run)
                             lines.show(progress);
                     });
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &context, [&] {
        if (!interruption.isAsked())
            return;
        look.stop();
        session.engine().command(run, CommandKind::kKill);
    });
    look.start(kLookForInterruption);
    auto answer = await(started);
    if (!answer && isTooLarge)
        answer.error().message += "; --anyway launches it all the same";
    return answer;
}

IfTooLarge ifTooLarge(bool anyway) {
    return anyway ? IfTooLarge::kLaunch : IfTooLarge::kRefuse;
}

/// A launch, and the nodes that it needs.
struct Start {
    std::function<QFuture<Result<QString>>()> begin;
    std::vector<std::string> nodes;
};

/// A node that does not let us in has refused before anything was begun, so that, once a person
/// gave what it asks for, the launch can simply begin again.
Result<QString> launchAsking(Session& session, const QString& run, const Start& start,
                             const Interruption& interruption) {
    auto id = awaitLaunch(session, run, start.begin(), interruption);
    const bool denied = !id && id.error().code == ErrorCode::kDenied;
    if (denied && !interruption.isAsked() && openAsking(session, start.nodes))
        id = awaitLaunch(session, run, start.begin(), interruption);
    return id;
}

/// Whether the ranks that were started live through their first moments; why not, if they do not.
std::optional<Error> earlyEnd(Session& session, const QString& run) {
    bool ended = false;
    QObject context;
    QObject::connect(&session.engine(), &Engine::attemptEnded, &context,
                     [&](const QString& which) { ended = ended || which == run; });
    const auto stored = [&] { return session.resolve(run.toStdString()); };
    const auto trains = [&] {
        const auto now = stored();
        return now && now->state == RunStateKind::kRunning;
    };
    awaitUntil([&] { return ended || trains(); }, kFirstWords);
    awaitUntil([&] { return ended; }, kFirstMoments);
    const auto now = stored();
    if (!now || now->state != RunStateKind::kFailed)
        return std::nullopt;
    return Error{ErrorCode::kInternal,
                 run.toStdString() + " failed: " + now->message.toStdString()};
}

std::string howItGoes(const Session& session, const std::string& id) {
    const auto run = session.resolve(id);
    if (run && run->state == RunStateKind::kRunning)
        return "It trains on its nodes now";
    if (run && run->state != RunStateKind::kPreparing)
        return std::string("It is ") + runStateName(*run) + " already";
    return "Its ranks are started, but do not train yet";
}

/// Shows a launch while it goes on, then the run's id. Ctrl+C cancels it.
int reportStarted(Session& session, const QString& run, const Start& start, bool wait) {
    bool isAsked = false;
    {
        const Interruption interruption;
        const Result<QString> id = launchAsking(session, run, start, interruption);
        isAsked = interruption.isAsked();
        if (!id && isAsked) {
            printError(session, {ErrorCode::kUnavailable, "launch " + run.toStdString() +
                                                              ": cancelled; nothing of it runs"});
            return interruption.exitCode();
        }
        if (!id)
            return printError(session, id.error());
    }
    // Asked too late, it ends as any run that is killed.
    if (wait || isAsked)
        return watchRun(session, run);
    if (const auto end = earlyEnd(session, run)) {
        printError(session, *end);
        return static_cast<int>(ExitCode::kRunFailed);
    }
    if (session.json())
        printJson({{"id", run.toStdString()}});
    else
        std::cout << run.toStdString() << "\n"
                  << howItGoes(session, run.toStdString()) << "; follow it with: ringmaster attach "
                  << run.toStdString() << std::endl;
    return 0;
}

std::vector<std::string> nodesOf(const RunSummary& run) {
    std::vector<std::string> names;
    for (const RunNode& node : run.nodes)
        names.push_back(node.nodeName);
    return names;
}

Result<StoredCheckpoint> restoredCheckpoint(StoreReader& reader, const RunSummary& run,
                                            const RestoreOptions& options) {
    auto checkpoint = findCheckpoint(reader, run.id, options.checkpoint);
    if (!checkpoint)
        return failAs("restore " + run.id.toStdString(), checkpoint.error());
    return checkpoint;
}

/// The parent's spec with what is asked for over it, and, unless that names it, a name made of
/// that.
Result<CheckedSpec> branchSpec(Session& session, const RunSummary& run,
                               const RestoreOptions& options) {
    const auto reader = session.reader();
    if (!reader)
        return tl::unexpected<Error>(reader.error());
    const auto checkpoint = restoredCheckpoint(**reader, run, options);
    if (!checkpoint)
        return tl::unexpected<Error>(checkpoint.error());
    const auto parent = parseRunSpec((*reader)->specToml(run.id), run.id.toStdString());
    if (!parent)
        return tl::unexpected<Error>(parent.error());
    RunSpec spec = *parent;
    spec.name = branchName(*parent, spec, checkpoint->saved.step);
    const std::string unchanged = spec.name;
    if (const auto applied = applyOverrides(spec, options.overrides); !applied)
        return tl::unexpected<Error>(applied.error());
    if (spec.name == unchanged)
        spec.name = branchName(*parent, spec, checkpoint->saved.step);
    return check(std::move(spec));
}

int runBranch(Session& session, const RunSummary& run, const RestoreOptions& options) {
    const auto spec = branchSpec(session, run, options);
    if (!spec)
        return printError(session, spec.error());
    const QString started = newId((*spec)->name);
    const auto begin = [&] {
        return session.engine().branch(run.id, QString::fromStdString(options.checkpoint), *spec,
                                       started, ifTooLarge(options.anyway));
    };
    return reportStarted(session, started, {begin, nodesOf(run)}, options.wait);
}

/// Says what going on from there retires. On a terminal a person is asked, unless --yes was given;
/// a script has named the checkpoint, which is enough.
Result<void> agreeToRetire(Session& session, const RunSummary& run, const RestoreOptions& options) {
    if (!hasEnded(run.state))
        return {}; // it is refused
    const auto reader = session.reader();
    if (!reader)
        return tl::unexpected<Error>(reader.error());
    const auto checkpoint = restoredCheckpoint(**reader, run, options);
    if (!checkpoint)
        return tl::unexpected<Error>(checkpoint.error());
    const Retirement retired = (*reader)->retirementBy(run.id, *checkpoint);
    if (retired.isEmpty())
        return {};
    const std::string text =
        "Going on from step " + std::to_string(checkpoint->saved.step) + " retires " +
        retirementText(retired) + " of " + run.id.toStdString() +
        ": they stay, as an abandoned line, and can be restored or branched from.";
    if (options.yes || session.json() || !::isatty(STDIN_FILENO)) {
        std::cerr << text << std::endl;
        return {};
    }
    if (askYesNo(text + "\nGo on?"))
        return {};
    return fail(ErrorCode::kInvalid,
                "restore " + run.id.toStdString() + ": not agreed to; nothing was changed");
}

/// What to run, and where.
struct Order {
    CheckedSpec spec;
    std::vector<Placement> placements;
};

/// As an earlier run, with what is asked for over it.
Result<Order> orderLike(Session& session, const RunOptions& options) {
    const auto run = session.resolve(options.like);
    if (!run)
        return tl::unexpected<Error>(run.error());
    const auto reader = session.reader();
    if (!reader)
        return tl::unexpected<Error>(reader.error());
    auto spec = parseRunSpec((*reader)->specToml(run->id), run->id.toStdString());
    if (!spec)
        return tl::unexpected<Error>(spec.error());
    if (const auto applied = applyOverrides(*spec, options.overrides); !applied)
        return tl::unexpected<Error>(applied.error());
    auto checked = check(std::move(*spec));
    if (!checked)
        return tl::unexpected<Error>(checked.error());
    auto placements = options.nodes.empty() ? placementsOf(*run) : parsePlacements(options.nodes);
    if (!placements)
        return tl::unexpected<Error>(placements.error());
    return Order{std::move(*checked), std::move(*placements)};
}

Result<Order> orderOf(Session& session, const RunOptions& options) {
    if (!options.like.empty())
        return orderLike(session, options);
    if (options.spec.empty())
        return fail(ErrorCode::kInvalid,
                    "run: name a SPEC, a recipe or a .toml file, or a run by --like");
    auto spec = loadSpecOrRecipe(options.spec, options.overrides);
    if (!spec)
        return tl::unexpected<Error>(spec.error());
    auto placements = parsePlacements(options.nodes);
    if (!placements)
        return tl::unexpected<Error>(placements.error());
    return Order{std::move(*spec), std::move(*placements)};
}

} // namespace

int runRun(Session& session, const RunOptions& options) {
    const auto order = orderOf(session, options);
    if (!order)
        return printError(session, order.error());
    const auto& [spec, placements] = *order;
    const QString run = newId(spec->name);
    std::vector<std::string> nodes;
    for (const Placement& placement : placements)
        nodes.push_back(placement.node.toStdString());
    const auto begin = [&] {
        return session.engine().launch(order->spec, order->placements, run,
                                       ifTooLarge(options.anyway));
    };
    return reportStarted(session, run, {begin, nodes}, options.wait);
}

int runAttach(Session& session, const std::string& id) {
    const auto run = session.resolve(id);
    return run ? watchRun(session, run->id) : printError(session, run.error());
}

int runResume(Session& session, const std::string& id, bool wait) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    const auto begin = [&] { return session.engine().resume(run->id); };
    return reportStarted(session, run->id, {begin, nodesOf(*run)}, wait);
}

int runRestore(Session& session, const RestoreOptions& options) {
    const auto run = session.caughtUp(options.run);
    if (!run)
        return printError(session, run.error());
    if (options.asNew)
        return runBranch(session, *run, options);
    if (const auto agreed = agreeToRetire(session, *run, options); !agreed)
        return printError(session, agreed.error());
    const auto begin = [&] {
        return session.engine().resume(run->id, QString::fromStdString(options.checkpoint));
    };
    return reportStarted(session, run->id, {begin, nodesOf(*run)}, options.wait);
}

int runRemoveCheckpoint(Session& session, const std::string& id, const std::string& checkpoint) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    const auto remove = [&] {
        return await(
            session.engine().removeCheckpoint(run->id, QString::fromStdString(checkpoint)));
    };
    auto removed = remove();
    const bool denied = !removed && removed.error().code == ErrorCode::kDenied;
    if (denied && openAsking(session, {nodesOf(*run).front()}))
        removed = remove();
    if (!removed)
        return printError(session, removed.error());
    if (session.json())
        printJson({{"run", run->id.toStdString()}, {"removed", checkpoint}});
    else
        std::cout << run->id.toStdString() << ": checkpoint " << oneLine(checkpoint)
                  << " is removed" << std::endl;
    return 0;
}

} // namespace rm::cli
