// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "trainer/agent/probe/gpus.h"
#include "trainer/agent/probe/sys_root.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// A rank to look at.
struct SampledRank {
    int32_t rank = 0;
    int localRank = 0;
    int64_t pid = 0;
    int64_t step = 0; ///< done so far
};

/// Counters of the whole node since boot.
struct NodeCounters {
    double busyTicks = 0, allTicks = 0; ///< of all CPUs
    double memoryUsedBytes = 0;
    double rxBytes = 0, txBytes = 0;
    double diskReadBytes = 0, diskWriteBytes = 0;
};
NodeCounters readNodeCounters(const SysRoot& root);

/// CPU ticks and resident bytes of one process; nullopt: it is gone.
struct RankCounters {
    double cpuTicks = 0;
    double residentBytes = 0;
};
std::optional<RankCounters> readRankCounters(const SysRoot& root, int64_t pid);

/// Turns what /proc and the GPU driver show into the metrics of the node and its ranks. Rates need
/// two samples, so the first call returns gauges only.
class Sampler {
public:
    Sampler(SysRoot root, const Gpus* gpus, std::string visibleDevices);

    /// One Samples record per rank; the first also has the node's metrics. And an event "gpu-lost"
    /// when a rank's device has fallen off the bus.
    std::vector<Record> sample(const std::vector<SampledRank>& ranks, Moment now);

private:
    void addNode(Samples& samples, Moment now);
    void addRank(Samples& samples, const SampledRank& rank, Moment now);
    std::optional<Event> addGpu(Samples& samples, const SampledRank& rank);

    SysRoot m_root;
    const Gpus* m_gpus; ///< nullptr: the run does not use any
    std::string m_visibleDevices;
    std::optional<NodeCounters> m_lastNode;
    int64_t m_lastNodeNs = 0;
    struct Last {
        int64_t pid = 0;
        double cpuTicks = 0;
        int64_t atNs = 0;
    };
    std::vector<Last> m_lastRanks;  ///< by local rank
    std::set<int32_t> m_withoutGpu; ///< ranks whose device was lost, and that was told
};

} // namespace rm
