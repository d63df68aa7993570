// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/commands.h"

#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/runs/live_spec.h"
#include "app/core/settings/user_name.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"

#include <QMetaObject>
#include <QPromise>
#include <QUuid>

#include <algorithm>
#include <memory>
#include <optional>

namespace rm {

namespace {

using CommandAnswer = CommandRequest::Answer;

std::string attempted(const std::string& command, const QString& run) {
    return say("run.command", {{"command", command}, {"run", run.toStdString()}});
}

/// The answer to a command that is asked for again, after it had its answer.
CommandAnswer answerOf(const AskedCommand& asked, const QString& run) {
    if (asked.state == AskedState::kApplied)
        return CommandState{asked.id, CommandProgress::kApplied, asked.step, asked.answer};
    if (asked.state == AskedState::kRefused)
        return CommandState{asked.id, CommandProgress::kRefused, asked.step, asked.answer};
    return failAs(attempted(asked.kind, run), {ErrorCode::kUnavailable, asked.answer});
}

/// The answer that needs no ranks; nullopt: the ranks have to do it.
std::optional<CommandAnswer> answerWithoutRanks(LocalEngine& engine, const QString& run,
                                                CommandKind kind) {
    const auto found = engine.summary(run);
    if (!found)
        return tl::unexpected<Error>(found.error());
    if (isAlready(kind, found->state))
        return CommandState{{},
                            CommandProgress::kApplied,
                            -1,
                            say("engine.is-already", {{"state", runStateName(*found)}})};
    if (hasEnded(found->state))
        return failAs(attempted(commandKindName(kind), run),
                      {ErrorCode::kInvalid,
                       say("engine.no-rank-can", {{"state", runStateName(found->state)}})});
    return std::nullopt;
}

/// Sends a command that is stored to the ranks, unless the run has ended meanwhile.
QFuture<CommandAnswer> sendToRanks(LocalEngine& engine, const QString& run, const Command& command,
                                   int64_t askedNs) {
    Following& following = engine.parts().following;
    const auto ended = answerWithoutRanks(engine, run, command.kind);
    const auto followed = ended ? Result<void>() : following.follow(run);
    if (FollowedRun* ranks = following.find(run); !ended && followed && ranks)
        return ranks->send(command, askedNs);
    const CommandAnswer answer =
        ended       ? *ended
        : !followed ? CommandAnswer(tl::unexpected<Error>(followed.error()))
                    : failAs(attempted(commandKindName(command.kind), run),
                             {ErrorCode::kUnavailable, say("engine.ranks-being-started")});
    const bool isDone = answer && answer->progress == CommandProgress::kApplied;
    engine.noteCommandState(run, command.kind,
                            {command.id, CommandProgress::kRefused, -1,
                             answer ? answer->message : answer.error().message},
                            isDone ? AskedState::kApplied : AskedState::kRefused);
    return ready(answer);
}

/// Stores the command, then sends it.
QFuture<CommandAnswer> storeAndSend(LocalEngine& engine, const QString& run,
                                    const AskedCommand& asked, const Command& command) {
    const auto promise = std::make_shared<QPromise<CommandAnswer>>();
    promise->start();
    const auto onStored = [&engine, promise, run, command](const Result<AskedCommand>& stored) {
        const auto finish = [promise](const CommandAnswer& answer) {
            promise->addResult(answer);
            promise->finish();
        };
        if (!stored)
            return finish(tl::unexpected<Error>(stored.error()));
        Q_EMIT engine.runsChanged();
        if (!isOpen(stored->state))
            return finish(answerOf(*stored, run));
        whenAnswered(sendToRanks(engine, run, command, stored->askedNs), &engine, finish);
    };
    engine.parts().writer->post([&engine, run, asked, onStored](StoreWriter& writer) {
        const auto stored = writer.addCommand(run, asked);
        QMetaObject::invokeMethod(&engine, [onStored, stored] { onStored(stored); });
        return stored.map([](const AskedCommand&) {});
    });
    return promise->future();
}

} // namespace

std::string newCommandId() {
    return QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
}

bool isAlready(CommandKind kind, RunStateKind state) {
    if (kind == CommandKind::kPause)
        return state == RunStateKind::kPaused;
    const bool ends = kind == CommandKind::kStop || kind == CommandKind::kKill;
    return ends && state == RunStateKind::kStopped;
}

AskedCommand askedNow(std::string kind, const Asker& by,
                      std::vector<std::pair<std::string, std::string>> args) {
    return {.id = newCommandId(),
            .kind = std::move(kind),
            .args = std::move(args),
            .by = by.who.empty() ? Asker{userName(), by.from} : by,
            .askedNs = wallNowNs(),
            .state = AskedState::kApplied};
}

Result<void> noteDone(const ProcedureContext& context, const QString& run, AskedCommand asked) {
    asked.answeredNs = wallNowNs();
    const auto noted = context.writer->call([&](StoreWriter& writer) {
        return writer.addCommand(run, asked).map([](const AskedCommand&) {});
    });
    context.changed(run);
    return noted;
}

std::string CommandRequest::attempt() const {
    return attempted(commandKindName(kind), run);
}

QFuture<CommandAnswer> CommandRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    const QString itself = parts.launches.runOf(run);
    AskedCommand asked = askedNow(commandKindName(kind), by, args);
    if (!id.empty())
        asked.id = id;
    asked.state = AskedState::kWaiting;
    if (const auto answer = parts.launches.command(itself, kind)) {
        asked.state = *answer ? AskedState::kApplied : AskedState::kRefused;
        asked.answer = *answer ? (*answer)->message : answer->error().message;
        engine.noteCommand(itself, asked);
        return ready(*answer);
    }
    if (const auto answer = answerWithoutRanks(engine, itself, kind)) {
        const bool livesOn = kind == CommandKind::kKill && parts.writer && parts.reader &&
                             !parts.reader->givenUp(itself).empty();
        return livesOn ? parts.givenUp.kill(itself) : ready(*answer);
    }
    if (kind == CommandKind::kSet)
        if (const auto checked = checkSettings(*parts.reader, itself, args); !checked)
            return ready<Answer>(failAs(attempted(commandKindName(kind), itself), checked.error()));
    if (const auto followed = parts.following.follow(itself); !followed)
        return refuse<Answer>(followed.error());
    const Command command{asked.id, kind, args};
    // A kill waits for nothing, such as a disk that does not answer.
    if (kind == CommandKind::kKill)
        engine.noteCommand(itself, asked);
    if (!parts.writer || kind == CommandKind::kKill)
        return sendToRanks(engine, itself, command, asked.askedNs);
    return storeAndSend(engine, itself, asked, command);
}

std::string WithdrawRequest::attempt() const {
    return say("engine.withdraw", {{"command", command}, {"run", run.toStdString()}});
}

QFuture<Result<QString>> WithdrawRequest::perform(LocalEngine& engine) const {
    const LocalEngine::Parts& parts = engine.parts();
    const auto refuseAs = [&](const Error& why) { return ready<Answer>(failAs(attempt(), why)); };
    if (const auto can = engine.canWrite(attempt()); !can)
        return refuse<Answer>(can.error());
    if (FollowedRun* followed = parts.following.find(run)) {
        const auto withdrawn = followed->withdraw(command);
        return withdrawn ? ready<Answer>(*withdrawn) : refuseAs(withdrawn.error());
    }
    const auto open = parts.reader ? parts.reader->openCommands(run) : std::vector<AskedCommand>();
    const auto found = std::ranges::find(open, command, &AskedCommand::id);
    if (found == open.end())
        return refuseAs({ErrorCode::kInvalid, say("engine.answered-already")});
    if (found->state == AskedState::kAccepted)
        return refuseAs({ErrorCode::kInvalid, say("engine.accepted-by-node")});
    // A follower of the run would send it; the writer is asked before anybody can begin to follow.
    const std::string left = say("engine.may-take-effect");
    auto done = engine.edit(attempt(), [run = run, command = command, left](StoreWriter& writer) {
        return writer.setCommandState(run, command, AskedState::kWithdrawn, -1,
                                      say("engine.withdrawn", {{"left", left}}));
    });
    return done.then([left](const Result<void>& stored) {
        return stored.map([&] { return QString::fromStdString(left); });
    });
}

std::string DeclareLostRequest::attempt() const {
    return say("engine.declare-lost", {{"node", node.toStdString()}, {"run", run.toStdString()}});
}

QFuture<Result<void>> DeclareLostRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    const auto found = engine.summary(run);
    if (!found)
        return refuse<Answer>(found.error());
    if (hasEnded(found->state))
        return ready<Answer>(
            failAs(attempt(), {ErrorCode::kInvalid, say("engine.nothing-waits",
                                                        {{"state", runStateName(found->state)}})}));
    if (auto can = engine.canWrite(attempt()); !can)
        return ready<Answer>(std::move(can));
    if (parts.launches.contains(run))
        return ready<Answer>(
            failAs(attempt(), {ErrorCode::kUnavailable, say("engine.ranks-being-started")}));
    if (const auto followed = parts.following.follow(run); !followed)
        return ready<Answer>(failAs(attempt(), followed.error()));
    const AskedCommand asked = askedNow("declare-lost", by, {{"node", node.toStdString()}});
    return parts.following.find(run)
        ->declareLost(node.toStdString(), asked.by)
        .then([&engine, run = run, attempt = attempt(), asked](const Answer& declared) {
            if (!declared)
                return Answer(failAs(attempt, declared.error()));
            engine.noteCommand(run, asked);
            engine.parts().givenUp.look();
            return declared;
        });
}

} // namespace rm
