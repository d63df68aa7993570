// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/slurm_environment.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace rm {

namespace {

// Below the ports that Linux and Gloo take for outgoing connections (32768 and above).
constexpr int64_t kFirstPort = 12'000;
constexpr int64_t kPorts = 18'000;

/// The whole number that a text is; -1: it is none.
int64_t numberIn(const std::string& text) {
    int64_t number = -1;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? number : -1;
}

/// The step's port. Two steps of a job may run side by side, and jobs often follow on a node.
int64_t portOf(const std::string& job, const std::string& step) {
    return kFirstPort + (numberIn(job) * 7 + numberIn(step)) % kPorts;
}

} // namespace

std::string firstHostOf(const std::string& nodeList) {
    const size_t bracket = nodeList.find('[');
    const size_t comma = nodeList.find(',');
    if (bracket == std::string::npos || comma < bracket)
        return nodeList.substr(0, comma);
    const size_t end = nodeList.find_first_of(",-]", bracket);
    const size_t close = nodeList.find(']', bracket);
    if (end == std::string::npos || close == std::string::npos)
        return {};
    std::string host =
        nodeList.substr(0, bracket) + nodeList.substr(bracket + 1, end - bracket - 1);
    // Names may go on behind the brackets, and hold several of them.
    const std::string rest = nodeList.substr(close + 1);
    return host + (rest.empty() || rest.front() == ',' ? std::string() : firstHostOf(rest));
}

int tasksOnNode(const std::string& tasksPerNode, int node) {
    int64_t first = 0;
    for (size_t at = 0; at < tasksPerNode.size();) {
        const size_t end = std::min(tasksPerNode.find(',', at), tasksPerNode.size());
        const std::string entry = tasksPerNode.substr(at, end - at);
        const size_t times = entry.find("(x");
        const int64_t tasks = numberIn(entry.substr(0, times));
        const int64_t nodes =
            times == entry.npos ? 1 : numberIn(entry.substr(times + 2, entry.size() - times - 3));
        if (tasks < 1 || tasks > (1 << 20) || nodes < 1 || nodes > (1 << 20))
            return 0;
        first += nodes;
        if (node < first)
            return static_cast<int>(tasks);
        at = end + 1;
    }
    return 0;
}

std::map<std::string, std::string> torchrunVariablesOfSlurm(const char* (*get)(const char*)) {
    const auto text = [get](const char* name) {
        const char* value = get(name);
        return std::string(value ? value : "");
    };
    const std::string rank = text("SLURM_PROCID"), world = text("SLURM_STEP_NUM_TASKS");
    if (rank.empty() || world.empty())
        return {};
    std::map<std::string, std::string> variables = {
        {"RANK", rank},
        {"WORLD_SIZE", world},
        {"LOCAL_RANK", text("SLURM_LOCALID")},
        {"MASTER_ADDR", firstHostOf(text("SLURM_STEP_NODELIST"))},
        {"TORCHELASTIC_RESTART_COUNT", text("SLURM_RESTART_COUNT")},
        {"TORCHELASTIC_RUN_ID", "slurm-" + text("SLURM_JOB_ID") + "-" + text("SLURM_STEP_ID")}};
    const int node = static_cast<int>(numberIn(text("SLURM_NODEID")));
    if (const int local = tasksOnNode(text("SLURM_STEP_TASKS_PER_NODE"), node); node >= 0 && local)
        variables["LOCAL_WORLD_SIZE"] = std::to_string(local);
    if (numberIn(text("SLURM_JOB_ID")) >= 0)
        variables["MASTER_PORT"] =
            std::to_string(portOf(text("SLURM_JOB_ID"), text("SLURM_STEP_ID")));
    return variables;
}

} // namespace rm
