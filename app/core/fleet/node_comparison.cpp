// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/node_comparison.h"

#include "app/core/deploy/runtime.h"
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
    return text.empty() ? "none" : text;
}

std::string gpusOf(const NodeReport& report) {
    std::map<std::string, int> counts;
    for (const GpuReport& gpu : report.gpus)
        ++counts[gpu.name];
    std::string words;
    for (const auto& [name, count] : counts)
        words += (words.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
    return orNone(words);
}

/// The newest torch that its GPUs and driver can use, installed here or not.
std::string runtimeOf(const NodeReport& report) {
    for (const Runtime& runtime : gpuRuntimes())
        if (!report.gpus.empty() && obstacleTo(runtime, report).empty())
            return runtime.name;
    return "cpu";
}

std::string limitOf(int64_t value) {
    return value < 0 ? "unlimited" : value == 0 ? "not told" : std::to_string(value);
}

struct Fact {
    const char* what;
    std::string (*of)(const NodeReport&);
};

constexpr std::array<Fact, 13> kFacts = {{
    {"Operating system", [](const NodeReport& r) { return orNone(r.os); }},
    {"Kernel", [](const NodeReport& r) { return orNone(r.kernel); }},
    {"glibc", [](const NodeReport& r) { return orNone(r.glibc); }},
    {"libstdc++", [](const NodeReport& r) { return orNone(r.libstdcxx); }},
    {"Driver", [](const NodeReport& r) { return orNone(r.driver); }},
    {"GPUs", gpusOf},
    {"Newest runtime", runtimeOf},
    {"CPU", [](const NodeReport& r) { return orNone(r.cpuModel); }},
    {"Cores", [](const NodeReport& r) { return std::to_string(r.cores); }},
    {"Memory", [](const NodeReport& r) { return memoryWords(r.memoryBytes); }},
    {"Locked memory", [](const NodeReport& r) { return limitOf(r.memlockBytes); }},
    {"Open files", [](const NodeReport& r) { return limitOf(r.openFiles); }},
    {"Agent", [](const NodeReport& r) { return orNone(r.release); }},
}};

NodeDifference differenceIn(const Fact& fact, const Checks& checks) {
    NodeDifference difference{fact.what, {}};
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
            sentences.push_back(someOf(names) +
                                " are the same machine: a run on several of these nodes shares its "
                                "processors, memory and GPUs; keep one and remove the others from "
                                "the list");
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
    return "of another Ringmaster" +
           (item.startedBy.empty() ? "" : ", started by " + item.startedBy);
}

std::vector<std::string> otherRunsThatGo(const DeployedReport& report, const KnownRuns& known) {
    std::vector<std::string> runs;
    for (const DeployedItem& item : report.items)
        if (item.keptFor.empty() && !otherRunMark(item, known).empty())
            runs.push_back(item.name +
                           (item.startedBy.empty() ? "" : ", started by " + item.startedBy));
    return runs;
}

std::string someOf(const std::vector<std::string>& nodes, size_t most) {
    std::string words;
    for (size_t i = 0; i < std::min(nodes.size(), most); ++i)
        words += (i == 0 ? "" : ", ") + nodes[i];
    if (nodes.size() > most)
        words += " and " + std::to_string(nodes.size() - most) + " more";
    return words;
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
        comparison.shared.push_back(someOf(nodes) +
                                    " share the folder of trainers and data, which is sent once");
    for (const auto& nodes : groupsBy(&NodeReport::stateId, checks))
        comparison.shared.push_back(
            someOf(nodes) + " share the folder of runs, in which each has a part of its own");
    return comparison;
}

} // namespace rm
