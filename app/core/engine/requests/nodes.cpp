// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/nodes.h"

#include "app/core/engine/clean_node.h"
#include "app/core/engine/parts.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/node_comparison.h"
#include "app/core/launch/link_test.h"
#include "app/core/launch/network_survey.h"
#include "app/core/network/network_file.h"
#include "shared/return_if_error.h"

#include <QMetaObject>

#include <algorithm>
#include <functional>
#include <stop_token>

namespace rm {

namespace {

/// The named nodes, in their order; without names, all nodes that are measured.
Result<std::vector<Node>> nodesToMeasure(LocalEngine& engine, const QStringList& names) {
    std::vector<Node> nodes;
    for (const QString& name : names) {
        RM_ASSIGN_OR_RETURN(auto node, engine.find(name));
        nodes.push_back(std::move(node));
    }
    if (names.isEmpty())
        nodes = measuredNodes(engine.parts().fleet->nodes());
    if (nodes.size() < 2) // what was found before of several stays
        return fail(ErrorCode::kInvalid, say("engine.too-few-nodes"));
    return nodes;
}

} // namespace

std::function<void(const Progress&)> progressOf(LocalEngine& engine, const QString& what) {
    return [&engine, what](const Progress& now) {
        QMetaObject::invokeMethod(&engine,
                                  [&engine, what, now] { Q_EMIT engine.progressed(what, now); });
    };
}

std::string CheckRequest::attempt() const {
    return say("gpu.node-check", {{"node", node.toStdString()}});
}

NodeCheck CheckRequest::failed(const Error& error) const {
    return unansweredCheck(node.toStdString(), {error, ConnectFailure::Need::kNothing, {}});
}

QFuture<NodeCheck> CheckRequest::perform(LocalEngine& engine) const {
    return engine.parts().fleet->check(node, credentials);
}

std::string CleanNodeRequest::attempt() const {
    return say("engine.clean-node", {{"node", node.toStdString()}});
}

/// Refuses to take what is young while ranks are being started: it may be theirs. What went is
/// noted also where the rest failed, as no run has it any more.
QFuture<Result<DeployedReport>> CleanNodeRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    const auto found = engine.find(node);
    if (!found)
        return refuse<Answer>(found.error());
    if (parts.leaving.contains(node))
        return ready<Answer>(
            failAs(attempt(), {ErrorCode::kUnavailable, say("engine.removed-already")}));
    const bool mayHitALaunch = cleaning.withRecent || cleaning.isUninstall;
    if (mayHitALaunch && !cleaning.isPreview && !parts.launches.isEmpty())
        return ready<Answer>(
            failAs(attempt(), {ErrorCode::kInvalid, say("engine.wait-for-ranks")}));
    const bool leaves = cleaning.isUninstall && !cleaning.isPreview;
    const bool loses = leaves && cleaning.withRuns;
    if (const auto can = loses ? engine.canWrite(attempt()) : Result<void>(); !can)
        return refuse<Answer>(can.error());
    if (leaves)
        parts.leaving.insert(node);
    std::vector<std::string> losers = runSharersOf(found->name, parts.fleet->lastChecks());
    losers.push_back(found->name);
    const auto cleaned = runOn(
        parts.pool,
        [node = *found, cleaning = cleaning, losers, loses, attempt = attempt(),
         context = engine.closingContext(), stop = parts.closing.get_token()]() -> Answer {
            RM_ASSIGN_OR_RETURN(const auto report, cleanNode(*context.hosts, node, cleaning, stop));
            const auto noted = loses ? noteRunsRemoved(context, report, losers) : Result<void>();
            if (!report.failure.empty())
                return failAs(attempt, {ErrorCode::kUnavailable, report.failure});
            RM_RETURN_IF_ERROR(noted);
            return report;
        });
    return passOn(cleaned, &engine, [&parts, leaves, node = node](const Answer&) {
        if (leaves)
            parts.leaving.erase(node);
    });
}

std::string MeasureNetworkRequest::attempt() const {
    return say("launch.measure-network");
}

QFuture<Result<void>> MeasureNetworkRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    if (parts.measurement && !parts.measurement->isOver)
        return ready<Answer>(
            failAs(attempt(), {ErrorCode::kUnavailable, say("engine.measured-already")}));
    const auto chosen = nodesToMeasure(engine, nodes);
    if (!chosen)
        return ready<Answer>(failAs(attempt(), chosen.error()));
    parts.measurement = std::make_shared<Course>();
    return runOn(parts.pool, [nodes = *chosen, progress = progressOf(engine, kNetworkMeasurement),
                              hosts = parts.hosts, own = parts.measurement,
                              folder = parts.stateFolder, closing = parts.closing.get_token()] {
        const std::stop_callback end(closing, [&own] { own->stop.request_stop(); });
        const auto measured = measureNetwork(*hosts, nodes, progress, own->stop.get_token());
        auto kept = measured ? keepNetwork(folder, *measured)
                             : Result<void>(tl::unexpected(measured.error()));
        own->isOver = true;
        return kept;
    });
}

std::string StopNetworkRequest::attempt() const {
    return say("engine.stop-measuring");
}

QFuture<Result<void>> StopNetworkRequest::perform(LocalEngine& engine) const {
    if (engine.parts().measurement)
        engine.parts().measurement->stop.request_stop();
    return ready(Answer());
}

std::string EndLeftoversRequest::attempt() const {
    return say("engine.end-leftovers", {{"node", node.toStdString()}});
}

QFuture<Result<void>> EndLeftoversRequest::perform(LocalEngine& engine) const {
    const LocalEngine::Parts& parts = engine.parts();
    const auto found = engine.find(node);
    if (!found)
        return refuse<Answer>(found.error());
    std::vector<std::string> ids, guarded;
    for (const QString& run : runs) {
        const auto known = parts.reader ? parts.reader->run(run) : std::nullopt;
        if (known && !hasEnded(known->state))
            return ready<Answer>(
                failAs(attempt(), {ErrorCode::kInvalid,
                                   say("engine.not-ended", {{"run", run.toStdString()}})}));
        ids.push_back(run.toStdString());
        if (!known && others == OtherRuns::kRefuse)
            guarded.push_back(run.toStdString());
    }
    return runOn(engine.parts().pool, [node = *found, ids, guarded, hosts = parts.hosts,
                                       stop = parts.closing.get_token()] {
        return endLeftovers(*hosts, node, ids, guarded, stop);
    });
}

std::string TrialRequest::attempt() const {
    return trialName(trial.kind);
}

QFuture<Result<QString>> TrialRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    auto parties = engine.place(trial.nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    std::erase_if(parts.trials, [](const auto& each) { return bool(each.course->isOver); });
    const auto own = std::make_shared<Course>();
    parts.trials.push_back({trial, own});
    const std::string kept = parts.stateFolder + '/' + kLinkTestsFile;
    return runOn(parts.pool, [trial = trial, own, progress = progressOf(engine, trialId(trial)),
                              parties = *parties, hosts = parts.hosts, kept,
                              closing = parts.closing.get_token()] {
        const std::stop_callback end(closing, [&own] { own->stop.request_stop(); });
        const auto found = runTrial(trial, parties, *hosts, progress, own->stop.get_token());
        if (found && trial.kind == TrialKind::kAllReduce)
            keepLinkTest(kept, *found);
        own->isOver = true;
        return found.map(&QString::fromStdString);
    });
}

std::string StopTrialRequest::attempt() const {
    return say("engine.stop-trial", {{"trial", trialName(trial.kind)}});
}

QFuture<Result<void>> StopTrialRequest::perform(LocalEngine& engine) const {
    for (const auto& each : engine.parts().trials)
        if (each.what == trial)
            each.course->stop.request_stop();
    return ready(Answer());
}

std::string LookAtMachinesRequest::attempt() const {
    return say("machine.look");
}

QFuture<Result<std::vector<MachineNews>>>
LookAtMachinesRequest::perform(LocalEngine& engine) const {
    std::vector<Node> nodes;
    for (const MachineQuestion& question : look.questions) {
        const auto found = engine.find(QString::fromStdString(question.node));
        if (!found)
            return refuse<Answer>(found.error());
        nodes.push_back(*found);
    }
    return ready<Answer>(engine.parts().machines.look(look, nodes));
}

std::string LeaveMachinesRequest::attempt() const {
    return say("machine.leave");
}

QFuture<Result<void>> LeaveMachinesRequest::perform(LocalEngine& engine) const {
    engine.parts().machines.leave(viewer);
    return ready(Answer());
}

} // namespace rm
