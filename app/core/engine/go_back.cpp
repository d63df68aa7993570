// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/go_back.h"

#include "app/core/answer.h"
#include "app/core/findings/text.h"

#include <QPromise>

#include <memory>

namespace rm {

namespace {

using GoBackAnswer = ResumeRequest::Answer;

/// Waits for a pause and the end of its attempt, which come in either order, then resumes.
class GoingBack : public QObject {
public:
    GoingBack(Engine& engine, const QString& run, const QString& checkpoint)
        : QObject(&engine)
        , m_engine(engine)
        , m_run(run)
        , m_checkpoint(checkpoint) {
        m_promise.start();
        connect(&engine, &Engine::attemptEnded, this, [this](const QString& which) {
            m_hasEnded |= which == m_run;
            resumeOnceOver();
        });
        whenFinished(engine.ask(CommandRequest{run, CommandKind::kPause}), this,
                     [this](const QFuture<CommandRequest::Answer>& answer) {
                         if (answer.resultCount() == 0)
                             return deleteLater();
                         onPaused(answer.result());
                     });
    }
    ~GoingBack() override { m_promise.finish(); }

    QFuture<GoBackAnswer> future() { return m_promise.future(); }

private:
    void onPaused(const CommandRequest::Answer& answer) {
        if (!answer)
            return finish(tl::unexpected<Error>(answer.error()));
        if (answer->progress == CommandProgress::kRefused)
            return finish(
                fail(ErrorCode::kInvalid, say("revert.not-paused", {{"why", answer->message}})));
        m_isPaused = true;
        m_hasEnded |= answer->step < 0; // it was paused before
        resumeOnceOver();
    }
    void resumeOnceOver() {
        if (!m_isPaused || !m_hasEnded || m_isResuming)
            return;
        m_isResuming = true;
        whenFinished(m_engine.ask(ResumeRequest{m_run, m_checkpoint}), this,
                     [this](const QFuture<GoBackAnswer>& answer) {
                         if (answer.resultCount() == 0)
                             return deleteLater();
                         finish(answer.result());
                     });
    }
    void finish(const GoBackAnswer& answer) {
        m_promise.addResult(answer);
        deleteLater();
    }

    Engine& m_engine;
    QString m_run, m_checkpoint;
    QPromise<GoBackAnswer> m_promise;
    bool m_isPaused = false, m_hasEnded = false, m_isResuming = false;
};

} // namespace

QFuture<GoBackAnswer> goBackTo(Engine& engine, const RunSummary& run, const QString& checkpoint) {
    if (hasEnded(run.state))
        return engine.ask(ResumeRequest{run.id, checkpoint});
    return (new GoingBack(engine, run.id, checkpoint))->future();
}

} // namespace rm
