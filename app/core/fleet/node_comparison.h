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
    std::vector<std::string> shared; ///< a sentence for each folder that some of them share
    bool operator==(const NodeComparison&) const = default;
};
NodeComparison compareNodes(const std::vector<NodeCheck>& checks);

/// The other nodes which have the same folder of trainers and data, or of runs where these count,
/// by what their checks found: what is deleted there on one is gone for all.
std::vector<std::string> sharersOf(const std::string& node, const std::vector<NodeCheck>& checks,
                                   bool withRuns);
/// The same of the folder of runs alone.
std::vector<std::string> runSharersOf(const std::string& node,
                                      const std::vector<NodeCheck>& checks);

/// Of a run that this Ringmaster does not know: "of another Ringmaster, started by me@laptop".
/// Empty: it knows it, or the item is no run.
std::string otherRunMark(const DeployedItem& item, const KnownRuns& known);
/// Those of them that go: "gpt-1, started by me@laptop".
std::vector<std::string> otherRunsThatGo(const DeployedReport& report, const KnownRuns& known);

/// "node-1, node-2 and 60 more".
std::string someOf(const std::vector<std::string>& nodes, size_t most = 4);

} // namespace rm
