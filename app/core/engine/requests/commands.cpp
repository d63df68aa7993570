// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/commands.h"

#include "app/core/engine/parts.h"
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

/// The answer to a command that is asked for again, after it had its answer.
CommandAnswer answerOf(const AskedCommand& asked, const QString& run) {
    if (asked.state == AskedState::kApplied)
        return CommandState{asked.id, CommandProgress::kApplied, asked.step, asked.answer};
    if (asked.state == AskedState::kRefused)
        return CommandState{asked.id, CommandProgress::kRefused, asked.step, asked.answer};
    return fail(ErrorCode::kUnavailable,
                asked.kind + " " + run.toStdString() + ": " + asked.answer);
}

/// The answer that needs no ranks; nullopt: the ranks have to do it.
std::optional<CommandAnswer> answerWithoutRanks(LocalEngine& engine, const QString& run,
                                                CommandKind kind) {
    const auto found = engine.summary(run);
    if (!found)
        return tl::unexpected<Error>(found.error());
    if (isAlready(kind, found->state))
        return CommandState{
            {}, CommandProgress::kApplied, -1, std::string("it is ") + runStateName(*found)};
    if (hasEnded(found->state))
        return fail(ErrorCode::kInvalid, std::string(commandKindName(kind)) + " " +
                                             run.toStdString() + ": it is " +
                                             runStateName(found->state) + ", so no rank can do it");
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
                    : fail(ErrorCode::kUnavailable, std::string(commandKindName(command.kind)) +
                                                        " " + run.toStdString() +
                                                        ": its ranks are being started");
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
    return std::string(commandKindName(kind)) + " " + run.toStdString();
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
            return ready<Answer>(failAs("set " + itself.toStdString(), checked.error()));
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
    return "withdraw command " + command + " of " + run.toStdString();
}

QFuture<Result<QString>> WithdrawRequest::perform(LocalEngine& engine) const {
    const LocalEngine::Parts& parts = engine.parts();
    const auto refuseAs = [&](ErrorCode code, const std::string& why) {
        return refuse<Answer>({code, attempt() + ": " + why});
    };
    if (const auto can = engine.canWrite(attempt()); !can)
        return refuse<Answer>(can.error());
    if (FollowedRun* followed = parts.following.find(run)) {
        const auto withdrawn = followed->withdraw(command);
        return withdrawn ? ready<Answer>(*withdrawn)
                         : refuseAs(withdrawn.error().code, withdrawn.error().message);
    }
    const auto open = parts.reader ? parts.reader->openCommands(run) : std::vector<AskedCommand>();
    const auto found = std::ranges::find(open, command, &AskedCommand::id);
    if (found == open.end())
        return refuseAs(ErrorCode::kInvalid, "it has its answer already, or there is none such");
    if (found->state == AskedState::kAccepted)
        return refuseAs(ErrorCode::kInvalid, "a node has accepted it");
    // A follower of the run would send it; the writer is asked before anybody can begin to follow.
    const QString left = LocalEngine::tr(
        "if a node got it before its link broke, it takes effect there all the same");
    auto done = engine.edit(attempt(), [run = run, command = command, left](StoreWriter& writer) {
        return writer.setCommandState(run, command, AskedState::kWithdrawn, -1,
                                      "withdrawn; " + left.toStdString());
    });
    return done.then(
        [left](const Result<void>& stored) { return stored.map([&] { return left; }); });
}

std::string DeclareLostRequest::attempt() const {
    return "declare " + node.toStdString() + " of " + run.toStdString() + " lost";
}

QFuture<Result<void>> DeclareLostRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    const auto found = engine.summary(run);
    if (!found)
        return refuse<Answer>(found.error());
    if (hasEnded(found->state))
        return refuse<Answer>({ErrorCode::kInvalid, attempt() + ": the run is " +
                                                        runStateName(found->state) +
                                                        ", so nothing waits for it"});
    if (auto can = engine.canWrite(attempt()); !can)
        return ready<Answer>(std::move(can));
    if (parts.launches.contains(run))
        return refuse<Answer>(
            {ErrorCode::kUnavailable, attempt() + ": its ranks are being started"});
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
