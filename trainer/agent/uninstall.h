// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/deployed.h"
#include "trainer/agent/run_dir/folders.h"

namespace rm {

struct UninstallOrder {
    bool preview = false;  ///< only say what would go
    bool withRuns = false; ///< the folders of the runs as well, with the checkpoints in them
};

/// `uninstall [--preview] [--runs]`: removes from this node what Ringmaster put there: agents,
/// trainers, staged data, blobs and its own small files, and folders that are empty then. Items
/// that stay say why; what Ringmaster did not put there is listed and stays. kUnavailable, naming
/// it: something runs, or files are being received. A preview says that in `inTheWay`. All that is
/// checked before anything goes; an error after that is the report's `failure`.
Result<DeployedReport> uninstall(const Folders& folders, const UninstallOrder& order);

} // namespace rm
