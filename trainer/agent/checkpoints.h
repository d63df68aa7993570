// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `checkpoints RUN_ID [--verify]`: the checkpoints in the folder that the run's spec names (else
/// in its run directory), as a JSON array by step. "retired": of an abandoned line, as the newest
/// attempt that was started here went on from an earlier step; "best": of the others. With `verify`
/// every byte is compared with the manifest and "valid" says the result.
Result<std::string> listRunCheckpoints(const Folders& folders, const std::string& runId,
                                       bool verify);

/// `remove-checkpoint RUN_ID NAME`: removes the checkpoint in the folder NAME, which must be of an
/// abandoned line (kInvalid), also while the run goes on. kNotFound: there is none.
Result<std::string> removeRetiredCheckpoint(const Folders& folders, const std::string& runId,
                                            const std::string& name);

} // namespace rm
