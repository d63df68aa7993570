// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/node_outlook.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/progress.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm {

using ProgressSink = std::function<void(const Progress&)>;

/// One launch of one attempt, as linear blocking steps in this order: check(), deploy(), where it
/// may be too large whatIsTooLarge(), start().
/// Used by one thread that is no host's worker.
class Launcher {
public:
    struct Party {
        std::shared_ptr<HostWorker> worker;
        int ranks = 0; ///< asked for; 0: see PlacedNode
    };

    /// `nodes` is not empty; its first is the node of rank 0. `progress` is called on any thread.
    /// After `stop` each step ends soon with kUnavailable, save that ranks are never half started:
    /// what start() has begun on a node is awaited, and ended there.
    Launcher(RunSpec spec, std::vector<Party> nodes, PlanRequest request, ProgressSink progress,
             std::stop_token stop = {});

    /// Connects to every node at once, probes it, looks for its data (kNotFound names every node
    /// and path where it lacks), and settles device and ranks.
    Result<void> check();
    /// After check(): ranks per node, in order.
    const std::vector<int>& ranks() const { return m_ranks; }

    /// After check(): memoryBound() of its ranks is more than a node has free. What is below it on
    /// every node need not be estimated, which takes longer than a small launch; else
    /// whatIsTooLarge() finds out.
    bool mayBeTooLarge() const;

    /// Sends trainer and staged data to the nodes that lack them. Once is enough.
    Result<void> deploy();

    /// After deploy(): lets all nodes' trainers estimate the memory that their ranks need, which
    /// takes some seconds. For the first node where that is not free a sentence that names it, what
    /// is needed, what is free and what to do. Empty: all fits, as far as can be told.
    std::string whatIsTooLarge();

    /// Finds where the ranks meet and starts them. When one node fails, the started ones are ended.
    Result<void> start();

    /// Ends the ranks that start() has started, on every node that answers.
    void abandon();

private:
    template <class T>
    using Task = HostWorker::Task<T>;

    /// Runs `taskOf(node index)` on every node at once; the answers by node, or the first error
    /// by node order once all have answered.
    template <class T>
    Result<std::vector<T>> onEveryNode(const std::stop_token& unwanted,
                                       const std::function<Task<T>(size_t)>& taskOf);
    /// Sends one tree to every node: the folder's path on each.
    Result<std::vector<std::string>> sendTree(const LocalTree& tree, const std::string& what);
    RunSpec neededSpec() const;
    Result<LocalTree> stagedTree() const;
    std::string specOn(size_t node) const;
    Result<void> startAll(const std::vector<NodePlan>& plans);
    Result<void> refuseProblems(const std::vector<NodeOutlook>& outlooks) const;
    Result<void> checkStop() const;
    void report(const QString& stage);
    OnConnectPause pauseTeller() const;
    std::string nodeName(size_t node) const { return m_parties[node].worker->node().name; }

    RunSpec m_spec;
    std::vector<Party> m_parties;
    PlanRequest m_request;
    ProgressSink m_progress;
    std::stop_token m_stop;
    std::vector<PlacedNode> m_nodes;
    std::vector<int> m_ranks;
    std::string m_device;
    QString m_stage; ///< as reported last
    std::vector<std::string> m_bundles;
    bool m_isDeployed = false;
    std::vector<std::string> m_stagedData; ///< per node: the folder there, empty: not staged
};

} // namespace rm
