// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/direct_launcher.h"
#include "app/core/launch/job_script.h"

namespace rm {

/// Goes to the login node of a Slurm cluster, or stays on this computer if that is one, and hands
/// in a job there, which starts the ranks when its turn comes. The one node of the request stands
/// for as many parts as the job has nodes: its ranks are spread over them, spec.launch.ranks on
/// each, else one per GPU, else one. Trainer and staged data are sent once, to the home that login
/// node and compute nodes share.
class SlurmLauncher final : public DirectLauncher {
public:
    using DirectLauncher::DirectLauncher;

    Result<std::vector<Placement>> check() override;
    /// Asks only for ranks on processors, which the trainer rehearses on the login node: Slurm says
    /// nothing of the memory of the compute nodes' GPUs.
    std::string whatIsTooLarge() override;
    std::string batchScript() const override { return jobScript(m_order); }
    Result<void> start() override;

private:
    void orderJob(const SlurmPartition& partition);
    const Node& cluster() const { return m_request.nodes.front().node; }
    std::vector<NodePlan> plans() const;

    JobOrder m_order;
};

} // namespace rm
