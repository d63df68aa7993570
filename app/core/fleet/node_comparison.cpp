// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/node_comparison.h"

#include "app/core/deploy/runtime.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "shared/amounts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>

namespace rm {

namespace {

using Checks = std::vector<const NodeCheck*>;

std::string orNone(const std::string& text) {
    return text.empty() ? say("compare.none") : text;
}

std::string gpusOf(const NodeReport& report) {
    std::map<std::string, int> counts;
    for (const GpuReport& gpu : report.gpus)
        ++counts[gpu.name];
    std::vector<std::string> models;
    for (const auto& [name, count] : counts)
        models.push_back(
            say("compare.gpus-of-model", {{"count", std::to_string(count)}, {"name", name}}));
    return orNone(joined(models, ", "));
}

/// The newest torch that its GPUs and driver can use, installed here or not.
std::string runtimeOf(const NodeReport& report) {
    for (const Runtime& runtime : gpuRuntimes())
        if (!report.gpus.empty() && obstacleTo(runtime, report).empty())
            return runtime.name;
    return "cpu";
}

std::string limitOf(int64_t value) {
    return value < 0    ? say("node.unlimited")
           : value == 0 ? say("compare.unknown")
                        : std::to_string(value);
}

struct Fact {
    const char* what; ///< id of its name
    std::string (*of)(const NodeReport&);
};

constexpr std::array<Fact, 13> kFacts = {{
    {"compare.system", [](const NodeReport& r) { return orNone(r.os); }},
    {"compare.kernel", [](const NodeReport& r) { return orNone(r.kernel); }},
    {"compare.glibc", [](const NodeReport& r) { return orNone(r.glibc); }},
    {"compare.libstdcxx", [](const NodeReport& r) { return orNone(r.libstdcxx); }},
    {"compare.driver", [](const NodeReport& r) { return orNone(r.driver); }},
    {"compare.gpus", gpusOf},
    {"compare.runtime", runtimeOf},
    {"compare.cpu", [](const NodeReport& r) { return orNone(r.cpuModel); }},
    {"compare.cores", [](const NodeReport& r) { return std::to_string(r.cores); }},
    {"compare.memory", [](const NodeReport& r) { return memoryWords(r.memoryBytes); }},
    {"compare.locked-memory", [](const NodeReport& r) { return limitOf(r.memlockBytes); }},
    {"compare.open-files", [](const NodeReport& r) { return limitOf(r.openFiles); }},
    {"compare.agent", [](const NodeReport& r) { return orNone(r.release); }},
}};

NodeDifference differenceIn(const Fact& fact, const Checks& checks) {
    NodeDifference difference{say(fact.what), {}};
    for (const NodeCheck* check : checks) {
        const std::string value = fact.of(*check->report);
        auto side = std::ranges::find(difference.sides, value, &NodeDifference::Side::value);
        if (side == difference.sides.end())
            side = difference.sides.insert(side, {value, {}});
        side->nodes.push_back(check->node);
    }
    std::ranges::stable_sort(difference.sides, std::ranges::greater(),
                             [](const NodeDifference::Side& side) { return side.nodes.size(); });
    return difference;
}

/// What nodes with the same id have in common.
std::vector<std::vector<std::string>> groupsBy(std::string NodeReport::*id, const Checks& checks) {
    std::map<std::string, std::vector<std::string>> byId;
    for (const NodeCheck* check : checks)
        if (const std::string& its = (*check->report).*id; !its.empty())
            byId[its].push_back(check->node);
    std::vector<std::vector<std::string>> groups;
    for (auto& [its, nodes] : byId)
        if (nodes.size() > 1)
            groups.push_back(std::move(nodes));
    return groups;
}

Checks withReport(const std::vector<NodeCheck>& all) {
    Checks checks;
    for (const NodeCheck& check : all)
        if (check.report)
            checks.push_back(&check);
    return checks;
}

/// A sentence for each machine of which one name or more is among `checks`.
std::vector<std::string> machineSentences(const std::vector<NodeCheck>& checks,
                                          const std::vector<NodeCheck>& others) {
    const auto isCompared = [&checks](const std::string& node) {
        return std::ranges::find(checks, node, &NodeCheck::node) != checks.end();
    };
    std::vector<NodeCheck> all = checks;
    std::ranges::copy_if(others, std::back_inserter(all), std::not_fn(isCompared),
                         &NodeCheck::node);
    std::vector<std::string> sentences;
    for (const auto& names : namesOfMachines(all))
        if (std::ranges::any_of(names, isCompared))
            sentences.push_back(say("compare.same-machine", {{"nodes", someOf(names)}}));
    return sentences;
}

/// The other nodes with the same id, behind `others` where they are not in it.
void appendSharers(std::string NodeReport::*id, const std::string& node,
                   const std::vector<NodeCheck>& checks, std::vector<std::string>& others) {
    for (const std::vector<std::string>& group : groupsBy(id, withReport(checks)))
        if (std::ranges::count(group, node) > 0)
            for (const std::string& each : group)
                if (each != node && std::ranges::count(others, each) == 0)
                    others.push_back(each);
}

} // namespace

std::vector<std::string> sharersOf(const std::string& node, const std::vector<NodeCheck>& checks,
                                   bool withRuns) {
    std::vector<std::string> others;
    appendSharers(&NodeReport::homeId, node, checks, others);
    if (withRuns)
        appendSharers(&NodeReport::stateId, node, checks, others);
    return others;
}

std::vector<std::string> runSharersOf(const std::string& node,
                                      const std::vector<NodeCheck>& checks) {
    std::vector<std::string> others;
    appendSharers(&NodeReport::stateId, node, checks, others);
    return others;
}

std::string otherRunMark(const DeployedItem& item, const KnownRuns& known) {
    if (item.kind != "runs" || known.contains(item.name))
        return {};
    return item.startedBy.empty() ? say("compare.other-run")
                                  : say("compare.other-run-of", {{"who", item.startedBy}});
}

std::vector<std::string> otherRunsThatGo(const DeployedReport& report, const KnownRuns& known) {
    std::vector<std::string> runs;
    for (const DeployedItem& item : report.items)
        if (item.keptFor.empty() && !otherRunMark(item, known).empty())
            runs.push_back(
                item.startedBy.empty()
                    ? item.name
                    : say("compare.run-of", {{"run", item.name}, {"who", item.startedBy}}));
    return runs;
}

std::vector<std::vector<std::string>> namesOfMachines(const std::vector<NodeCheck>& checks) {
    Checks training = withReport(checks);
    std::erase_if(training, [](const NodeCheck* check) {
        return std::ranges::find(check->rows, "slurm", &CheckRow::id) != check->rows.end();
    });
    return groupsBy(&NodeReport::machine, training);
}

NodeComparison compareNodes(const std::vector<NodeCheck>& all,
                            const std::vector<NodeCheck>& others) {
    const Checks checks = withReport(all);
    NodeComparison comparison{static_cast<int>(checks.size()), {}, machineSentences(all, others)};
    for (const Fact& fact : kFacts)
        if (auto difference = differenceIn(fact, checks); difference.sides.size() > 1)
            comparison.differences.push_back(std::move(difference));
    for (const auto& nodes : groupsBy(&NodeReport::homeId, checks))
        comparison.shared.push_back(say("compare.same-home", {{"nodes", someOf(nodes)}}));
    for (const auto& nodes : groupsBy(&NodeReport::stateId, checks))
        comparison.shared.push_back(say("compare.same-state", {{"nodes", someOf(nodes)}}));
    return comparison;
}

} // namespace rm
