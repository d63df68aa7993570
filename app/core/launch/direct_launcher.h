// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/launch_rows.h"
#include "app/core/launch/launcher.h"
#include "app/core/launch/run_trainer.h"

namespace rm {

/// Goes to each node itself, over SSH or on this computer, as its HostSession is, and lets the
/// agent there start the ranks. Every node of the request is one part of the run; the two kinds
/// may be mixed.
class DirectLauncher : public Launcher {
public:
    DirectLauncher(Request request, HostPool& hosts, ProgressSink progress, std::stop_token stop);

    Result<Preflight> preflight(const PreflightParts& parts) override;
    Result<std::vector<Placement>> check() override;
    std::vector<CheckRow> warnings() const override;
    std::string runtime() const override { return m_target.runtime; }
    AttemptIdentity identity() const override;
    /// Takes no time where memoryBound() of the ranks is below what is free on every node.
    std::string whatIsTooLarge() override;
    Result<void> deploy() override;
    Result<void> start() override;
    std::string meeting() const override;
    void abandon() override;

    /// After deploy(), instead of start(): runs the trainer as one process on every node at once,
    /// to its end, as `callOf` the node's plan says. Returns what each has printed, by node. Once
    /// one has failed the others are ended, and its error is the answer. kUnavailable: one did not
    /// end in time.
    Result<std::vector<std::string>>
    runTrainer(const std::function<TrainerCall(const NodePlan&)>& callOf,
               std::chrono::milliseconds timeout);
    const std::vector<PlacedNode>& nodes() const { return m_nodes; } ///< after check()
    /// After deploy(): the spec as that node's ranks would get it.
    std::string specOn(size_t node) const;
    bool mayHaveLeftRanks() const override { return m_mayHaveLeftRanks; }

protected:
    template <class T>
    using Task = HostWorker::Task<T>;

    /// Runs `taskOf(node index)` on these nodes at once; the answers in their order, or the first
    /// error in it once all have answered. `onError` gets each error as it happens, on any thread.
    template <class T>
    Result<std::vector<T>>
    onNodes(const std::vector<size_t>& nodes, const std::stop_token& unwanted,
            const std::function<Task<T>(size_t)>& taskOf, const OnTaskError& onError = {});
    template <class T>
    Result<std::vector<T>> onEveryNode(const std::stop_token& unwanted,
                                       const std::function<Task<T>(size_t)>& taskOf,
                                       const OnTaskError& onError = {});
    PreflightParts partsOfCheck() const;
    /// Finds out whether the other nodes have the folder where the first one left the mark.
    void findMark(Preflight& preflight, const FolderQuestion& question);
    /// Takes away the mark that the first node left.
    void removeMark(FolderQuestion question);
    /// Says which ranks the nodes take, and on what they compute.
    Result<void> checkAndPlace();
    /// Sends one tree to every node, and once to those that share a home: the folder's path on
    /// each.
    Result<std::vector<std::string>> sendTree(const LocalTree& tree, const std::string& stage);
    RunSpec neededSpec() const;
    bool isOnSeveral() const { return m_workers.size() > 1; }
    bool mayBeTooLarge() const;
    Result<std::vector<NodePlan>> planAtMeeting();
    Result<void> startAll(const std::vector<NodePlan>& plans);
    Result<void> refuseProblems() const;
    Result<void> checkStop() const;
    void report(const std::string& stage);
    OnConnectPause pauseReporter() const;
    std::string purpose() const;
    const std::string& nodeName(size_t node) const { return m_request.nodes[node].node.name; }

    Request m_request;
    std::vector<std::shared_ptr<HostWorker>> m_workers; ///< of its nodes
    ProgressSink m_progress;
    std::stop_token m_stop;
    Preflight m_preflight; ///< of check()
    std::vector<PlacedNode> m_nodes;
    std::vector<int> m_ranks; ///< per node
    Target m_target;
    std::string m_stage; ///< as reported last
    std::vector<std::string> m_bundles;
    std::string m_trainer; ///< trainerIdentity()
    Rendezvous m_rendezvous;
    bool m_isDeployed = false;
    bool m_mayHaveLeftRanks = false;
    std::vector<std::string> m_stagedData; ///< per node: the folder there, empty: not staged
};

} // namespace rm
