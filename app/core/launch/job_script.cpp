// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/job_script.h"

#include <algorithm>

namespace rm {

namespace {

/// For a shell, whatever the path holds.
std::string forShell(const std::string& text) {
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

/// Of a node whose ranks use all of its GPUs, or of one without: all processors; else their share.
int cpusOfAgent(const JobOrder& order) {
    const int most = *std::ranges::max_element(order.ranks);
    if (order.cpusPerNode < 1)
        return most;
    const int share = order.onGpus && order.gpusPerNode > 0
                          ? order.cpusPerNode * most / order.gpusPerNode
                          : order.cpusPerNode;
    return std::clamp(share, 1, order.cpusPerNode);
}

} // namespace

std::string jobScript(const JobOrder& order) {
    const std::string nodes = std::to_string(order.ranks.size());
    const std::string cpus = std::to_string(cpusOfAgent(order));
    std::vector<std::string> options = {
        "--job-name=" + order.runId, "--nodes=" + nodes, "--ntasks-per-node=1",
        "--cpus-per-task=" + cpus,   "--requeue",        "--open-mode=append",
        "--signal=USR1@120"};
    if (order.onGpus)
        options.push_back("--gpus-per-node=" +
                          std::to_string(*std::ranges::max_element(order.ranks)));
    options.insert(options.end(), order.options.begin(), order.options.end());
    std::string script = "#!/bin/bash\n# Run " + order.runId + " of Ringmaster.\n";
    for (const std::string& option : options)
        script += "#SBATCH " + option + "\n";
    // The shell waits for the agents, which Slurm signals as well: they write a checkpoint.
    script += "trap : TERM USR1\n"
              "srun --ntasks-per-node=1 --cpus-per-task=\"${SLURM_CPUS_PER_TASK:-" +
              cpus + "}\" --kill-on-bad-exit=0 \\\n    " + forShell(order.agent) + " in-job " +
              order.runId +
              "\n"
              "code=$?\n"
              "# Told that its time is over: the run goes on when Slurm starts this job again.\n"
              "if [ $code -eq 75 ]; then\n"
              "    scontrol requeue \"$SLURM_JOB_ID\"\n"
              "    exit 0\n"
              "fi\n"
              "exit $code\n";
    return script;
}

std::vector<int> ranksByNode(int total, int perNode) {
    if (total <= 0)
        return {perNode};
    std::vector<int> ranks;
    for (int left = total; left > 0; left -= perNode)
        ranks.push_back(std::min(left, perNode));
    return ranks;
}

} // namespace rm
