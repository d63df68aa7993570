// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/node_report.h"

#include <string>
#include <vector>

namespace rm {

/// A machine that can train. "This computer" is always one (isThisComputer()).
struct Node {
    std::string name; ///< unique, shown; [A-Za-z0-9._-], "this-computer" for the local one
    bool isLocal = false;
    std::string sshHost;      ///< ssh_config alias or address; the rest only overrides
    std::string user;         ///< empty: ssh_config or the login name
    int port = 0;             ///< 0: ssh_config or 22
    std::string identityFile; ///< empty: agent and ssh_config
    /// For parseJumpHosts(), passed on the way as with `ssh -J`; empty: as ssh_config says.
    std::string jumpHost = {};

    std::vector<std::string> groups = {}; ///< names by which it is chosen together with others
    /// The only ones to train on, in the order of local ranks, as `nvidia-smi -L` numbers them or
    /// by UUID; empty: all.
    std::vector<std::string> gpus = {};
    std::vector<std::string> environment = {}; ///< "NAME=value" for its ranks; a spec's wins
    std::string notes = {};
    double pricePerHour = 0; ///< in a currency that the person knows; 0: not known
    /// Lines of nodes.toml that only a later release understands; kept as they are.
    std::string otherKeys = {};
    /// It is the login node of a Slurm cluster (isLocal: this computer is one), whose nodes train.
    bool isSlurm = false;
    std::vector<std::string> sbatch = {}; ///< options for each of its jobs: "--partition=gpu"

    bool operator==(const Node&) const = default;
};

/// The partition that these options of sbatch ask for ("--partition=gpu", "-p gpu"), the first if
/// they name several; empty: none.
std::string partitionOf(const std::vector<std::string>& sbatch);

inline constexpr const char* kLocalNodeName = "this-computer";
/// The node that needs no SSH.
Node localNode();
/// And no Slurm cluster whose login node this computer is.
bool isThisComputer(const Node& node);

/// Whether both are the same machine, reached in the same way, as far as their settings say.
bool areReachedAlike(const Node& a, const Node& b);

/// Between which of these nodes the network is measured where nobody names any: not the login nodes
/// of Slurm clusters, where no rank runs, and without this computer where there are two others:
/// they cannot reach a laptop behind a router, which says nothing of how they reach each other.
std::vector<Node> measuredNodes(const std::vector<Node>& all);

/// The groups of all these nodes, each once, in alphabetical order.
std::vector<std::string> groupsOf(const std::vector<Node>& nodes);

} // namespace rm
