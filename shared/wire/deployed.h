// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Something that was deployed to a node and lies under its home.
struct DeployedItem {
    /// "agents", "bundles", "data"; "blobs": those in no folder of these; "checkpoints", and "runs"
    /// for the rest of a run's folder; "notes": small files of Ringmaster; "other": not
    /// Ringmaster's.
    std::string kind;
    std::string name;      ///< the folder's or the run's; empty for blobs and notes
    int64_t bytes = 0;     ///< on its disk; what several share is counted once
    int64_t usedNs = 0;    ///< when it was last used, as far as is known; wall clock
    std::string keptFor;   ///< why it stays; empty: nothing needs it
    std::string label;     ///< an agent's release, a bundle's release and runtime ("0.1.0 cuda13");
                           ///< empty: not known
    std::string path = {}; ///< for checkpoints in a folder that the run's spec names: that one
    std::string startedBy = {}; ///< for a run: NodePlan's of its newest part; empty: not told
    bool operator==(const DeployedItem&) const = default;
};

/// DeployedItem::keptFor of an item that goes with its run.
inline constexpr const char* kItsRun = "its run";

/// The answer of `ringmaster-agent prune` and `uninstall`, as JSON; see NODE_REPORT.md.
struct DeployedReport {
    std::string home;
    std::vector<DeployedItem> items;
    std::string inTheWay; ///< why nothing can be uninstalled now; empty: it can
    /// Equal on nodes that share the home, or the folder of runs; empty: unknown, or an uninstall.
    std::string homeId = {};
    std::string stateId = {};
    std::string stateDir = {}; ///< where its runs lie, in `runs`; empty: an agent that tells none
    /// Why an uninstall ended in the middle: `items` are those of the runs that are gone then.
    std::string failure = {};
    bool operator==(const DeployedReport&) const = default;
};

/// A command that still goes on may need what was used within this time.
inline constexpr int64_t kJustNowSeconds = 600;

/// Whether `text` names things by how their SHA-256 begins: 8 to 64 lower-case hex digits.
bool isBeginOfSha256(std::string_view text);

/// The most items that are listed; more are left for the next time.
inline constexpr size_t kMostDeployed = 2000;

std::string toJson(const DeployedReport& report);
/// kCorrupt: not such a text, or longer than any node's.
Result<DeployedReport> parseDeployedReport(std::string_view json);

/// Bytes of the items that nothing needs, and of those that stay.
int64_t unneededBytes(const DeployedReport& report);
int64_t neededBytes(const DeployedReport& report);
/// Bytes of all items of that kind.
int64_t bytesOfKind(const DeployedReport& report, std::string_view kind);

} // namespace rm
