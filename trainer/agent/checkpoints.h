// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `verify-checkpoint < PATH`: compares every byte of the checkpoint in that folder with its
/// manifest:
/// {"whole", "there", "problem"}. The problem is the first wrong file and why, or that there is no
/// manifest: then it is not there.
Result<std::string> verifyCheckpointAt(const std::string& path);

/// `find-checkpoint < PATH`: whether a checkpoint lies in that folder, whose manifest can be read
/// and whose files have their sizes, and which one: {"there", "run_id", "attempt", "step", "bytes",
/// "copy", "ranks", "positions_per_step"}; of these the last is 0 where its state does not tell.
Result<std::string> checkpointAt(const std::string& path);

/// `saved-runs < {"folder", "name"}`: newestOf() the runs of savedRunsIn(), as JSON.
Result<std::string> savedRunsAt(const std::string& order);

/// `newest-checkpoint [--must-exist]`: the newest checkpoint of the living line of the run whose
/// run directory here is `runDir`: {"path", "attempt", "step", "bytes"}, as its rank named it; {}
/// if there is none; {"problem"} if it cannot be told, or if `mustExist` and the folder is missing.
std::string newestCheckpointAt(const std::string& runDir, bool mustExist);

/// `pin-checkpoint [--off] < PATH`: see setPinned().
Result<std::string> pinCheckpoint(const std::string& path, bool pinned);

/// `compare-checkpoints < {"a": PATH, "b": PATH}`: how far their weights are apart, by layer:
/// {"layers": [{"layer", "values", "norm_a", "norm_b", "difference", "largest"}], "only_a",
/// "only_b"}. A figure that is not finite is null.
Result<std::string> compareCheckpoints(const std::string& order);

/// `bring-back-checkpoint RUN_ID NAME`: undoes remove-checkpoint.
Result<std::string> bringBackCheckpoint(const Folders& folders, const std::string& runId,
                                        const std::string& name);

/// `remove-checkpoint RUN_ID NAME`: moves the checkpoint in the folder NAME aside (setAside()),
/// also while the run goes on. kInvalid: it is pinned, or on the living line and not from before a
/// change of settings, or the newest there, or the one that the attempt started from. kNotFound:
/// there is none.
Result<std::string> removeRetiredCheckpoint(const Folders& folders, const std::string& runId,
                                            const std::string& name);

} // namespace rm
