// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// Where this node keeps things; the folders need not exist.
struct Folders {
    std::string home;     ///< bundles/ data/ blobs/ agents/
    std::string stateDir; ///< runs/

    /// From RINGMASTER_HOME, XDG_DATA_HOME, XDG_STATE_HOME and HOME (or the password database).
    static Folders fromEnvironment();

    /// The run's folder; kInvalid for what is no run id.
    Result<std::string> runDir(const std::string& runId) const;

    /// Whether `name` in the folder of runs is a run of Ringmaster's: its name is an id, and it is
    /// a folder, no link, with a part or a job of Slurm. An empty one is the rest of a start.
    bool isRun(const std::string& name) const;

    /// A node's part of it, the run directory of its agent and ranks: several nodes may share this
    /// home. Release 0.1.0 had no parts, and a run that it began stays as it is.
    Result<std::string> partDir(const std::string& runId, int64_t nodeIndex) const;
    /// partDir() of a part that is there; kNotFound otherwise, and kDenied where another user's
    /// folder does not let one look.
    Result<std::string> existingPartDir(const std::string& runId, int64_t nodeIndex) const;
    /// All parts that are there. kNotFound: there is nothing of this run; kDenied as above.
    Result<std::vector<std::string>> partDirs(const std::string& runId) const;
};

} // namespace rm
