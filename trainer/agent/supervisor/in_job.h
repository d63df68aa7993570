// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// The exit code of `in-job` when the job's time is over and the run is to go on, so that the job's
/// script has Slurm start it again (sysexits' EX_TEMPFAIL).
inline constexpr int kResumesInJob = 75;

/// `in-job RUN_ID`: srun starts it once on each node of a job. Takes the part of the run that
/// SLURM_NODEID says, agrees with the other nodes by files of the run's folder on where the ranks
/// meet, and supervises its ranks until they have ended: the exit code. In a job that Slurm starts
/// again it begins the run's next attempt, from its newest checkpoint. After three starts in a row
/// that were told of the job's time limit before they had saved anything, the run ends instead, and
/// so it does where ranks could not train on the GPUs that the job was given (whyUnfit()).
Result<int> runInJob(const Folders& folders, const std::string& runId);

} // namespace rm
