// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/checkpoints.h"

#include "app/core/checkpoints/checkpoint_changes.h"
#include "app/core/checkpoints/checkpoint_moves.h"
#include "app/core/checkpoints/try_checkpoint.h"
#include "app/core/checkpoints/verify_checkpoint.h"
#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/requested_command.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace rm {

namespace {

using Change = std::function<Result<void>(const ProcedureContext&)>;

/// Changes a checkpoint on a node and in the database, then stores `requested`. `attempt` is a
/// phrase.
QFuture<Result<void>> change(LocalEngine& engine, const QString& run, const char* attempt,
                             Change change, std::optional<RequestedCommand> requested = {}) {
    if (const auto found = engine.summary(run); !found)
        return refuse<Result<void>>(found.error());
    if (auto can = engine.canWrite(say(attempt, {{"run", run.toStdString()}})); !can)
        return ready(std::move(can));
    return runOn(engine.parts().pool,
                 [run, change = std::move(change), requested = std::move(requested),
                  context = engine.closingContext()] {
                     const Result<void> changed = change(context);
                     return changed && requested ? noteDone(context, run, *requested) : changed;
                 });
}

std::string onCheckpoint(const char* phrase, const QString& checkpoint, const QString& run) {
    return say(phrase, {{"checkpoint", checkpoint.toStdString()}, {"run", run.toStdString()}});
}

} // namespace

std::string CopyCheckpointRequest::attempt() const {
    return say("engine.copy-checkpoint", {{"run", run.toStdString()}});
}

QFuture<Result<QString>> CopyCheckpointRequest::perform(LocalEngine& engine) const {
    if (const auto found = engine.summary(run); !found)
        return refuse<Answer>(found.error());
    if (const auto can = engine.canWrite(attempt()); !can)
        return refuse<Answer>(can.error());
    return runOn(engine.parts().pool, [run = run, order = order, which = checkpoint.toStdString(),
                                       context = engine.closingContext()] {
        return copyCheckpoint(context, run, which, order, 0);
    });
}

std::string PinCheckpointRequest::attempt() const {
    return onCheckpoint(pinned ? "engine.pin" : "engine.unpin", checkpoint, run);
}

QFuture<Result<void>> PinCheckpointRequest::perform(LocalEngine& engine) const {
    return change(engine, run, pinned ? "engine.pin-one" : "engine.unpin-one",
                  [run = run, which = checkpoint.toStdString(),
                   pinned = pinned](const ProcedureContext& context) {
                      return pinCheckpoint(context, run, which, pinned);
                  });
}

std::string CompareCheckpointsRequest::attempt() const {
    return say("checkpoint.compare", {{"run", run.toStdString()}});
}

QFuture<Result<TensorComparison>> CompareCheckpointsRequest::perform(LocalEngine& engine) const {
    return runOn(engine.parts().pool, [run = run, a = a.toStdString(), b = b.toStdString(),
                                       context = engine.closingContext()] {
        return compareCheckpoints(context, run, a, b);
    });
}

std::string TryCheckpointRequest::attempt() const {
    return say("try.any", {{"run", run.toStdString()}});
}

QFuture<Result<TriedCheckpoint>> TryCheckpointRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    if (const auto found = engine.summary(run); !found)
        return refuse<Answer>(found.error());
    std::erase_if(parts.tries, [](const auto& each) { return bool(each.second->isOver); });
    const auto own = std::make_shared<Course>();
    parts.tries.emplace(id, own);
    return runOn(parts.pool, [run = run, which = checkpoint.toStdString(), order = order, own,
                              progress = progressOf(engine, tryName(id)),
                              context = engine.closingContext(),
                              closing = parts.closing.get_token()] {
        const std::stop_callback end(closing, [&own] { own->stop.request_stop(); });
        auto tried = tryCheckpoint(context, run, which, order, progress, own->stop.get_token());
        own->isOver = true;
        return tried;
    });
}

std::string StopTryRequest::attempt() const {
    return say("try.stop");
}

QFuture<Result<void>> StopTryRequest::perform(LocalEngine& engine) const {
    for (const auto& [each, course] : engine.parts().tries)
        if (each == id)
            course->stop.request_stop();
    return ready(Answer());
}

std::string RemoveCheckpointRequest::attempt() const {
    return onCheckpoint("checkpoint.remove", checkpoint, run);
}

QFuture<Result<void>> RemoveCheckpointRequest::perform(LocalEngine& engine) const {
    const std::string which = checkpoint.toStdString();
    return change(
        engine, run, "engine.remove-one",
        [run = run, which](const ProcedureContext& context) {
            return removeCheckpoint(context, run, which);
        },
        requestedNow(kRemoveCheckpoint, by, {{"checkpoint", which}}));
}

std::string BringBackCheckpointRequest::attempt() const {
    return onCheckpoint("checkpoint.bring-back", checkpoint, run);
}

QFuture<Result<void>> BringBackCheckpointRequest::perform(LocalEngine& engine) const {
    const std::string which = checkpoint.toStdString();
    return change(
        engine, run, "engine.bring-back-one",
        [run = run, which](const ProcedureContext& context) {
            return bringBackCheckpoint(context, run, which);
        },
        requestedNow(kBringBackCheckpoint, by, {{"checkpoint", which}}));
}

std::string VerifyCheckpointRequest::attempt() const {
    return onCheckpoint("engine.verify", checkpoint, run);
}

QFuture<Result<void>> VerifyCheckpointRequest::perform(LocalEngine& engine) const {
    if (const auto found = engine.summary(run); !found)
        return refuse<Answer>(found.error());
    return runOn(engine.parts().pool,
                 [run = run, which = checkpoint.toStdString(), context = engine.closingContext()] {
                     return verifyCheckpoint(context, run, which);
                 });
}

} // namespace rm
