// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "shared/wire/deployed.h"

#include <string>
#include <vector>

namespace rm {

/// A fact that is not the same on all nodes.
struct NodeDifference {
    struct Side {
        std::string value;              ///< "580.65.06"; "none", "not told"
        std::vector<std::string> nodes; ///< in the order of the checks
        bool operator==(const Side&) const = default;
    };
    std::string what;        ///< "Driver"
    std::vector<Side> sides; ///< most nodes first
    bool operator==(const NodeDifference&) const = default;
};

/// What the checks of several nodes say together. Nodes without a report are left out.
struct NodeComparison {
    int compared = 0; ///< nodes
    std::vector<NodeDifference> differences;
    /// A sentence for each machine that has several names, and each folder that some share.
    std::vector<std::string> shared;
    bool operator==(const NodeComparison&) const = default;
};
/// `others`: what is known of nodes that are not compared, but may be the same machine as one that
/// is; those which are compared may be among them.
NodeComparison compareNodes(const std::vector<NodeCheck>& checks,
                            const std::vector<NodeCheck>& others = {});

/// The names of each machine that is there more than once, but for login nodes of Slurm clusters,
/// which train elsewhere.
std::vector<std::vector<std::string>> namesOfMachines(const std::vector<NodeCheck>& checks);

/// The other nodes which have the same folder of trainers and data, or of runs where these count,
/// by what their checks found: what is deleted there on one is gone for all.
std::vector<std::string> sharersOf(const std::string& node, const std::vector<NodeCheck>& checks,
                                   bool withRuns);
/// The same of the folder of runs alone.
std::vector<std::string> runSharersOf(const std::string& node,
                                      const std::vector<NodeCheck>& checks);

/// The mark of a run that this Ringmaster does not know: "of another Ringmaster, started by
/// me@laptop". Empty: it knows it, or the item is no run.
std::string otherRunMark(const DeployedItem& item, const KnownRuns& known);
/// The runs of other Ringmasters that go: "gpt-1, started by me@laptop".
std::vector<std::string> otherRunsThatGo(const DeployedReport& report, const KnownRuns& known);

} // namespace rm
