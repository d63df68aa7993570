// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/deployed.h"
#include "shared/wire/node_report.h"
#include "trainer/agent/run_dir/folders.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// A launch that has not started its ranks yet may need what was used within this time.
inline constexpr int64_t kYoungSeconds = 24 * 3600;

struct PruneOrder {
    bool preview = false;                 ///< only say what would go
    bool all = false;                     ///< whether needed or not, unless a process uses it
    int64_t youngSeconds = kYoungSeconds; ///< what was used within this time stays
    std::set<std::string> current;        ///< folders that the asking release uses
    /// The beginnings of names of agents that may go; nothing else is looked at. Empty: all.
    std::vector<std::string> agents = {};
};

/// `prune [--preview] [--older-than SECONDS] [--keep NAME]... [--agent ID]...`: removes from this
/// node's home what no run and no process of the node needs, and lists all that lies there, in the
/// order of kinds and of use: a DeployedReport, with what the runs have there. kUnavailable while
/// files are being received. What the release before this one used stays, or of this release the
/// build before, so that one can go back to it.
Result<DeployedReport> pruneDeployed(const Folders& folders, const PruneOrder& order);

/// The agents that lie here beside this one, and why they stay. What cannot be read is left out.
std::vector<AgentReport> otherAgents(const Folders& folders);

/// The same as pruneDeployed(), for a caller with BlobStore::closeToReceivers() of HOME/blobs.
Result<DeployedReport> pruneClosed(const Folders& folders, const PruneOrder& order);

} // namespace rm
