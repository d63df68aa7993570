// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"

#include <string>
#include <vector>

namespace rm {

/// A run's checkpoints on this node, and the line of its newest attempt.
struct RunCheckpoints {
    std::vector<CheckpointEntry> entries;
    CheckpointLine line;

    bool isRetired(const CheckpointEntry& entry) const { return !line.has(entry.manifest); }
    /// The newest of the line, by step. nullptr: it has none.
    const CheckpointEntry* newest() const;
};

/// Where the run of that run directory keeps its checkpoints.
Result<std::string> checkpointFolder(const std::string& runDir);

/// Reads them by spec.toml and plan.toml of the run directory.
Result<RunCheckpoints> readCheckpoints(const std::string& runDir);

} // namespace rm
