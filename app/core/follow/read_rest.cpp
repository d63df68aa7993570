// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/read_rest.h"

#include "app/core/agent/agent_client.h"
#include "app/core/findings/text.h"
#include "app/core/follow/node_follower.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace rm {

namespace {

/// Follows the node's part of the target's run to its end, for which this thread waits.
Result<void> followToEnd(const ProcedureContext& context, const FollowTarget& target,
                         const std::stop_token& unwanted) {
    constexpr auto kPatience = std::chrono::minutes(10);
    constexpr auto kLook = std::chrono::milliseconds(100);
    std::promise<Result<void>> answer;
    auto done = answer.get_future();
    std::atomic<bool> isRefused = false;
    NodeFollower::Sink sink;
    sink.commit = [&](IngestBatch batch) {
        const auto stored = context.writer->call(
            [&](StoreWriter& writer) { return writer.ingest(std::move(batch)); });
        context.changed(target.run);
        return stored;
    };
    sink.linkChanged = [](const LiveState::NodeLink&) {};
    sink.loginRefused = [&](ConnectFailure::Need) { isRefused = true; };
    sink.commandState = [](const CommandState&) {};
    sink.ended = [&](Result<void> how) { answer.set_value(std::move(how)); };
    NodeFollower follower(target, context.hosts->login(target.node), context.database, sink);
    follower.believeMissing(true);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (done.wait_for(kLook) == std::future_status::timeout)
        if (unwanted.stop_requested() || isRefused || std::chrono::steady_clock::now() > until)
            return fail(ErrorCode::kUnavailable,
                        say(isRefused ? "run.login-refused" : "run.no-end-in-time"));
    return done.get();
}

Result<bool> endOnNode(const ProcedureContext& context, const Node& node,
                       const DeclaredLostNode& declaredLost, std::stop_token unwanted) {
    const auto ended =
        context.hosts->ownWorker(node)
            ->post<bool>([id = declaredLost.run.toStdString()](
                             HostSession& session, const std::string& agent,
                             std::stop_token stop) { return stopOnNode(session, agent, id, stop); },
                         std::move(unwanted))
            .get();
    if (ended && *ended) {
        IngestBatch batch;
        batch.run = declaredLost.run;
        batch.records = {Event{-1, -1, wallNowNs(), Severity::kInfo, "given-up-node-ended",
                               say("run.lost-node-ended", {{"node", declaredLost.node}})}};
        (void)context.writer->call([&](StoreWriter& writer) { return writer.ingest(batch); });
        context.changed(declaredLost.run);
    }
    return ended;
}

/// Calls a function for each of the nodes that answers at once, all at the same time.
void onReachable(const ProcedureContext& context, const std::vector<std::string>& names,
                 const std::function<void(const Node&, std::stop_token)>& act) {
    constexpr auto kReachable = std::chrono::seconds(5);
    std::stop_source tooLate;
    const std::stop_callback cancelled(context.token->stop(), [&] { tooLate.request_stop(); });
    std::vector<std::future<void>> begun;
    for (const std::string& name : names)
        if (const auto node = nodeCalled(context, name))
            begun.push_back(std::async(std::launch::async, act, *node, tooLate.get_token()));
    const auto deadline = std::chrono::steady_clock::now() + kReachable;
    for (const auto& one : begun)
        one.wait_until(deadline);
    tooLate.request_stop();
}

} // namespace

Result<void> fetchRest(const ProcedureContext& context, const Node& node, const QString& run,
                       std::stop_token unwanted, std::chrono::seconds missingFor) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    for (const int index : reader->indicesOf(run, node.name)) {
        FollowTarget target{node, run, index};
        target.reportsLink = false;
        target.missingFor = missingFor;
        // What is not there holds nothing.
        const auto done = followToEnd(context, target, unwanted);
        if (!done && done.error().code != ErrorCode::kNotFound)
            return failAs(say("run.read-rest", {{"node", node.name}, {"run", run.toStdString()}}),
                          done.error());
    }
    return {};
}

void fetchLate(const ProcedureContext& context, StoreReader& reader, const QString& run) {
    const auto summary = reader.run(run);
    if (!summary || !hasEnded(summary->state))
        return; // whoever follows it reads that
    const auto declaredLost = reader.declaredLost(run);
    std::vector<std::string> names;
    for (const RunNode& node : summary->nodes)
        if (std::ranges::find(declaredLost, DeclaredLostNode{run, node.nodeName}) ==
            declaredLost.end())
            names.push_back(node.nodeName);
    onReachable(context, names, [&](const Node& node, std::stop_token stop) {
        static_cast<void>(fetchRest(context, node, run, std::move(stop), std::chrono::seconds(0)));
    });
}

Result<bool> endDeclaredLost(const ProcedureContext& context, const Node& node,
                             const DeclaredLostNode& declaredLost, std::stop_token unwanted,
                             const std::function<void(const Result<bool>&)>& onEnded) {
    const auto ended = endOnNode(context, node, declaredLost, unwanted);
    if (onEnded)
        onEnded(ended);
    if (!ended)
        return ended;
    // The steps before the checkpoint from which the run went on count, whichever node has them.
    RM_RETURN_IF_ERROR(fetchRest(context, node, declaredLost.run, std::move(unwanted)));
    RM_RETURN_IF_ERROR(context.writer->call(
        [&](StoreWriter& writer) { return writer.setDeclaredLostEnded(declaredLost); }));
    context.changed(declaredLost.run);
    return ended;
}

void endReachable(const ProcedureContext& context, StoreReader& reader, const QString& run) {
    std::vector<std::string> names;
    for (const DeclaredLostNode& each : reader.declaredLost(run))
        names.push_back(each.node);
    onReachable(context, names, [&](const Node& node, std::stop_token stop) {
        static_cast<void>(endOnNode(context, node, {run, node.name}, std::move(stop)));
    });
}

} // namespace rm
