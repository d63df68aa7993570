// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/machine_sample.h"
#include "trainer/agent/machine/node_meter.h"
#include "trainer/agent/machine/process_meter.h"
#include "trainer/agent/probe/gpus.h"
#include "trainer/agent/run_dir/folders.h"

namespace rm {

/// Samples a machine with its GPUs and processes for who looks at it.
class MachineSampler {
public:
    /// `gpus` must outlive it.
    MachineSampler(SysRoot root, const Gpus& gpus, Folders folders);

    MachineFacts facts();

    /// What a sample has besides.
    struct Extent {
        bool processes = false;
        bool pcie = false; ///< measure that of the next GPU, which takes 40 ms
    };
    MachineSample sample(int64_t monotonicNs, int64_t wallNs, Extent extent);

private:
    void addGpus(MachineSample& sample, bool measuresPcie);
    std::vector<ProcessFigures> processes(int64_t monotonicNs);

    SysRoot m_root;
    const Gpus& m_gpus;
    Folders m_folders;
    NodeMeter m_node;
    ProcessMeter m_processes;
    size_t m_nextPcie = 0;
    std::vector<PcieRates> m_pcie; ///< as measured last, by GPU
    std::vector<LivingRank> m_ranks;
    int m_looksUntilRanks = 0; ///< folders of runs are read less often than processes
};

} // namespace rm
