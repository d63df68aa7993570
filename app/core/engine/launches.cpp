// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/launches.h"

#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"

#include <utility>

namespace rm {

QFuture<Result<QString>> Launches::start(const QString& run, const std::vector<PlacedParty>& nodes,
                                         Procedure procedure,
                                         std::function<void(const Result<QString>&)> then) {
    if (contains(run))
        return ready<Result<QString>>(failAs(say("engine.start", {{"run", run.toStdString()}}),
                                             {ErrorCode::kInvalid, say("engine.started-already")}));
    if (!m_engine.parts().writer)
        return ready<Result<QString>>(failAs(say("engine.start-ranks"),
                                             {ErrorCode::kUnavailable, say("engine.start-there")}));
    const bool wasFollowed = m_engine.parts().following.forget(run);
    const auto context = m_engine.procedureContext(begin(run, nodes));
    const auto started = runOn(m_engine.parts().pool, [procedure = std::move(procedure), context] {
        return procedure(context);
    });
    return passOn(started, &m_engine,
                  [this, run, then, wasFollowed](const Result<QString>& answer) {
                      onEnded(run, answer, wasFollowed);
                      if (then)
                          then(answer);
                  });
}

void Launches::onEnded(const QString& run, const Result<QString>& started, bool wasFollowed) {
    m_launches.erase(run);
    if (started)
        m_engine.followStarted(run);
    else if (wasFollowed && !m_engine.parts().closing.stop_requested())
        m_engine.attach(run); // a node may still have something of it, for which somebody waits
    else if (const auto now = m_engine.summary(run); now && hasEnded(now->state))
        Q_EMIT m_engine.attemptEnded(run); // who attached to it meanwhile waits no longer
    Q_EMIT m_engine.liveChanged(run);
}

std::shared_ptr<CancelToken> Launches::begin(const QString& run,
                                             const std::vector<PlacedParty>& nodes) {
    auto token = std::make_shared<CancelToken>();
    m_launches[run] = {token, {QString::fromStdString(say("engine.starting"))}};
    for (const PlacedParty& party : nodes)
        m_launches[run].nodes.push_back(party.node.name);
    Q_EMIT m_engine.liveChanged(run);
    return token;
}

void Launches::end(const QString& run) {
    m_launches.erase(run);
    Q_EMIT m_engine.liveChanged(run);
}

BusyNodes Launches::busyNodes() const {
    BusyNodes busy;
    for (const auto& [run, launch] : m_launches)
        for (const std::string& node : launch.nodes)
            busy.emplace(node, trainsOn(run, node));
    return busy;
}

QStringList Launches::runs() const {
    QStringList runs;
    for (const auto& [run, launch] : m_launches)
        if (!launch.token->isCancelled())
            runs << run;
    return runs;
}

LiveState Launches::live(const QString& run) const {
    LiveState live;
    if (const auto launch = m_launches.find(run); launch != m_launches.end()) {
        live.launching = launch->second.progress;
        if (launch->second.token->isCancelled())
            live.pending = CommandKind::kStop;
    }
    return live;
}

void Launches::setProgress(const QString& run, const Progress& progress) {
    if (const auto launch = m_launches.find(run); launch != m_launches.end())
        launch->second.progress = progress;
    for (const QString& id : idsOf(run))
        Q_EMIT m_engine.progressed(id, progress);
}

std::optional<Result<CommandState>> Launches::command(const QString& run, CommandKind kind) {
    const auto launch = m_launches.find(run);
    if (launch == m_launches.end())
        return std::nullopt;
    if (kind != CommandKind::kStop && kind != CommandKind::kKill)
        return failAs(CommandRequest{run, kind}.attempt(),
                      {ErrorCode::kInvalid, say("engine.wait-or-stop")});
    if (launch->second.token->cancel()) {
        for (const QString& id : idsOf(run))
            Q_EMIT m_engine.liveChanged(id);
        return CommandState{{}, CommandProgress::kApplied, -1, say("engine.launch-is-cancelled")};
    }
    // They train already, and the procedure's answer is on its way here.
    m_launches.erase(launch);
    return std::nullopt;
}

void Launches::cancelAll() {
    for (const auto& [run, launch] : m_launches)
        launch.token->cancel();
}

void Launches::resumeAs(const QString& requested, const QString& run) {
    m_resumed[requested] = run;
    Q_EMIT m_engine.liveChanged(requested);
}

void Launches::forgetResumed(const QString& requested) {
    if (m_resumed.erase(requested) > 0)
        Q_EMIT m_engine.liveChanged(requested);
}

QString Launches::runOf(const QString& requested) const {
    const auto earlier = m_resumed.find(requested);
    return earlier == m_resumed.end() ? requested : earlier->second;
}

/// The id of the run, and the ids that launches were asked for under which resume it.
std::vector<QString> Launches::idsOf(const QString& run) const {
    std::vector<QString> ids{run};
    for (const auto& [requested, earlier] : m_resumed)
        if (earlier == run)
            ids.push_back(requested);
    return ids;
}

} // namespace rm
