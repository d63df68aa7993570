// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A run that has checkpoints in a folder, and the newest on its living line.
struct SavedRun {
    std::string runId; ///< empty: started by hand, see CheckpointOwner
    std::string runName;
    std::string checkpoint; ///< its folder
    int64_t step = 0;
    int64_t createdNs = 0;
    bool operator==(const SavedRun&) const = default;
};

/// The runs that have checkpoints in `folder`, as checkpoint.directory would name it: the run that
/// claimed it (owner.h), and runs that claimed a folder in it, as each launch does. The newest
/// checkpoint first. A run that has saved nothing is left out, and so is what cannot be read. A
/// folder that is missing has none.
Result<std::vector<SavedRun>> savedRunsIn(const std::string& folder);

/// The first of `runs`, and the first called `name`.
std::vector<SavedRun> newestOf(const std::vector<SavedRun>& runs, const std::string& name);

/// The runs as agents answer them.
std::string toJson(const std::vector<SavedRun>& runs);
Result<std::vector<SavedRun>> parseSavedRuns(const std::string& text, const std::string& source);

} // namespace rm
