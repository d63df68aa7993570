// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "trainer/agent/machine/node_meter.h"
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
    NodeMeter m_node;
    struct Last {
        int64_t pid = 0;
        double cpuTicks = 0;
        int64_t atNs = 0;
    };
    std::vector<Last> m_lastRanks;  ///< by local rank
    std::set<int32_t> m_withoutGpu; ///< ranks whose device was lost, and that was told
};

} // namespace rm
