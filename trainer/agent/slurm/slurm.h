// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/slurm_report.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Slurm's programs as calls, on a machine that has them. Each blocks for one exchange with
/// slurmctld. kNotFound: they are not installed here; kUnavailable: with their complaint.

/// Runs that program and returns what it prints. After 30 s it is killed.
Result<std::string> runTool(std::vector<std::string> words);

/// `slurm-info`: see parseSlurmReport().
Result<std::string> slurmInfo();

/// The job; nullopt: Slurm knows it no more, as it ended a while ago. What sacct keeps of it is
/// asked, too.
Result<std::optional<SlurmJob>> findJob(const std::string& id);

/// The newest job of this user with that name, over or not; nullopt: Slurm knows none.
Result<std::optional<SlurmJob>> findJobNamed(const std::string& name);

/// Words on a job that waits: its place in the queue, why, and when it is expected to start.
std::string whyItWaits(const SlurmJob& job);

/// Hands in a script under that name: the job's id. kInvalid: sbatch has refused it, with what it
/// said. After any other error there may be such a job.
Result<std::string> submitJob(const std::string& script, const std::string& name,
                              const std::string& logFile);

/// Ends a job, whether it waits or runs; `kill`: without a grace. One that is over is fine.
Result<void> cancelJob(const std::string& id, bool kill);

} // namespace rm
