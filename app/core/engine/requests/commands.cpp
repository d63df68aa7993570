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
CommandAnswer answerOf(const RequestedCommand& requested, const QString& run) {
    if (requested.state == RequestedState::kApplied)
        return CommandState{requested.id, CommandProgress::kApplied, requested.step,
                            requested.answer};
    if (requested.state == RequestedState::kRefused)
        return CommandState{requested.id, CommandProgress::kRefused, requested.step,
                            requested.answer};
    return failAs(attempted(requested.kind, run), {ErrorCode::kUnavailable, requested.answer});
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
                                   int64_t requestedNs) {
    Following& following = engine.parts().following;
    const auto ended = answerWithoutRanks(engine, run, command.kind);
    const auto followed = ended ? Result<void>() : following.follow(run);
    if (FollowedRun* ranks = following.find(run); !ended && followed && ranks)
        return ranks->send(command, requestedNs);
    const CommandAnswer answer =
        ended       ? *ended
        : !followed ? CommandAnswer(tl::unexpected<Error>(followed.error()))
                    : failAs(attempted(commandKindName(command.kind), run),
                             {ErrorCode::kUnavailable, say("engine.ranks-being-started")});
    const bool isDone = answer && answer->progress == CommandProgress::kApplied;
    engine.noteCommandState(run, command.kind,
                            {command.id, CommandProgress::kRefused, -1,
                             answer ? answer->message : answer.error().message},
                            isDone ? RequestedState::kApplied : RequestedState::kRefused);
    return ready(answer);
}

/// The answer of a run that waits in the queue, which has no ranks: an end takes it out.
QFuture<CommandAnswer> takeOut(LocalEngine& engine, const QString& run, CommandKind kind,
                               RequestedCommand requested) {
    const std::string attempt = attempted(commandKindName(kind), run);
    if (kind != CommandKind::kStop && kind != CommandKind::kKill)
        return ready<CommandAnswer>(
            failAs(attempt, {ErrorCode::kInvalid, say("queue.no-rank-yet")}));
    const std::string words = say("queue.taken-out");
    requested.state = RequestedState::kApplied;
    requested.answer = words;
    auto done = engine.edit(attempt, [run, words](StoreWriter& writer) {
        return writer.dequeue(run, RunStateKind::kStopped, QString::fromStdString(words));
    });
    engine.noteCommand(run, requested);
    return done.then([words](const Result<void>& stored) {
        return stored.map([&] { return CommandState{{}, CommandProgress::kApplied, -1, words}; });
    });
}

/// Whether a command that could not be stored may be sent all the same: it is its run that is
/// meant, and the disk here that takes nothing.
bool goesUnrecorded(const Error& why) {
    return why.code == ErrorCode::kExhausted || why.code == ErrorCode::kUnavailable ||
           why.code == ErrorCode::kDenied;
}

CommandAnswer unrecorded(CommandAnswer answer, const Error& why) {
    std::string& message = answer ? answer->message : answer.error().message;
    append(message, say("engine.not-recorded", {{"why", why.message}}), "; ");
    return answer;
}

/// Stores the command, then sends it; where it cannot be stored it is sent all the same.
QFuture<CommandAnswer> storeAndSend(LocalEngine& engine, const QString& run,
                                    const RequestedCommand& requested, const Command& command) {
    const auto promise = std::make_shared<QPromise<CommandAnswer>>();
    promise->start();
    const auto onStored = [&engine, promise, run, command](const Result<RequestedCommand>& stored) {
        const auto finish = [promise](const CommandAnswer& answer) {
            promise->addResult(answer);
            promise->finish();
        };
        if (!stored && !goesUnrecorded(stored.error()))
            return finish(tl::unexpected<Error>(stored.error()));
        if (!stored)
            return whenAnswered(sendToRanks(engine, run, command, wallNowNs()), &engine,
                                [finish, why = stored.error()](const CommandAnswer& answer) {
                                    finish(unrecorded(answer, why));
                                });
        Q_EMIT engine.runsChanged();
        if (!isOpen(stored->state))
            return finish(answerOf(*stored, run));
        whenAnswered(sendToRanks(engine, run, command, stored->requestedNs), &engine, finish);
    };
    engine.parts().writer->post([&engine, run, requested, onStored](StoreWriter& writer) {
        const auto stored = writer.addCommand(run, requested);
        QMetaObject::invokeMethod(&engine, [onStored, stored] { onStored(stored); });
        return stored.map([](const RequestedCommand&) {});
    });
    return promise->future();
}

/// Sends a kill, which waits for nothing, and notes it meanwhile. Where that has failed by the time
/// of the answer, the answer says so.
QFuture<CommandAnswer> killAndNote(LocalEngine& engine, const QString& run,
                                   const RequestedCommand& requested, const Command& command) {
    const auto whyNot = std::make_shared<std::optional<Error>>();
    engine.parts().writer->post([&engine, run, requested, whyNot](StoreWriter& writer) {
        const auto noted = writer.addCommand(run, requested);
        QMetaObject::invokeMethod(&engine, [&engine, whyNot, noted] {
            if (!noted)
                *whyNot = noted.error();
            Q_EMIT engine.runsChanged();
        });
        return noted.map([](const RequestedCommand&) {});
    });
    const auto promise = std::make_shared<QPromise<CommandAnswer>>();
    promise->start();
    whenAnswered(sendToRanks(engine, run, command, requested.requestedNs), &engine,
                 [promise, whyNot](const CommandAnswer& answer) {
                     promise->addResult(*whyNot ? unrecorded(answer, **whyNot) : answer);
                     promise->finish();
                 });
    return promise->future();
}

/// The answer of the ranks, with what became of nodes that were declared lost.
QFuture<CommandAnswer> withOutcomeOf(LocalEngine& engine, const QFuture<CommandAnswer>& ranks,
                                     const QFuture<std::string>& lostNodes) {
    const auto promise = std::make_shared<QPromise<CommandAnswer>>();
    promise->start();
    whenAnswered(ranks, &engine, [&engine, promise, lostNodes](CommandAnswer answer) {
        whenAnswered(lostNodes, &engine, [promise, answer](const std::string& words) mutable {
            append(answer ? answer->message : answer.error().message, words, "; ");
            promise->addResult(answer);
            promise->finish();
        });
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

RequestedCommand requestedNow(std::string kind, const Requester& by,
                              std::vector<std::pair<std::string, std::string>> args) {
    return {.id = newCommandId(),
            .kind = std::move(kind),
            .args = std::move(args),
            .by = by.who.empty() ? Requester{userName(), by.from} : by,
            .requestedNs = wallNowNs(),
            .state = RequestedState::kApplied};
}

Result<void> noteDone(const ProcedureContext& context, const QString& run,
                      RequestedCommand requested) {
    requested.answeredNs = wallNowNs();
    const auto noted = context.writer->call([&](StoreWriter& writer) {
        return writer.addCommand(run, requested).map([](const RequestedCommand&) {});
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
    RequestedCommand requested = requestedNow(commandKindName(kind), by, args);
    if (!id.empty())
        requested.id = id;
    requested.state = RequestedState::kWaiting;
    if (const auto answer = parts.launches.command(itself, kind)) {
        requested.state = *answer ? RequestedState::kApplied : RequestedState::kRefused;
        requested.answer = *answer ? (*answer)->message : answer->error().message;
        engine.noteCommand(itself, requested);
        return ready(*answer);
    }
    if (const auto found = engine.summary(itself); found && found->queuePlace > 0)
        return takeOut(engine, itself, kind, std::move(requested));
    const bool livesOn = kind == CommandKind::kKill && parts.writer && parts.reader &&
                         !parts.reader->declaredLost(itself).empty();
    if (const auto answer = answerWithoutRanks(engine, itself, kind))
        return livesOn ? parts.declaredLost.kill(itself) : ready(*answer);
    // Beside the ranks elsewhere, as that node may be back.
    std::optional<QFuture<std::string>> lostNodes;
    if (livesOn)
        lostNodes = parts.declaredLost.killBeside(itself);
    if (kind == CommandKind::kSet)
        if (const auto checked = checkSettings(*parts.reader, itself, args); !checked)
            return ready<Answer>(failAs(attempted(commandKindName(kind), itself), checked.error()));
    if (const auto followed = parts.following.follow(itself); !followed)
        return refuse<Answer>(followed.error());
    const Command command{requested.id, kind, args};
    if (!parts.writer)
        return sendToRanks(engine, itself, command, requested.requestedNs);
    // It waits for nothing, such as a disk that does not answer.
    if (kind == CommandKind::kKill) {
        const auto killed = killAndNote(engine, itself, requested, command);
        return lostNodes ? withOutcomeOf(engine, killed, *lostNodes) : killed;
    }
    return storeAndSend(engine, itself, requested, command);
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
    const auto open =
        parts.reader ? parts.reader->openCommands(run) : std::vector<RequestedCommand>();
    const auto found = std::ranges::find(open, command, &RequestedCommand::id);
    if (found == open.end())
        return refuseAs({ErrorCode::kInvalid, say("engine.answered-already")});
    if (found->state == RequestedState::kAccepted)
        return refuseAs({ErrorCode::kInvalid, say("engine.accepted-by-node")});
    // A follower of the run would send it; the writer is asked before anybody can begin to follow.
    const std::string left = say("engine.may-take-effect");
    auto done = engine.edit(attempt(), [run = run, command = command, left](StoreWriter& writer) {
        return writer.setCommandState(run, command, RequestedState::kWithdrawn, -1,
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
    const RequestedCommand requested =
        requestedNow("declare-lost", by, {{"node", node.toStdString()}});
    return parts.following.find(run)
        ->declareLost(node.toStdString(), requested.by)
        .then([&engine, run = run, attempt = attempt(), requested](const Answer& declared) {
            if (!declared)
                return Answer(failAs(attempt, declared.error()));
            engine.noteCommand(run, requested);
            engine.parts().declaredLost.look();
            return declared;
        });
}

} // namespace rm
