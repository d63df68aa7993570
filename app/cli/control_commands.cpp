// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "shared/io/clock.h"

#include <iostream>
#include <optional>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

/// After its answer a pause or stop is not yet over: the ranks end and free the devices.
constexpr auto kEndDeadline = 5min;
constexpr auto kAnswerDeadline = 5min;
constexpr int64_t kPatienceNs = 3'000'000'000; ///< with a node that cannot be reached

bool endsTheRun(CommandKind kind) {
    return kind == CommandKind::kPause || kind == CommandKind::kStop || kind == CommandKind::kKill;
}

/// Why the node of rank 0, the first one, through which commands go, takes none; nullopt: it does.
std::optional<Error> cutOff(const LiveState& live) {
    if (live.nodes.empty())
        return std::nullopt;
    const LiveState::NodeLink& node = live.nodes.front();
    if (node.link == LiveState::Link::kRefused)
        return Error{ErrorCode::kDenied, node.why.toStdString()};
    if (node.link != LiveState::Link::kLost || wallNowNs() - node.lostSinceNs < kPatienceNs)
        return std::nullopt;
    return Error{ErrorCode::kUnavailable, node.node +
                                              " cannot be reached: " + node.why.toStdString() +
                                              "; a command that got there before takes effect"};
}

Result<CommandState> sendAndWait(Session& session, const QString& run, CommandKind kind,
                                 std::vector<std::pair<std::string, std::string>> args) {
    auto answer = session.engine().command(run, kind, std::move(args));
    const auto problem = [&] { return cutOff(session.engine().live(run)); };
    const auto wait = [&] {
        awaitUntil([&] { return answer.isFinished() || problem(); }, kAnswerDeadline);
        return answer.isFinished();
    };
    if (!wait() && problem() && problem()->code == ErrorCode::kDenied &&
        openAsking(session, {session.engine().live(run).nodes.front().node}))
        wait();
    if (answer.isFinished())
        return answer.result();
    return failAs(std::string(commandKindName(kind)) + " " + run.toStdString(),
                  problem().value_or(Error{ErrorCode::kUnavailable, "no answer from rank 0"}));
}

void printState(const Session& session, const QString& run, CommandKind kind,
                const CommandState& state) {
    if (session.json()) {
        printJson({{"run", run.toStdString()},
                   {"command", commandKindName(kind)},
                   {"applied", true},
                   {"step", state.step},
                   {"message", state.message}});
        return;
    }
    std::cout << run.toStdString() << ": " << commandKindName(kind);
    if (state.step >= 0)
        std::cout << " took effect on every rank after step " << state.step;
    std::cout << (state.message.empty() ? "" : " (" + oneLine(state.message) + ")") << std::endl;
}

} // namespace

int runControl(Session& session, const std::string& id, CommandKind kind,
               std::vector<std::pair<std::string, std::string>> args) {
    const auto run = session.caughtUp(id);
    if (!run)
        return printError(session, run.error());
    bool ended = false;
    QObject::connect(&session.engine(), &Engine::attemptEnded, &session.engine(),
                     [&](const QString& which) { ended = ended || which == run->id; });
    const auto state = sendAndWait(session, run->id, kind, std::move(args));
    if (!state)
        return printError(session, state.error());
    if (state->progress == CommandProgress::kRefused)
        return printError(session,
                          {ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " +
                                                    run->id.toStdString() + ": " + state->message});
    if (endsTheRun(kind) && !awaitUntil([&] { return ended; }, kEndDeadline))
        return printError(session, {ErrorCode::kUnavailable, std::string(commandKindName(kind)) +
                                                                 " " + run->id.toStdString() +
                                                                 ": the ranks have not ended yet"});
    printState(session, run->id, kind, *state);
    return 0;
}

} // namespace rm::cli
