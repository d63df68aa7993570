// SPDX-License-Identifier: GPL-3.0-or-later
// LocalEngine::post() alone: it is made once for each request, which takes a compiler long.
#include "app/core/answer.h"
#include "app/core/engine/local_engine.h"
#include "app/core/findings/text.h"

#include <variant>

namespace rm {

namespace {

/// Gives `done` the answer once it is there. A future that ends without one is of a closed engine.
template <class Answer>
void answer(const QFuture<Answer>& future, LocalEngine& engine, const EngineRequest& request,
            const Engine::Done& done) {
    const auto give = [request, done](const QFuture<Answer>& finished) {
        done(finished.resultCount() > 0
                 ? EngineReply(finished.result())
                 : failureOf(request, ErrorCode::kUnavailable, say("engine.closed")));
    };
    if (future.isFinished())
        give(future);
    else
        whenFinished(future, &engine, give);
}

} // namespace

void LocalEngine::post(EngineRequest request, Done done) {
    std::visit(
        [&](const auto& requested) { answer(requested.perform(*this), *this, request, done); },
        request);
}

} // namespace rm
