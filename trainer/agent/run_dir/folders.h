// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// Where this node keeps things; the folders need not exist.
struct Folders {
    std::string home;     ///< bundles/ data/ blobs/ agents/
    std::string stateDir; ///< runs/

    /// From RINGMASTER_HOME, XDG_DATA_HOME, XDG_STATE_HOME and HOME (or the password database).
    static Folders fromEnvironment();

    /// The run's folder; kInvalid for what is no run id.
    Result<std::string> runDir(const std::string& runId) const;
    /// runDir() of a run that is there; kNotFound otherwise.
    Result<std::string> existingRunDir(const std::string& runId) const;
};

} // namespace rm
