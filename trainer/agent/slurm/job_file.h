// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rm {

/// `job.json` in a run's folder: the job of Slurm that has its ranks. Its parts lie in a folder
/// that login node and compute nodes share, so that they are served by files alone (part_files.h).
struct JobFile {
    std::string id; ///< empty: sbatch was asked, and its answer was not noted
    /// The attempt that the job was handed in for; those that follow by requeues are later.
    int64_t attempt = 0;
    int64_t requestedNs = 0; ///< when sbatch was asked, by the clock of the machine that asked
    bool operator==(const JobFile&) const = default;
};

Result<void> saveJobFile(const std::string& runFolder, const JobFile& job);
/// nullopt: the run has no job. kCorrupt names the file.
Result<std::optional<JobFile>> loadJobFile(const std::string& runFolder);

/// The name that sbatch gives the job that an attempt is handed in for. No other job has it.
std::string jobName(const std::string& runFolder, int64_t attempt);

/// The folder of the run that the part belongs to.
std::string runFolderOf(const std::string& partDir);

} // namespace rm
