// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/deployed.h"

#include <string>

namespace rm {

/// How a node is rid of what was deployed there and is not needed any more.
struct NodeCleaning {
    bool isPreview = true;    ///< only say what would go
    bool withRecent = false;  ///< also what was used within the last day, though not just now
    bool isUninstall = false; ///< all that Ringmaster put there, needed or not, if nothing runs
    bool withRuns = false;    ///< then also the folders of the runs, with their checkpoints
    bool operator==(const NodeCleaning&) const = default;
};

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

/// What it is: "trainer 0.1.0 cuda13".
inline std::string deployedWord(const DeployedItem& item) {
    return deployedWord(item.kind) + (item.label.empty() ? "" : " " + item.label);
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
