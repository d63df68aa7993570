// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `verify-checkpoint < PATH`: compares every byte of the checkpoint in that folder with its
/// manifest:
/// {"whole", "problem"}. The problem is the first wrong file and why, or that there is none.
Result<std::string> verifyCheckpointAt(const std::string& path);

/// `remove-checkpoint RUN_ID NAME`: removes the checkpoint in the folder NAME, also while the run
/// goes on. kInvalid: it is not on an abandoned line. kNotFound: there is none.
Result<std::string> removeRetiredCheckpoint(const Folders& folders, const std::string& runId,
                                            const std::string& name);

} // namespace rm
