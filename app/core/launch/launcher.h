// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/attempt_identity.h"
#include "app/core/findings/check_row.h"
#include "app/core/launch/node_preflight.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/progress.h"
#include "app/core/network/network_matrix.h"
#include "app/core/remote/host.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

class HostPool;

using ProgressSink = std::function<void(const Progress&)>;

/// A node of the list, chosen for a launch.
struct PlacedParty {
    Node node;
    int ranks = 0; ///< asked for; 0: see PlacedNode
};

/// How the ranks of one attempt come to run on the nodes that were chosen for it. The engine and
/// its procedures know a launch by this interface alone.
///
/// A launch is check(), whatIsTooLarge() where that is to be refused, deploy(), start(), in this
/// order; abandon() takes it back. All calls come from one thread, which is neither the GUI's nor
/// a HostWorker's, and block: the checks for seconds, deploy() for as long as files travel.
///
/// start() returns when the attempt needs this program no longer: its ranks run, or something on
/// the nodes will start them without us. From then on it is followed and commanded by the agent
/// alone: on each node that check() named, `ringmaster-agent attach RUN_ID` serves the journals of
/// that part's ranks and takes their commands (shared/wire/PROTOCOL.md), for this Ringmaster or
/// the next. While ranks are still waited for, it says that they are supervised; else the part
/// counts as lost.
///
/// Errors name the node, the cause and what to do. kDenied of check(): a node lets nobody in; a
/// person is asked, and the launch begins again. After a stop was requested each call ends soon
/// with kUnavailable, save that ranks are never half started.
class Launcher {
public:
    /// One attempt of a run that is to be launched.
    struct Request {
        RunSpec spec;
        std::vector<PlacedParty> nodes; ///< not empty; ranks are numbered in this order
        PlanRequest attempt;
        /// False: only the sizes of a model are wanted. Data and checkpoints need not be there, nor
        /// are they sent; tokenizer and weights to start from are, as they tell sizes.
        bool readsData = true;
        /// What launches that want its nodes meanwhile are told they wait for: "the self-test".
        /// Empty: the launch of its run.
        std::string purpose = {};
        ConnectPatience patience = kLoginPatience; ///< with its nodes
        bool wantsWarnings = true;                 ///< check() also looks for what warnings() tells
        /// The last measurement, between whichever nodes; without nodes: none.
        NetworkMatrix lastNetwork = {};
    };

    virtual ~Launcher() = default;

    /// Finds out what check() would meet on each node of the request, with these parts (see there
    /// what is written for it). Nothing is begun.
    virtual Result<Preflight> preflight(const PreflightParts& parts) = 0;

    /// Checks that the nodes can be reached and have what the spec names (kNotFound says all that
    /// is missing), and on which device they compute. The answer: the run's parts in the order of
    /// their ranks, which are counted now. A node of the request may stand for several parts.
    /// Leaves no trace of the run.
    virtual Result<std::vector<Placement>> check() = 0;

    /// After check(), if the request wants them: the rows of launchRows() that are not good. Bad
    /// ones have prevented the launch: check() refuses them.
    virtual std::vector<CheckRow> warnings() const = 0;

    /// After check(): what the ranks will be run by, "cpu" or the name of PyTorch's runtime on
    /// GPUs, such as "cuda12".
    virtual std::string runtime() const = 0;

    /// After deploy(): what another launch of the spec has to have alike. What cannot be told, as
    /// of data that take long to look at, is empty.
    virtual AttemptIdentity identity() const = 0;

    /// After check(): a sentence that names the first node with too little memory, what is needed,
    /// what is free and what to do. Empty: all fits, as far as can be told. May deploy() for it.
    virtual std::string whatIsTooLarge() = 0;

    /// After check(): brings trainer and staged data to where the ranks will find them. What is
    /// there already is not sent again.
    virtual Result<void> deploy() = 0;

    /// After check(): the script that start() will hand to the batch system of the nodes, as it is.
    /// Empty: they have none.
    virtual std::string batchScript() const { return {}; }

    /// After deploy(). When it fails, nothing of the attempt runs, unless mayHaveLeftRanks().
    virtual Result<void> start() = 0;

    /// After start(): a sentence on where ranks of several nodes meet and by which interfaces, for
    /// the run's events. Empty: on one node, or not known.
    virtual std::string meeting() const { return {}; }

    /// After start(): ends what it began, wherever that can be reached.
    virtual void abandon() = 0;

    /// Whether ranks may run that a node was asked to start, and was not heard to have ended.
    virtual bool mayHaveLeftRanks() const = 0;
};

/// The one place that decides which launcher serves a request. `progress` is called on any thread.
std::unique_ptr<Launcher> makeLauncher(Launcher::Request request, HostPool& hosts,
                                       ProgressSink progress, std::stop_token stop);

} // namespace rm
