// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/clean_node.h"

#include "app/core/agent/agent_client.h"
#include "app/core/deploy/runtime.h"
#include "app/core/deploy/tree_sender.h"
#include "app/core/findings/text.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

namespace rm {

namespace {

/// The names of this release's trainers, as far as it has them. This computer runs them where they
/// are.
std::vector<std::string> currentBundles(const Node& node, const std::stop_token& stop) {
    std::vector<std::string> ids;
    std::vector<std::string> runtimes{"cpu"};
    for (const Runtime& runtime : gpuRuntimes())
        runtimes.push_back(runtime.name);
    for (const std::string& runtime : runtimes)
        if (const auto bundle = trainerBundle(runtime);
            bundle && !(node.isLocal && bundle->isInPlace))
            if (const auto hashed = hashTree(*bundle, stop))
                ids.push_back(hashed->tree.id);
    return ids;
}

} // namespace

Result<DeployedReport> cleanNode(HostPool& hosts, const Node& node, const NodeCleaning& cleaning,
                                 std::stop_token unwanted) {
    const HostWorker::Task<DeployedReport> task =
        [cleaning, keep = cleaning.isUninstall || !cleaning.agents.empty()
                              ? std::vector<std::string>()
                              : currentBundles(node, unwanted)](
            HostSession& session, const std::string& agent, std::stop_token stop) {
            return cleanOnNode(session, agent, cleaning, keep, stop);
        };
    auto answer = hosts.ownWorker(node)->ask<DeployedReport>(task, unwanted).get();
    if (cleaning.isUninstall && !cleaning.isPreview)
        hosts.renew(node); // also after one that ended in the middle
    return answer ? answer
                  : failAs(say("engine.clean-node", {{"node", node.name}}), answer.error());
}

namespace {

/// The folders that specs name, as far as they went with their runs.
Result<void> noteNamedRemoved(StoreWriter& writer, const DeployedReport& report,
                              const std::string& node) {
    for (const DeployedItem& item : report.items) {
        if (item.kind != "checkpoints" || item.path.empty() || !item.keptFor.empty())
            continue;
        const auto noted =
            writer.setFolderRemoved(QString::fromStdString(item.name), node, item.path);
        if (!noted && noted.error().code != ErrorCode::kNotFound) // another Ringmaster's run
            return noted;
    }
    return {};
}

/// The runs' folders that were gone when an uninstall ended in the middle.
Result<void> noteItemsRemoved(StoreWriter& writer, const DeployedReport& report,
                              const std::string& node) {
    for (const DeployedItem& item : report.items) {
        if (item.kind != "runs")
            continue;
        const auto noted = writer.setFolderRemoved(QString::fromStdString(item.name), node,
                                                   report.stateDir + "/runs/" + item.name);
        if (!noted && noted.error().code != ErrorCode::kNotFound) // another Ringmaster's run
            return noted;
    }
    return {};
}

} // namespace

Result<void> noteRunsRemoved(const ProcedureContext& context, const DeployedReport& report,
                             const std::vector<std::string>& nodes) {
    const auto noted = context.writer->call([&](StoreWriter& writer) -> Result<void> {
        for (const std::string& node : nodes) {
            RM_RETURN_IF_ERROR(report.failure.empty() ? writer.setRunsRemoved(node, report.stateDir)
                                                      : noteItemsRemoved(writer, report, node));
            RM_RETURN_IF_ERROR(noteNamedRemoved(writer, report, node));
        }
        return {};
    });
    context.changed({});
    return noted;
}

namespace {

/// Ends what lives of the run; a run that has ended by itself meanwhile is fine.
Result<bool> endLeftover(HostSession& session, const std::string& agent, const std::string& run,
                         const std::stop_token& stop) {
    RM_ASSIGN_OR_RETURN(const bool lived, stopOnNode(session, agent, run, stop));
    if (lived)
        return true;
    RM_ASSIGN_OR_RETURN(const RunOnNode known, runOnNode(session, agent, run, stop));
    if (known.attempt == 0)
        return fail(ErrorCode::kNotFound, say("engine.no-such-run", {{"run", run}}));
    return false;
}

} // namespace

Result<void> endLeftovers(HostPool& hosts, const Node& node, const std::vector<std::string>& runs,
                          const std::vector<std::string>& guarded, std::stop_token unwanted) {
    const HostWorker::Task<bool> task = [runs, guarded](HostSession& session,
                                                        const std::string& agent,
                                                        std::stop_token stop) -> Result<bool> {
        for (const std::string& run : guarded) {
            const auto known = runOnNode(session, agent, run, stop);
            if (known && known->isAlive)
                return fail(ErrorCode::kInvalid, say("engine.of-another", {{"run", run}}));
        }
        bool any = false;
        for (const std::string& run : runs) {
            RM_ASSIGN_OR_RETURN(const bool lived, endLeftover(session, agent, run, stop));
            any = any || lived;
        }
        return any;
    };
    const auto ended = hosts.ownWorker(node)->ask<bool>(task, unwanted).get();
    if (!ended)
        return failAs(say("engine.end-leftovers", {{"node", node.name}}), ended.error());
    return {};
}

} // namespace rm
