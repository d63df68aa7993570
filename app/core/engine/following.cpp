// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/following.h"

#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/remote/credential_store.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <QMetaObject>

#include <algorithm>

namespace rm {

Following::Following(LocalEngine& engine)
    : m_engine(engine) {}

Following::~Following() = default;

FollowedRun* Following::find(const QString& run) const {
    const auto found = m_followed.find(run);
    return found == m_followed.end() ? nullptr : found->second.get();
}

Result<void> Following::follow(const QString& run, bool wasStarted) {
    const LocalEngine::Parts& parts = m_engine.parts();
    if (m_followed.contains(run) || parts.launches.contains(run))
        return {};
    RM_ASSIGN_OR_RETURN(const auto found, m_engine.summary(run));
    if (found.state == RunStateKind::kWaiting) // its launch will follow it
        return {};
    if (found.nodes.empty())
        return failAs(say("engine.follow", {{"run", run.toStdString()}}),
                      {ErrorCode::kInvalid, say("engine.on-no-node")});
    const auto problem = parts.fleet->problem();
    std::vector<FollowedRun::Part> nodes;
    for (const RunNode& part : found.nodes)
        nodes.push_back({part.nodeName, parts.fleet->find(QString::fromStdString(part.nodeName)),
                         problem ? problem->message : say("engine.node-was-removed")});
    auto followed = std::make_unique<FollowedRun>(found, std::move(nodes), parts.writer,
                                                  parts.hosts, parts.database, wasStarted);
    wire(run, *followed);
    followed->start();
    const auto unanswered =
        parts.writer ? parts.reader->openCommands(run) : std::vector<RequestedCommand>();
    FollowedRun& now = *m_followed.emplace(run, std::move(followed)).first->second;
    for (const RequestedCommand& requested : unanswered)
        now.restore(requested);
    Q_EMIT m_engine.liveChanged(run);
    return {};
}

bool Following::forget(const QString& run) {
    return m_followed.erase(run) > 0;
}

void Following::retry(const std::string& node) {
    for (const auto& [run, followed] : m_followed)
        followed->retry(node);
}

void Following::followAnew(const QString& node) {
    std::vector<QString> runs;
    for (const auto& [run, followed] : m_followed)
        if (std::ranges::count(followed->live().nodes, node.toStdString(),
                               &LiveState::NodeLink::node) > 0)
            runs.push_back(run);
    for (const QString& run : runs) {
        auto commands = m_followed.at(run)->takeInFlight();
        m_followed.erase(run);
        m_engine.attach(run);
        if (FollowedRun* now = find(run))
            now->goOnWith(std::move(commands));
    }
}

void Following::hangUp() {
    for (const auto& [run, followed] : m_followed)
        followed->hangUp();
    m_followed.clear();
    m_over.clear();
}

void Following::wire(const QString& run, FollowedRun& followed) {
    connect(&followed, &FollowedRun::committed, this, [this, run] {
        if (m_engine.parts().copier)
            m_engine.parts().copier->touch(run);
        Q_EMIT m_engine.samplesAppended(run);
        Q_EMIT m_engine.runsChanged();
    });
    connect(&followed, &FollowedRun::liveChanged, this,
            [this, run] { Q_EMIT m_engine.liveChanged(run); });
    connect(&followed, &FollowedRun::loginRefused, this, [this](const QString& node) {
        // The check that asks the person must not start with the credentials that were just
        // refused.
        Fleet& fleet = *m_engine.parts().fleet;
        if (const auto known = fleet.find(node))
            fleet.credentials().forget(*known);
        Q_EMIT m_engine.loginRefused(node);
    });
    connect(&followed, &FollowedRun::revived, this, [this, run] {
        m_engine.postEdit(run, [run](StoreWriter& writer) {
            return writer.setState(run, RunStateKind::kRunning);
        });
    });
    connect(&followed, &FollowedRun::queued, this, [this, run](const QString& why) {
        m_engine.postEdit(run, [=](StoreWriter& writer) { return writer.setQueued(run, why); });
    });
    connect(&followed, &FollowedRun::commandChanged, this,
            [this, run](CommandKind kind, const CommandState& state, RequestedState as) {
                m_engine.noteCommandState(run, kind, state, as);
            });
    connect(&followed, &FollowedRun::ended, this,
            [this, run](const QString& problem, bool lost) { onEnded(run, problem, lost); });
}

void Following::onEnded(const QString& run, const QString& problem, bool lost) {
    // The sender's signal is still being handled, so it is destroyed in the next turn of the event
    // loop.
    bool wasStarted = false;
    if (auto node = m_followed.extract(run)) {
        wasStarted = node.mapped()->wasStarted();
        m_over.push_back(std::move(node.mapped()));
    }
    QMetaObject::invokeMethod(
        this, [this] { m_over.clear(); }, Qt::QueuedConnection);
    LocalEngine& engine = m_engine;
    const auto found = m_engine.summary(run);
    const bool wasPresumed = found && found->isPresumed;
    const auto announce = [&engine, run, problem, wasPresumed] {
        Q_EMIT engine.liveChanged(run);
        Q_EMIT engine.runsChanged();
        if (!problem.isEmpty() && !wasPresumed) // of which that was said
            Q_EMIT engine.failed(run, problem);
        Q_EMIT engine.attemptEnded(run);
    };
    const auto& writer = m_engine.parts().writer;
    const bool open = found && isLive(found->state);
    const bool interrupted = open && !wasStarted && found->state == RunStateKind::kPreparing;
    if (writer && found && !open)
        writer->post([run](StoreWriter& store) {
            return store.closeCommands(run, say("run.ended-before"));
        });
    if (!writer || !open || !(lost || (interrupted && problem.isEmpty())))
        return announce();
    // The journals have no end of the attempt: its ranks vanished, or were never started because
    // the Ringmaster that launched it was killed.
    writer->post([&engine, run, problem, interrupted, announce](StoreWriter& store) {
        IngestBatch batch;
        batch.run = run;
        batch.records = {Event{-1, -1, wallNowNs(), Severity::kWarning, "end-presumed",
                               say("run.end-presumed", {{"why", problem.toStdString()}})}};
        const auto concluded =
            interrupted
                ? store.setState(run, RunStateKind::kFailed,
                                 QString::fromStdString(say("engine.launch-was-interrupted")))
                : store.presumeEnd(run, problem.toStdString()).and_then([&] {
                      return store.ingest(batch);
                  });
        auto done =
            concluded.and_then([&] { return store.closeCommands(run, say("run.ended-before")); });
        QMetaObject::invokeMethod(&engine, announce);
        return done;
    });
}

} // namespace rm
