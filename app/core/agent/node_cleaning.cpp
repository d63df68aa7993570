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

void reportSharedOnce(std::vector<CleanedNode>& nodes) {
    for (auto& [id, sharers] : groupedBy(&DeployedReport::homeId, nodes)) {
        const CleanedNode* reporter = *std::ranges::max_element(
            sharers, {}, [](const CleanedNode* node) { return neededBytes(*node->report); });
        for (CleanedNode* node : sharers) {
            for (const CleanedNode* other : sharers)
                if (other != node)
                    node->sharers.push_back(other->node);
            if (node == reporter)
                continue;
            node->reportedBy = reporter->node;
            std::erase_if(node->report->items, std::not_fn(isOfRun));
        }
    }
    for (auto& [id, sharers] : groupedBy(&DeployedReport::stateId, nodes)) {
        const auto first = std::ranges::find_if(
            sharers, [](const CleanedNode* node) { return node->reportedBy.empty(); });
        const CleanedNode* reporter = first == sharers.end() ? sharers.front() : *first;
        for (CleanedNode* node : sharers)
            if (node != reporter)
                std::erase_if(node->report->items, isOfRun);
    }
}

} // namespace rm
