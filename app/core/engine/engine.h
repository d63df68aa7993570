// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/request.h"
#include "app/core/launch/progress.h"
#include "app/core/runs/live_state.h"

#include <QFuture>
#include <QObject>
#include <QPromise>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <utility>
#include <variant>

namespace rm {

/// The one engine behind the window and the terminal. Lives on the thread that made it (the GUI
/// thread); its calls do not block, and every answer comes back there.
///
/// Closing it does not affect the runs: they continue on their nodes, and a later engine attaches
/// to them again. A launch in progress is cancelled, as far as its nodes answer in a moment; the
/// next engine finds what is left of it. Closing takes about two seconds whatever the nodes do.
class Engine : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    virtual QString databasePath() const = 0;

    /// The one door for all that is asked: see request.h. An Asker that names nobody is the user of
    /// this process.
    template <class Request>
    QFuture<typename Request::Answer> ask(Request request);

    /// ask() for a caller that does not know the request's type. `done` is called once, in this
    /// thread, possibly before this returns, and not after the engine is gone.
    using Done = std::function<void(const EngineReply&)>;
    virtual void post(EngineRequest request, Done done) = 0;

    /// Attaches to every node of the run and follows it until it ends. Idempotent. Does nothing
    /// while the ranks are being started; the launch attaches at its end.
    virtual void attach(const QString& run) = 0;
    /// attach() for every run that has not ended.
    virtual void attachAll() = 0;
    virtual LiveState live(const QString& run) const = 0;
    /// The runs whose launch this process has asked for and that is under way: it is cancelled when
    /// the process ends.
    virtual QStringList ownLaunches() const { return {}; }

Q_SIGNALS:
    void runsChanged();                       ///< a run appeared, or its summary changed
    void samplesAppended(const QString& run); ///< carries no data: query a StoreReader
    void liveChanged(const QString& run);
    /// `run`: the id of a run, of a trial (trialId()), or kNetworkMeasurement.
    void progressed(const QString& run, const rm::Progress& progress);
    void attemptEnded(const QString& run);
    /// Why a launch is about to be refused: what memory is needed, what is free and what to do. The
    /// caller can launch it all the same with IfTooLarge.
    void tooLarge(const QString& run, const QString& why);
    /// A node of a followed run refused the login; a person has to enter or decide something.
    /// Emitted once per refused login. Following continues after a successful Fleet::check() of the
    /// node.
    void loginRefused(const QString& node);
    /// Following ended although the attempt did not (the run is unknown there, ...), or something
    /// could not be stored that nobody waits for. `run` empty: it is about all of them. `message`
    /// is for people.
    void failed(const QString& run, const QString& message);
};

template <class Request>
QFuture<typename Request::Answer> Engine::ask(Request request) {
    const auto promise = std::make_shared<QPromise<typename Request::Answer>>();
    promise->start();
    post(EngineRequest(std::move(request)), [promise](const EngineReply& reply) {
        if (const auto* answer = std::get_if<typename Request::Answer>(&reply))
            promise->addResult(*answer);
        promise->finish();
    });
    return promise->future();
}

} // namespace rm
