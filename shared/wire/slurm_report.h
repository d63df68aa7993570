// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// A partition of a Slurm cluster.
struct SlurmPartition {
    std::string name;
    bool isDefault = false;
    bool isUp = false;
    std::string timeLimit; ///< of a job, in Slurm's words: "1-00:00:00", "infinite"
    int nodes = 0;
    int idleNodes = 0;
    int cpusPerNode = 0; ///< of its largest node
    int64_t memoryMb = 0;
    int gpusPerNode = 0;
    std::string gpu; ///< as Slurm calls it: "a100"; empty: it has none, no name, or several kinds
    bool operator==(const SlurmPartition&) const = default;
};

/// A Slurm cluster as one of its nodes knows it.
struct SlurmReport {
    std::string version; ///< "22.05.8"
    std::vector<SlurmPartition> partitions;
    bool operator==(const SlurmReport&) const = default;
};

/// How sinfo is asked: a line for each partition and state.
inline constexpr const char* kSinfoFormat = "%P|%a|%l|%D|%t|%c|%m|%G";
/// How squeue is asked for one job.
inline constexpr const char* kSqueueFormat = "%i|%T|%r|%P|%N|%S";

/// The answer of `ringmaster-agent slurm-info`: what `sinfo --version` and, from the second line
/// on, `sinfo --noheader --format=kSinfoFormat` print. Lines of another form are passed over.
/// kCorrupt: the first line names no version of Slurm.
Result<SlurmReport> parseSlurmReport(const std::string& text);

/// The partition of that name, the default one for an empty name; nullptr: there is none.
const SlurmPartition* partitionCalled(const SlurmReport& report, const std::string& name);

/// A job as squeue shows it.
struct SlurmJob {
    std::string id;
    std::string state;  ///< "PENDING", "RUNNING", "TIMEOUT", ...
    std::string reason; ///< why it waits: "Resources"
    std::string partition;
    std::string nodes; ///< "n[1-2]"
    std::string start; ///< when a job that waits is expected to; "N/A": not known
    bool operator==(const SlurmJob&) const = default;
};

/// The line of squeue in kSqueueFormat. kCorrupt: it is something else.
Result<SlurmJob> parseSlurmJob(const std::string& line);

enum class SlurmPhase { kWaiting, kRunning, kOver };
/// The phase of a state in Slurm's words. A job that is being requeued waits.
SlurmPhase phaseOf(const std::string& state);

} // namespace rm
