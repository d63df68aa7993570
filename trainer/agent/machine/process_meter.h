// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/machine_sample.h"
#include "trainer/agent/probe/sys_root.h"
#include "trainer/agent/run_dir/living_runs.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rm {

/// What /proc/PID/stat counts of a process.
struct ProcessCounters {
    double cpuTicks = 0;
    double residentBytes = 0;
    int64_t parent = 0;
    int64_t startTicks = 0; ///< tells it from another one with the same pid
};

/// nullopt: it is gone.
std::optional<ProcessCounters> readProcessCounters(const SysRoot& root, int64_t pid);

/// Which processes have memory of which GPU: by pid.
using GpuUsers = std::map<int64_t, std::vector<ProcessGpu>>;

/// Looks at all processes of the machine and tells of those that matter.
class ProcessMeter {
public:
    explicit ProcessMeter(SysRoot root)
        : m_root(std::move(root)) {}

    /// The users of GPUs, the ranks with their children, and those with the most CPU time and the
    /// most memory; the busiest first. CPU times need two reads.
    std::vector<ProcessFigures> read(const GpuUsers& gpus, const std::vector<LivingRank>& ranks,
                                     int64_t monotonicNs);

private:
    struct Seen {
        ProcessCounters counters;
        std::optional<double> cpu; ///< cores
    };
    using AllSeen = std::map<int64_t, Seen>;
    AllSeen look(double seconds) const;
    ProcessFigures describe(int64_t pid, const Seen* seen, const GpuUsers& gpus,
                            const LivingRank* rank) const;

    SysRoot m_root;
    AllSeen m_last;
    int64_t m_lastNs = 0;
};

} // namespace rm
