// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/folders.h"

#include <string>

namespace rm {

/// `checkpoints RUN_ID [--verify]`: the checkpoints in the folder that the run's spec names (else
/// in its run directory), as a JSON array by step. With `verify` every byte is compared with the
/// manifest and "valid" says the result.
Result<std::string> listRunCheckpoints(const Folders& folders, const std::string& runId,
                                       bool verify);

} // namespace rm
