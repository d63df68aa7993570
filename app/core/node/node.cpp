// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace rm {

namespace {

auto wayTo(const Node& node) {
    return std::tie(node.name, node.isLocal, node.sshHost, node.user, node.port, node.identityFile,
                    node.jumpHost);
}

} // namespace

Node localNode() {
    Node node;
    node.name = kLocalNodeName;
    node.isLocal = true;
    return node;
}

bool isThisComputer(const Node& node) {
    return node.isLocal && !node.isSlurm;
}

bool areReachedAlike(const Node& a, const Node& b) {
    return wayTo(a) == wayTo(b);
}

std::vector<Node> measuredNodes(const std::vector<Node>& all) {
    constexpr size_t kThisAndTwoOthers = 3;
    std::vector<Node> nodes;
    std::ranges::copy_if(all, std::back_inserter(nodes),
                         [](const Node& node) { return !node.isSlurm; });
    if (nodes.size() >= kThisAndTwoOthers)
        std::erase_if(nodes, &isThisComputer);
    return nodes;
}

std::vector<std::string> groupsOf(const std::vector<Node>& nodes) {
    std::set<std::string> groups;
    for (const Node& node : nodes)
        groups.insert(node.groups.begin(), node.groups.end());
    return {groups.begin(), groups.end()};
}

} // namespace rm
