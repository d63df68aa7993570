// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/node_checker.h"

#include "app/core/agent/agent_client.h"
#include "app/core/deploy/deploy.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/node/chosen_gpus.h"
#include "shared/io/clock.h"

#include <QString>

#include <algorithm>

namespace rm {

namespace {

/// Microseconds of the fastest round trip of a byte that `cat` on the node echoes; -1: none came
/// back.
int64_t measureRoundTripUs(HostSession& session, const std::stop_token& stop) {
    constexpr int kRounds = 5;
    auto echo = session.start("cat", {}, stop);
    if (!echo)
        return -1;
    Waker waker;
    const std::stop_callback wake(stop, [&waker] { waker.wake(); });
    int64_t best = -1;
    for (int round = 0; round < kRounds; ++round) {
        const std::byte byte{'.'};
        const int64_t before = monotonicNowNs();
        if (!(*echo)->write(std::span(&byte, 1)))
            return best;
        const auto back = (*echo)->read(std::chrono::seconds(5), &waker);
        if (!back || back->data.empty())
            return best;
        const int64_t us = (monotonicNowNs() - before) / 1000;
        best = best < 0 ? us : std::min(best, us);
    }
    return best;
}

/// The rows before it judge the chosen GPUs alone.
CheckRow choiceRow(const Node& node, const NodeReport& report) {
    if (const std::string missing = missingGpus(node, report); !missing.empty())
        return finding("chosen-gpus.missing",
                       {{"missing", missing}, {"fix", fixOfMissingGpus(node, report)}});
    return finding("chosen-gpus", {{"chosen", std::to_string(node.gpus.size())},
                                   {"all", std::to_string(report.gpus.size())}});
}

CheckRow keyFilesRow(const std::vector<std::string>& problems, const std::string& node) {
    return finding("key-files", {{"problems", joined(problems)},
                                 {"command", "ringmaster nodes edit " + node + " --key"}});
}

void addSlurm(NodeCheck& check, HostSession& session, const Node& node, const std::string& agent,
              const std::stop_token& stop) {
    const auto slurm = slurmOnNode(session, agent, stop);
    if (!slurm) {
        check.rows.push_back(finding("slurm.unanswered", {{"error", slurm.error().message}}));
        return;
    }
    const auto rows = rowsOfSlurm(*slurm, partitionOf(node.sbatch));
    check.rows.insert(check.rows.end(), rows.begin(), rows.end());
}

/// The bytes of the trainer that it lacks; nullopt: no trainer fits there, or it is not known.
std::optional<int64_t> trainerToSend(HostSession& session, const std::string& agent,
                                     const std::string& runtime, const std::stop_token& stop) {
    const auto missing = trainerBundle(runtime).and_then(
        [&](const LocalTree& tree) { return missingBytes(session, agent, tree, stop); });
    return missing ? std::optional(*missing) : std::nullopt;
}

/// Fills the check from a session; false ends it.
bool probe(NodeCheck& check, HostSession& session, const Node& node, const CheckOrder& order,
           const std::stop_token& stop) {
    const auto agent = deployAgent(session, node, stop);
    if (!agent) {
        check.rows.push_back(agentFaultRow(agent.error(), AgentFault::kNotSent));
        return false;
    }
    if (order.progress)
        order.progress(CheckStage::kLook);
    const int64_t before = wallNowNs();
    auto report = probeNode(session, *agent, stop);
    const int64_t after = wallNowNs();
    if (!report) {
        check.rows.push_back(agentFaultRow(report.error(), AgentFault::kNotRun));
        return false;
    }
    check.rows.push_back(finding("agent.runs", {{"release", report->release}, {"path", *agent}}));
    if (auto others = otherAgentsRow(*report, node.name))
        check.rows.push_back(std::move(*others));
    // The node read its clock at some moment between the two.
    const int64_t middle = before + (after - before) / 2;
    CheckContext context{report->wallNs - middle, (after - before) / 2, order.runs, {}, node};
    context.lastNetwork = order.lastNetwork;
    if (isTight(*report))
        context.toSend = trainerToSend(session, *agent, runtimeFor(*report, context), stop);
    auto rows = rowsOf(*report, context);
    if (node.isSlurm) // nothing computes on a login node, or ends when someone logs out there
        std::erase_if(rows,
                      [](const CheckRow& row) { return row.id == "gpus" || row.id == "logout"; });
    check.rows.insert(check.rows.end(), rows.begin(), rows.end());
    if (!node.gpus.empty())
        check.rows.push_back(choiceRow(node, *report));
    check.report = std::move(*report);
    if (node.isSlurm)
        addSlurm(check, session, node, *agent, stop);
    return true;
}

} // namespace

NodeCheck checkNodeNow(const Node& node, const CheckOrder& order, std::stop_token stop) {
    const auto report = [&order](CheckStage stage) {
        if (order.progress)
            order.progress(stage);
    };
    NodeCheck check;
    check.node = node.name;
    check.checkedNs = wallNowNs();
    report(CheckStage::kConnect);
    auto session = openSessionPatiently(node, order.credentials, stop, {}, kRequestPatience);
    if (!session) {
        check.failure = session.error();
        check.rows.push_back(refusedRow(session.error(), node.name));
        return check;
    }
    if (!node.isLocal)
        check.roundTripUs = measureRoundTripUs(**session, stop);
    check.rows.push_back(
        connectionRow((*session)->where(), (*session)->isLocal(), check.roundTripUs));
    if (const auto problems = (*session)->keyProblems(); !problems.empty())
        check.rows.push_back(keyFilesRow(problems, node.name));
    report(CheckStage::kSendAgent);
    if (!probe(check, **session, node, order, stop))
        return check;
    check.ready = std::ranges::none_of(
        check.rows, [](const CheckRow& row) { return row.state == CheckRow::State::kBad; });
    return check;
}

} // namespace rm
