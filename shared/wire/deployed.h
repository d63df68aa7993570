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
    /// "agents", "bundles", "data"; "blobs": what is in no folder of these; "checkpoints" and
    /// "runs", the rest of a run's folder; "notes": small files of Ringmaster; "other": not of
    /// Ringmaster.
    std::string kind;
    std::string name;    ///< of the folder, of the run; empty for blobs and notes
    int64_t bytes = 0;   ///< on its disk; what several share is counted once
    int64_t usedNs = 0;  ///< when it was last used, as far as is known; wall clock
    std::string keptFor; ///< why it stays; empty: nothing needs it
    std::string label;   ///< of an agent its release, of a bundle also the runtime, "0.1.0 cuda13";
                         ///< empty: not known
    std::string path = {}; ///< of checkpoints in a folder that the run's spec names: that folder
    std::string startedBy = {}; ///< of a run, as NodePlan's of its newest part; empty: not told
    bool operator==(const DeployedItem&) const = default;
};

/// DeployedItem::keptFor of what goes with its run.
inline constexpr const char* kItsRun = "its run";

/// What `ringmaster-agent prune` and `uninstall` print as JSON; see NODE_REPORT.md.
struct DeployedReport {
    std::string home;
    std::vector<DeployedItem> items;
    std::string inTheWay; ///< why nothing can be uninstalled now; empty: it can
    /// The same where nodes share the home, or the folder of runs; empty: unknown, or an uninstall.
    std::string homeId = {};
    std::string stateId = {};
    std::string stateDir = {}; ///< where its runs lie, in `runs`; empty: an agent that tells none
    /// Why an uninstall ended in the middle: `items` are those of the runs that are gone then.
    std::string failure = {};
    bool operator==(const DeployedReport&) const = default;
};

/// What was used within this time may be of a command that goes on.
inline constexpr int64_t kJustNowSeconds = 600;

/// Whether `text` names things by how their SHA-256 begins: 8 to 64 lower-case hex digits.
bool isBeginOfSha256(std::string_view text);

/// More are not listed, and are left for the next time.
inline constexpr size_t kMostDeployed = 2000;

std::string toJson(const DeployedReport& report);
/// kCorrupt: not such a text, or longer than any node's.
Result<DeployedReport> parseDeployedReport(std::string_view json);

/// Of what nothing needs, and of what stays.
int64_t unneededBytes(const DeployedReport& report);
int64_t neededBytes(const DeployedReport& report);
/// Of all items of that kind.
int64_t bytesOfKind(const DeployedReport& report, std::string_view kind);

} // namespace rm
