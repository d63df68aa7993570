// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/job_script.h"

#include "app/core/remote/command_line.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace rm {

namespace {

/// The processors of an agent: all of a node if its ranks use all GPUs or none; else their share.
int cpusOfAgent(const JobOrder& order) {
    const int most = *std::ranges::max_element(order.ranks);
    if (order.cpusPerNode < 1)
        return most;
    const int share = order.onGpus && order.gpusPerNode > 0
                          ? order.cpusPerNode * most / order.gpusPerNode
                          : order.cpusPerNode;
    return std::clamp(share, 1, order.cpusPerNode);
}

/// An option for sbatch, by its long name where Ringmaster gives it as well.
struct Option {
    std::string name, value;
};

Option optionOf(const std::string& text) {
    const bool isLong = text.starts_with("--");
    const size_t end = isLong ? std::min(text.find_first_of("= "), text.size()) : 2;
    Option option{text.substr(0, end), text.substr(std::min(end, text.size()))};
    option.value.erase(0, option.value.find_first_not_of("= "));
    if (option.name == "-c")
        option.name = "--cpus-per-task";
    if (option.name == "-G")
        option.name = "--gpus";
    return option;
}

/// "gpu:v100:2" of --gres and "v100:2" of --gpus and the like, without "gpu:"; nullopt: the option
/// is about something else.
std::optional<std::string> gpusIn(const Option& option) {
    if (option.name.starts_with("--gpus"))
        return option.value;
    if (option.name != "--gres")
        return std::nullopt;
    std::istringstream resources(option.value);
    for (std::string each; std::getline(resources, each, ',');)
        if (each == "gpu" || each.starts_with("gpu:"))
            return each.substr(std::min<size_t>(each.size(), 4));
    return std::nullopt;
}

bool isGiven(const JobOrder& order, const std::string& name) {
    return std::ranges::any_of(order.options, [&name](const std::string& option) {
        return optionOf(option).name == name;
    });
}

/// Whether options that are given stand in for one of Ringmaster's, also by another name: Slurm
/// refuses GPUs that are asked for in two ways, as it does processors by task and by GPU.
bool isReplaced(const std::string& own, const JobOrder& order) {
    const std::string name = optionOf(own).name;
    if (name == "--gpus-per-node")
        return std::ranges::any_of(order.options, [](const std::string& option) {
            const Option given = optionOf(option);
            return gpusIn(given) || (given.name == "--gres" && given.value == "none");
        });
    return isGiven(order, name) || (name == "--requeue" && isGiven(order, "--no-requeue")) ||
           (name == "--cpus-per-task" && isGiven(order, "--cpus-per-gpu"));
}

/// A comment about memory: on many clusters what a job asks for decides what the kernel kills.
std::string memoryLine(const JobOrder& order) {
    const bool isRequested = std::ranges::any_of(
        order.options, [](const std::string& option) { return option.starts_with("--mem"); });
    if (isRequested)
        return {};
    const std::string most =
        order.memoryMb > 0 ? "; its nodes have up to " + std::to_string(order.memoryMb) + " MB"
                           : "";
    return "# No memory is asked for: the job gets what its partition gives by default" + most +
           ".\n# launch.sbatch = [\"--mem=SIZE\"] asks for more.\n";
}

std::string gpuLine(const JobOrder& order) {
    if (!order.onGpus)
        return {};
    return "# The trainer is that of " + order.runtime +
           (order.gpu.empty() ? ", as Slurm does not say what its GPUs are; the agents end the job "
                                "if it does not run on them."
                              : ", for GPUs " + order.gpu + ".") +
           " launch.runtime chooses another.\n";
}

} // namespace

std::string jobScript(const JobOrder& order) {
    const std::string nodes = std::to_string(order.ranks.size());
    const std::string cpus = std::to_string(cpusOfAgent(order));
    std::vector<std::string> options = {"--nodes=" + nodes,        "--ntasks-per-node=1",
                                        "--cpus-per-task=" + cpus, "--requeue",
                                        "--open-mode=append",      "--signal=USR1@120"};
    if (order.onGpus)
        options.push_back("--gpus-per-node=" +
                          std::to_string(*std::ranges::max_element(order.ranks)));
    std::erase_if(options, [&order](const std::string& own) { return isReplaced(own, order); });
    options.insert(options.end(), order.options.begin(), order.options.end());
    std::string script = "#!/bin/bash\n# Run " + order.runId +
                         " of Ringmaster, after which sbatch is told to call the job.\n" +
                         gpuLine(order) + memoryLine(order);
    for (const std::string& option : options)
        script += "#SBATCH " + option + "\n";
    for (const std::string& line : order.setup)
        script += line + "\n";
    if (!order.setup.empty())
        script += "\n"; // ends a line that a backslash continues
    // The shell waits for the agents, which Slurm signals as well: they write a checkpoint.
    const std::string cpusOfStep =
        isGiven(order, "--cpus-per-gpu")
            ? ""
            : " --cpus-per-task=\"${SLURM_CPUS_PER_TASK:-" + cpus + "}\"";
    std::string step;
    for (const std::string& option : order.step)
        step += " " + option;
    script += "trap : TERM USR1\n"
              "srun --ntasks-per-node=1" +
              cpusOfStep + " --kill-on-bad-exit=0" + step + " \\\n    " +
              quotedForShell(order.agent) + " in-job " + order.runId +
              "\n"
              "code=$?\n"
              "# Told that its time is over: the run goes on when Slurm starts this job again.\n"
              "# Not one that somebody has cancelled since.\n"
              "if [ $code -eq 75 ]; then\n"
              "    case \"$(squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format='%T %r')\" in\n"
              "    'COMPLETING None' | CANCELLED*) ;;\n"
              "    *) scontrol requeue \"$SLURM_JOB_ID\" ;;\n"
              "    esac\n"
              "    exit 0\n"
              "fi\n"
              "exit $code\n";
    return script;
}

int64_t bytesOnNode(const JobOrder& order) {
    constexpr std::string_view kOption = "--mem";
    constexpr std::string_view kUnits = "KMGT";
    int64_t bytes = order.memoryMb << 20;
    for (const std::string& option : order.options) {
        const size_t at = kOption.size() + 1;
        if (!option.starts_with(kOption) || option.size() <= at ||
            (option[at - 1] != '=' && option[at - 1] != ' '))
            continue;
        int64_t number = 0;
        const char* end = option.data() + option.size();
        const auto parsed = std::from_chars(option.data() + at, end, number);
        const size_t unit = parsed.ptr == end ? 1 : kUnits.find(*parsed.ptr);
        // 0: all that a node has.
        if (parsed.ec == std::errc() && unit != kUnits.npos && number > 0 && number < (1 << 22))
            bytes = number << (10 * (unit + 1));
    }
    return bytes;
}

std::string gpuKindOf(const std::vector<std::string>& options) {
    std::string kind;
    for (const std::string& option : options)
        if (const auto gpus = gpusIn(optionOf(option))) {
            const bool isAny = gpus->empty() || (gpus->front() >= '0' && gpus->front() <= '9' &&
                                                 gpus->find(':') == gpus->npos);
            const bool isOne = gpus->find(',') == gpus->npos;
            kind = isAny || !isOne ? std::string() : gpus->substr(0, gpus->find(':'));
        }
    return kind;
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
