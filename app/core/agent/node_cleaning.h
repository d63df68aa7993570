// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/deployed.h"

#include <string>
#include <vector>

namespace rm {

/// How a node is rid of what was deployed there and is not needed any more.
struct NodeCleaning {
    bool isPreview = true;    ///< only say what would go
    bool withRecent = false;  ///< also what was used within the last day, though not just now
    bool isUninstall = false; ///< all that Ringmaster put there, needed or not, if nothing runs
    bool withRuns = false;    ///< then also the folders of the runs, with their checkpoints
    /// Agents that may go, by the first 8 digits or more of their SHA-256. Nothing else is looked
    /// at then. They may have been used lately, though not just now.
    std::vector<std::string> agents = {};
    bool operator==(const NodeCleaning&) const = default;
};

/// What a node said of what was deployed to it.
struct CleanedNode {
    std::string node;
    Result<DeployedReport> report;
    std::vector<std::string> sharers = {}; ///< other nodes with the same folder of that
    /// The one of these that tells of the folder and is to clean it; empty: this node does.
    std::string reportedBy = {};
};

/// Lets one of several nodes that share a folder tell of it: the one that keeps most, as it may see
/// runs and processes that the others do not. Of runs the first one tells, by the same rule.
void reportSharedOnce(std::vector<CleanedNode>& nodes);

/// Whether the item is of a run, whose folder lies with the state and not with deployed files.
inline bool isOfRun(const DeployedItem& item) {
    return item.kind == "runs" || item.kind == "checkpoints";
}

/// A kind of DeployedItem in words: "trainer".
inline std::string deployedWord(const std::string& kind) {
    if (kind == "agents")
        return "agent";
    if (kind == "bundles")
        return "trainer";
    if (kind == "data")
        return "staged data";
    if (kind == "runs")
        return "run";
    if (kind == "checkpoints")
        return "checkpoints";
    return kind == "other" ? "other files" : kind == "notes" ? "notes" : "loose files";
}

/// The item's name: "trainer 0.1.0 cuda13".
inline std::string deployedWord(const DeployedItem& item) {
    return deployedWord(item.kind) + (item.label.empty() ? "" : " " + item.label);
}

/// The item's name, with the run if it is a run's: "checkpoints of gpt-1", and where its spec names
/// the folder "checkpoints of gpt-1 in /ckpt/gpt-1".
inline std::string namedWord(const DeployedItem& item) {
    if (!isOfRun(item))
        return deployedWord(item);
    return deployedWord(item) + (item.kind == "checkpoints" ? " of " : " ") + item.name +
           (item.path.empty() ? "" : " in " + item.path);
}

/// "trainer 1.2 GB, run 30 MB": the disk by kind, without what is not there. `words` says a size.
template <class Words>
std::string diskByKind(const DeployedReport& report, Words words) {
    std::string text;
    for (const char* kind : {"agents", "bundles", "data", "blobs", "checkpoints", "runs", "other"})
        if (const int64_t bytes = bytesOfKind(report, kind); bytes > 0)
            text += (text.empty() ? "" : ", ") + deployedWord(kind) + " " + words(bytes);
    return text;
}

} // namespace rm
