// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/chosen_gpus.h"

#include "app/core/findings/text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace rm {

namespace {

std::optional<size_t> positionOf(const std::string& gpu, const NodeReport& report) {
    const auto found = std::ranges::find(report.gpus, gpu, &GpuReport::uuid);
    const size_t at = gpu.starts_with("GPU-")
                          ? static_cast<size_t>(found - report.gpus.begin())
                          : static_cast<size_t>(std::strtoul(gpu.c_str(), nullptr, 10));
    return at < report.gpus.size() ? std::optional(at) : std::nullopt;
}

/// "0 (NVIDIA H200) and 1 (NVIDIA H200)"
std::string numbered(const std::vector<GpuReport>& gpus) {
    std::vector<std::string> all;
    for (size_t at = 0; at < gpus.size(); ++at)
        all.push_back(std::to_string(at) + " (" + gpus[at].name + ')');
    return listed(all);
}

} // namespace

std::vector<size_t> usedGpus(const Node& node, const NodeReport& report) {
    std::vector<size_t> used;
    for (const std::string& gpu : node.gpus)
        if (const auto at = positionOf(gpu, report))
            used.push_back(*at);
    for (size_t at = 0; node.gpus.empty() && at < report.gpus.size(); ++at)
        used.push_back(at);
    return used;
}

NodeReport usedPart(const Node& node, NodeReport report) {
    if (node.gpus.empty())
        return report;
    std::vector<GpuReport> used;
    for (const size_t at : usedGpus(node, report))
        used.push_back(report.gpus[at]);
    report.gpus = std::move(used);
    return report;
}

std::string missingGpus(const Node& node, const NodeReport& report) {
    for (const std::string& gpu : node.gpus)
        if (!positionOf(gpu, report))
            return report.gpus.empty() ? say("gpu.chosen-of-none", {{"gpu", gpu}})
                                       : say("gpu.chosen-of-others",
                                             {{"gpu", gpu}, {"gpus", numbered(report.gpus)}});
    return {};
}

std::string fixOfMissingGpus(const Node& node, const NodeReport& report) {
    std::string there;
    for (const std::string& gpu : node.gpus)
        if (positionOf(gpu, report))
            append(there, gpu, ",");
    return say("gpu.fix-choice", {{"command", "ringmaster nodes edit " + node.name + " --gpus " +
                                                  (there.empty() ? "all" : there)}});
}

std::vector<std::string> visibleGpus(const Node& node, const NodeReport& used) {
    if (node.gpus.empty())
        return {};
    const bool byUuid =
        std::ranges::none_of(used.gpus, [](const GpuReport& gpu) { return gpu.uuid.empty(); });
    std::string names;
    for (size_t i = 0; i < node.gpus.size(); ++i)
        names += (i == 0 ? "" : ",") +
                 (byUuid && i < used.gpus.size() ? used.gpus[i].uuid : node.gpus[i]);
    std::vector<std::string> variables = {"CUDA_VISIBLE_DEVICES=" + names};
    if (!byUuid)
        variables.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    return variables;
}

} // namespace rm
