// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/control.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/runs/standstill.h"
#include "shared/io/clock.h"
#include "shared/io/json.h"
#include "shared/spec/live_settings.h"
#include "shared/wire/command_kind.h"

#include <QScopeGuard>

#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

namespace rm::cli {

namespace {

constexpr int kSignalled = 128; ///< exit codes above: by a signal, see Interruption

using namespace std::chrono_literals;

/// A pause or stop goes on after its answer: the ranks still have to end and free the devices.
constexpr auto kEndDeadline = 5min;
constexpr auto kAnswerDeadline = 5min;
/// For an end that the nodes know of to reach the database.
constexpr std::chrono::milliseconds kSettleDeadline = 3s;
/// The same after a refusal, as the run may well live on.
constexpr std::chrono::milliseconds kRefusedDeadline = 500ms;
constexpr int64_t kPatienceNs = 3'000'000'000; ///< with a node that cannot be reached

/// Why the first node, which has rank 0 and receives the commands, cannot take one. nullopt: it
/// can.
std::optional<Error> cutOff(const LiveState& live) {
    if (live.nodes.empty())
        return std::nullopt;
    const LiveState::NodeLink& node = live.nodes.front();
    static const std::string kKept =
        "; the command is kept for 1 h and sent when it can be, by the "
        "next Ringmaster that looks at the run (`ringmaster withdraw` "
        "takes it back)";
    if (node.link == LiveState::Link::kRefused)
        return Error{ErrorCode::kDenied, node.why.toStdString() + kKept};
    if (!isRetried(node.link) || wallNowNs() - node.lostSinceNs < kPatienceNs)
        return std::nullopt;
    return Error{ErrorCode::kUnavailable,
                 node.node + " cannot be reached: " + node.why.toStdString() + kKept};
}

/// Tells a person who waits for a command why it takes long.
class DelayLine {
public:
    DelayLine(CommandContext& context, QString run, CommandKind kind)
        : m_session(context)
        , m_run(std::move(run))
        , m_kind(kind) {}

    void refresh() {
        const LiveState live = m_session.engine().live(m_run);
        const std::string delay = commandDelay(live, monotonicNowNs(), wallNowNs(), m_kind);
        if (delay.empty())
            return;
        const DelayAdvice next = delayAdvice(live, wallNowNs());
        const std::string advice =
            next.words + (next.isKill ? " (ringmaster kill " + m_run.toStdString() + ")" : "");
        if (m_kind != CommandKind::kKill && m_said.insert(advice).second)
            m_status.print(advice);
        m_status.update(oneLine(delay));
    }

private:
    CommandContext& m_session;
    QString m_run;
    CommandKind m_kind;
    StatusLine m_status;
    std::set<std::string> m_said;
};

Result<CommandState> sendAndWait(CommandContext& context, const QString& run, CommandKind kind,
                                 std::vector<std::pair<std::string, std::string>> args,
                                 DelayLine& delay, const Interruption& interruption) {
    auto answer = context.engine().ask(CommandRequest{run, kind, std::move(args)});
    const auto problem = [&] { return cutOff(context.engine().live(run)); };
    const auto wait = [&] {
        awaitUntil(
            [&] {
                delay.refresh();
                return answer.isFinished() || problem() || interruption.isRequested();
            },
            kAnswerDeadline);
        return answer.isFinished();
    };
    if (!wait() && !interruption.isRequested() && problem() &&
        problem()->code == ErrorCode::kDenied &&
        openAsking(context, {context.engine().live(run).nodes.front().node}))
        wait();
    if (answer.isFinished())
        return answer.result();
    const auto full = journalProblems(context.engine().live(run));
    const std::string who = full.empty() ? whoIsBehind(context.engine().live(run)) : full.front();
    return failAs(std::string(commandKindName(kind)) + " " + run.toStdString(),
                  problem().value_or(Error{ErrorCode::kUnavailable,
                                           "no answer in 5 min" + (who.empty() ? "" : ": " + who) +
                                               "; it takes effect when every rank comes to it"}));
}

/// unsavedWords() of a pause, behind what is said of it.
std::string unsavedText(const CommandContext& context, const QString& run, CommandKind kind) {
    const auto reader = context.reader();
    const auto now = context.resolve(run.toStdString());
    if (kind != CommandKind::kPause || !reader || !now)
        return {};
    const std::string words = unsavedWords(*now, (*reader)->checkpoints(run));
    return words.empty() ? words : "; " + words;
}

void printState(const CommandContext& context, const QString& run, CommandKind kind,
                const CommandState& state) {
    if (context.json()) {
        printJson({{"run", run.toStdString()},
                   {"command", commandKindName(kind)},
                   {"applied", true},
                   {"step", state.step},
                   {"message", state.message}});
        return;
    }
    std::cout << run.toStdString() << ": ";
    if (kind == CommandKind::kContinue && !state.message.empty())
        std::cout << oneLine(state.message); // nothing took effect
    else if (state.step >= 0)
        std::cout << commandKindName(kind) << " took effect on every rank after step " << state.step
                  << (state.message.empty() ? "" : " (" + oneLine(state.message) + ")");
    else
        std::cout << oneLine(state.message) << unsavedText(context, run, kind);
    std::cout << std::endl;
}

/// Another command may already have done what this one asks for.
bool isDoneByAnother(const CommandContext& context, const QString& run, CommandKind kind) {
    const auto isSo = [&] {
        const auto now = context.resolve(run.toStdString());
        return now && isAlready(kind, now->state);
    };
    return rowOf(kind).endsAttempt && awaitUntil(isSo, kSettleDeadline);
}

/// No attempt ends when a launch is cancelled, here or in another process, which may be gone by
/// now.
bool isLaunchOver(CommandContext& context, const QString& run) {
    if (context.engine().live(run).launching)
        return false;
    const auto now = context.resolve(run.toStdString());
    return now && hasEnded(now->state);
}

/// The nodes that nothing is heard of, where all others have ended. Empty: there are none, or
/// another node is still awaited.
std::vector<LiveState::NodeLink> unseenNodes(const LiveState& live) {
    constexpr int64_t kLongLostNs = 30'000'000'000; // as a link that is lost often comes back soon
    std::vector<LiveState::NodeLink> unseen;
    for (const LiveState::NodeLink& node : live.nodes) {
        const bool isLongLost =
            isRetried(node.link) && wallNowNs() - node.lostSinceNs > kLongLostNs;
        if (node.link == LiveState::Link::kRefused || isLongLost)
            unseen.push_back(node);
        else if (node.link != LiveState::Link::kNone)
            return {};
    }
    return unseen.size() < live.nodes.size() ? unseen : std::vector<LiveState::NodeLink>();
}

/// Which read-only disk takes no end of ranks that are gone, so that an agent waits there; empty:
/// none does, or ranks live.
std::string unwrittenEnd(const LiveState& live) {
    for (const LiveState::NodeLink& node : live.nodes) {
        if (node.link == LiveState::Link::kNone)
            continue;
        const auto lives = [](const RankState& rank) { return rank.pid != 0; };
        if (!node.state || !node.state->isDiskReadOnly() ||
            std::ranges::any_of(node.state->ranks, lives))
            return {};
    }
    const auto full = journalProblems(live);
    return full.empty() ? std::string() : full.front();
}

/// Why it is not known whether the run has ended, though it was told to end.
std::string whyNotOver(const LiveState& live, const QString& run, CommandKind kind,
                       const CommandState& state) {
    if (const std::string why = whyUnstored(live); !why.empty())
        return (state.message.empty() ? "it was told" : state.message) +
               ", but its end cannot be read here: " + why;
    if (const std::string why = unwrittenEnd(live); !why.empty())
        return "its ranks have ended, which is not written down yet: " + why;
    const auto unseen = unseenNodes(live);
    if (unseen.empty()) {
        const auto full = journalProblems(live);
        return "the ranks have not ended yet" + (full.empty() ? "" : ": " + full.front());
    }
    const bool isKill = kind == CommandKind::kKill; // which each agent does for its own ranks
    if (isKill && state.message.find(unseen.front().node) != std::string::npos)
        return state.message;
    std::string words;
    for (const LiveState::NodeLink& node : unseen)
        words += (words.empty() ? "" : "; ") + node.node + ": " + node.why.toStdString();
    const bool hasStep = !isKill && state.step >= 0; // or its ranks were ended otherwise
    return (hasStep ? "done on every rank after step " + std::to_string(state.step)
                    : state.message) +
           ", and all other nodes have ended; nothing is heard of " + words +
           "; its end is read once it can be reached, or declare it lost: ringmaster " +
           "declare-lost " + run.toStdString() + ' ' + unseen.front().node;
}

/// Why the run has another end than the command is for, which another command or the ranks
/// themselves brought about first; empty: it has that end, or none yet.
std::string whyOtherEnd(const CommandContext& context, const QString& run, CommandKind kind) {
    const auto now = context.resolve(run.toStdString());
    const bool isEnd = now && hasEnded(now->state);
    if (!isEnd || (isAlready(kind, now->state) && (kind == CommandKind::kKill || !wasKilled(*now))))
        return {};
    const std::string why = now->message.isEmpty() ? "" : " (" + now->message.toStdString() + ")";
    return std::string("it is ") + runStateName(*now) + " at step " + std::to_string(now->step) +
           why + ": that came first";
}

/// What Ctrl+C leaves behind while a command is under way.
int leaveCommand(const CommandContext& context, const QString& run, CommandKind kind,
                 bool isAnswered, int exitCode) {
    const std::string id = run.toStdString();
    const std::string what = std::string(commandKindName(kind)) + " " + id;
    std::cerr << "ringmaster: " << what
              << (isAnswered ? ": it was obeyed; `ringmaster show " + id + "` says how it ends"
                             : ": it is kept, and takes effect once the ranks come to it; "
                               "`ringmaster withdraw " +
                                   id + "` takes it back if no rank has it yet")
              << std::endl;
    if (context.json())
        printJson({{"run", id},
                   {"command", commandKindName(kind)},
                   {"applied", isAnswered},
                   {"interrupted", true}});
    return exitCode;
}

} // namespace

int runControl(CommandContext& context, const std::string& id, CommandKind kind,
               std::vector<std::pair<std::string, std::string>> args, CommandState* answer) {
    const auto run = context.caughtUpOne(id, true);
    if (!run)
        return printError(context, run.error());
    bool ended = isAlready(kind, run->state);
    // Else a launch is cancelled, or what lives on a node that was declared lost is ended.
    const bool isOfRanks =
        !hasEnded(run->state) && !context.engine().live(run->id).launching.has_value();
    QObject receiver; // the engine outlives what is captured
    QObject::connect(&context.engine(), &Engine::attemptEnded, &receiver,
                     [&](const QString& which) { ended = ended || which == run->id; });
    std::optional<DelayLine> delay(std::in_place, context, run->id, kind);
    const Interruption interruption;
    auto state = sendAndWait(context, run->id, kind, std::move(args), *delay, interruption);
    if (interruption.isRequested() && !state)
        return leaveCommand(context, run->id, kind, false, interruption.exitCode());
    const auto isRefused = [&] { return !state || state->progress == CommandProgress::kRefused; };
    if (isRefused() && isDoneByAnother(context, run->id, kind)) {
        state = await(context.engine().ask(CommandRequest{run->id, kind}));
        ended = true;
    }
    const auto isOver = [&] {
        delay->refresh();
        return ended || (state->step < 0 && isLaunchOver(context, run->id));
    };
    const auto live = [&] { return context.engine().live(run->id); };
    const auto isKnown = [&] {
        return interruption.isRequested() || isOver() || !unseenNodes(live()).empty() ||
               !whyUnstored(live()).empty() || !unwrittenEnd(live()).empty();
    };
    if (!isRefused() && rowOf(kind).endsAttempt)
        awaitUntil(isKnown, kEndDeadline);
    const bool isDone = isRefused() || !rowOf(kind).endsAttempt || isOver();
    // Whether it was refused or not, the run may have come to another end before.
    const auto otherEnd = [&]() -> std::string {
        if (!rowOf(kind).endsAttempt || !isOfRanks || !isDone)
            return {};
        const auto isStored = [&] {
            const auto now = context.resolve(run->id.toStdString());
            return !now || hasEnded(now->state);
        };
        awaitUntil(isStored, isRefused() ? kRefusedDeadline : kSettleDeadline);
        return whyOtherEnd(context, run->id, kind);
    };
    delay.reset();
    if (interruption.isRequested() && !isDone && !isRefused())
        return leaveCommand(context, run->id, kind, true, interruption.exitCode());
    if (const std::string why = otherEnd(); !why.empty())
        return printError(context, {ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " +
                                                             run->id.toStdString() + ": " + why});
    if (!state)
        return printError(context, state.error());
    if (state->progress == CommandProgress::kRefused)
        return printError(context,
                          {ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " +
                                                    run->id.toStdString() + ": " + state->message});
    if (!isDone)
        return printError(context,
                          {ErrorCode::kUnavailable, std::string(commandKindName(kind)) + " " +
                                                        run->id.toStdString() + ": " +
                                                        whyNotOver(live(), run->id, kind, *state)});
    if (answer)
        *answer = *state;
    else
        printState(context, run->id, kind, *state);
    return 0;
}

namespace {

/// What `act` answers in JSON, in place of standard output.
Json answerOf(const std::function<void()>& act) {
    std::ostringstream answer;
    std::streambuf* before = std::cout.rdbuf(answer.rdbuf());
    const auto restore = qScopeGuard([before] { std::cout.rdbuf(before); });
    act();
    Json json = Json::parse(answer.str(), nullptr, false);
    return json.is_discarded() ? Json() : json; // nothing is answered once a read has failed
}

/// One run after another, also behind one that refuses. The answer in JSON is that of the run, of
/// several an array. The code is that of the first that refused.
int runControls(CommandContext& context, const std::vector<std::string>& runs, CommandKind kind) {
    if (runs.size() == 1)
        return runControl(context, runs.front(), kind, {});
    int code = 0;
    Json answers = Json::array();
    for (const std::string& run : runs) {
        int done = 0;
        const auto act = [&] { done = runControl(context, run, kind, {}); };
        if (context.json()) {
            Json answer = answerOf(act);
            if (answer.is_object() && answer.contains("error"))
                answer = {{"run", run}, {"error", answer["error"]["message"]}};
            answers.push_back(std::move(answer));
        } else {
            act();
        }
        code = code != 0 ? code : done;
        if (done > kSignalled)
            break;
    }
    if (context.json())
        printJson(answers);
    return code;
}

int runDeclareLost(CommandContext& context, const std::string& id, const std::string& node) {
    const auto run = context.resolveOne(id, true);
    if (!run)
        return printError(context, run.error());
    const auto declared =
        await(context.engine().ask(DeclareLostRequest{run->id, QString::fromStdString(node)}));
    if (!declared)
        return printError(context, declared.error());
    if (context.json())
        printJson({{"run", run->id.toStdString()}, {"lost", node}});
    else
        std::cout << node << " is declared lost; the ranks of " << run->id.toStdString()
                  << " elsewhere are being killed" << std::endl;
    return 0;
}

/// The arguments of a command of ranks.
struct ControlOptions {
    std::string run;
    std::vector<std::string> runs; ///< of a command that ends attempts, in place of `run`
    int64_t steps = 1;             ///< step
    std::string setting;           ///< set: KEY=VALUE
};

std::vector<std::pair<std::string, std::string>> argumentsOf(CommandKind kind,
                                                             const ControlOptions& options) {
    if (kind == CommandKind::kStep)
        return {{"steps", std::to_string(options.steps)}};
    if (kind != CommandKind::kSet)
        return {};
    const size_t equals = options.setting.find('=');
    return {{options.setting.substr(0, equals), options.setting.substr(equals + 1)}};
}

void addSetting(CLI::App& set, ControlOptions& options) {
    std::string keys;
    for (const std::string_view key : liveKeys())
        keys.append(keys.empty() ? "one of " : ", ").append(key);
    set.add_option("KEY=VALUE", options.setting, keys)
        ->required()
        ->check([](const std::string& text) {
            return text.find('=') == std::string::npos ? "write KEY=VALUE" : "";
        });
}

void addDeclareLost(CommandLine& line) {
    struct Options {
        std::string run, node;
    };
    auto& o = line.keep<Options>();
    auto* lost = line.addOfRun(
        "declare-lost", "End a run without a node that cannot be reached", o.run,
        [&o](CommandContext& context) { return runDeclareLost(context, o.run, o.node); });
    lost->add_option("NODE", o.node, "The node to declare lost")->required();
}

} // namespace

void addControls(CommandLine& line) {
    for (const CommandRow& row : commandRows()) {
        if (row.kind == CommandKind::kTrace)
            continue; // addTracing(): it has an answer of its own
        auto& o = line.keep<ControlOptions>();
        if (row.endsAttempt) {
            auto* command =
                line.add(row.name, row.help, [&o, kind = row.kind](CommandContext& context) {
                    return runControls(context, o.runs, kind);
                });
            command->add_option("RUN", o.runs, kRunsHelp)->required();
            line.mayGoUnrecorded(*command);
            continue;
        }
        auto* command = line.addOfRun(
            row.name, row.help, o.run, [&o, kind = row.kind](CommandContext& context) {
                return runControl(context, o.run, kind, argumentsOf(kind, o));
            });
        if (row.kind == CommandKind::kStep)
            command->add_option("N", o.steps, "How many steps")
                ->check(wholeNumber("steps", 1, kMostCommandSteps));
        if (row.kind == CommandKind::kSet)
            addSetting(*command, o);
    }
    addDeclareLost(line);
}

} // namespace rm::cli
