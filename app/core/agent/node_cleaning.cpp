// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/node_cleaning.h"

#include <algorithm>
#include <functional>
#include <map>

namespace rm {

namespace {

/// The nodes that told the same id, by it.
std::map<std::string, std::vector<CleanedNode*>> groupedBy(std::string DeployedReport::*id,
                                                           std::vector<CleanedNode>& nodes) {
    std::map<std::string, std::vector<CleanedNode*>> groups;
    for (CleanedNode& node : nodes)
        if (node.report && !((*node.report).*id).empty())
            groups[(*node.report).*id].push_back(&node);
    std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
    return groups;
}

} // namespace

void tellSharedOnce(std::vector<CleanedNode>& nodes) {
    for (auto& [id, sharers] : groupedBy(&DeployedReport::homeId, nodes)) {
        const CleanedNode* teller = *std::ranges::max_element(
            sharers, {}, [](const CleanedNode* node) { return neededBytes(*node->report); });
        for (CleanedNode* node : sharers) {
            for (const CleanedNode* other : sharers)
                if (other != node)
                    node->sharers.push_back(other->node);
            if (node == teller)
                continue;
            node->toldBy = teller->node;
            std::erase_if(node->report->items, std::not_fn(isOfRun));
        }
    }
    for (auto& [id, sharers] : groupedBy(&DeployedReport::stateId, nodes)) {
        const auto told = std::ranges::find_if(
            sharers, [](const CleanedNode* node) { return node->toldBy.empty(); });
        const CleanedNode* teller = told == sharers.end() ? sharers.front() : *told;
        for (CleanedNode* node : sharers)
            if (node != teller)
                std::erase_if(node->report->items, isOfRun);
    }
}

} // namespace rm
