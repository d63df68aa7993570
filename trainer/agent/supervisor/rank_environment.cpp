// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/rank_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace rm {

namespace {

constexpr std::array kInheritedNames = {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"};
constexpr std::array kInheritedPrefixes = {"LC_",     "XDG_",  "SLURM_",      "CUDA_VISIBLE_",
                                           "NVIDIA_", "NCCL_", "RINGMASTER_", "ASAN_",
                                           "UBSAN_",  "TSAN_"};

bool isInherited(const std::string& name) {
    const auto isPrefix = [&name](const char* prefix) { return name.starts_with(prefix); };
    return std::find(kInheritedNames.begin(), kInheritedNames.end(), name) !=
               kInheritedNames.end() ||
           std::any_of(kInheritedPrefixes.begin(), kInheritedPrefixes.end(), isPrefix);
}

void addTorchrun(Environment& environment, const NodePlan& plan, int localRank) {
    environment["RANK"] = std::to_string(plan.firstRank + localRank);
    environment["LOCAL_RANK"] = std::to_string(localRank);
    environment["WORLD_SIZE"] = std::to_string(plan.worldSize);
    environment["LOCAL_WORLD_SIZE"] = std::to_string(plan.localRanks);
    environment["GROUP_RANK"] = std::to_string(plan.nodeIndex);
    environment["MASTER_ADDR"] = plan.masterAddr;
    environment["MASTER_PORT"] = std::to_string(plan.masterPort);
    environment["TORCHELASTIC_RESTART_COUNT"] = std::to_string(plan.attempt - 1);
    environment["TORCHELASTIC_RUN_ID"] = plan.runId;
    environment["RINGMASTER_STORE_NONCE"] = plan.storeNonce; // a login's is another run's
    environment["RINGMASTER_ADDRESS"] = plan.address;        // likewise
}

/// Adds what tells NCCL and Gloo the interface. Both take the first address of it that they find,
/// NCCL the first of the family of NodePlan::address; Gloo is given the address itself.
void addInterface(Environment& environment, const NodePlan& plan) {
    if (plan.interface.empty())
        return;
    environment["NCCL_SOCKET_IFNAME"] = environment["GLOO_SOCKET_IFNAME"] = plan.interface;
    // A person's own interface may have addresses of the other family alone.
    const bool isOwn = std::ranges::any_of(plan.environment, [](const std::string& entry) {
        return entry.starts_with("NCCL_SOCKET_IFNAME=");
    });
    if (!plan.address.empty() && !isOwn)
        environment["NCCL_SOCKET_FAMILY"] =
            plan.address.find(':') == std::string::npos ? "AF_INET" : "AF_INET6";
}

} // namespace

Environment currentEnvironment() {
    Environment environment;
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        const size_t equals = text.find('=');
        if (equals != std::string::npos)
            environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return environment;
}

Environment nodeEnvironment(const Environment& inherited, const NodePlan& plan) {
    Environment environment;
    environment["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    for (const auto& [name, value] : inherited)
        if (isInherited(name))
            environment[name] = value;
    addInterface(environment, plan);
    for (const std::string& entry : plan.environment) {
        const size_t equals = entry.find('=');
        if (equals != std::string::npos)
            environment[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
    return environment;
}

Environment rankEnvironment(const Environment& inherited, const NodePlan& plan, const RunSpec& spec,
                            int localRank) {
    Environment environment = nodeEnvironment(inherited, plan);
    if (spec.train.threads > 0) // the node's own goes before
        environment.emplace("OMP_NUM_THREADS", std::to_string(spec.train.threads));
    addTorchrun(environment, plan, localRank);
    return environment;
}

std::string visibleDevices(const NodePlan& plan, const RunSpec& spec) {
    const Environment environment = rankEnvironment(currentEnvironment(), plan, spec, 0);
    const auto found = environment.find("CUDA_VISIBLE_DEVICES");
    return found == environment.end() ? "" : found->second;
}

std::vector<std::string> rankCommand(const NodePlan& plan, const std::string& runDir) {
    std::vector<std::string> command = {plan.bundle + "/bin/ringmaster-trainer", "--spec",
                                        runDir + "/spec.toml", "--run-dir", runDir};
    if (!plan.startFrom.empty())
        command.insert(command.end(), {"--start-from", plan.startFrom});
    if (!plan.startFrom.empty() && !plan.startFromIsExact)
        command.emplace_back("--fall-back");
    return command;
}

} // namespace rm
