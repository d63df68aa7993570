// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/named_nodes.h"

#include "shared/return_if_error.h"

#include <algorithm>

namespace rm::cli {

namespace {

bool isGroup(const std::string& typed) {
    return typed.starts_with('@');
}

Result<std::vector<std::string>> membersOf(const std::vector<Node>& nodes,
                                           const std::string& typed) {
    std::vector<std::string> members;
    for (const Node& node : nodes)
        if (std::ranges::find(node.groups, typed.substr(1)) != node.groups.end())
            members.push_back(node.name);
    if (!members.empty())
        return members;
    std::string groups;
    for (const std::string& group : groupsOf(nodes))
        groups += (groups.empty() ? "@" : ", @") + group;
    return fail(ErrorCode::kNotFound,
                "find the nodes of " + typed + ": no node is in that group; " +
                    (groups.empty() ? "give nodes one with ringmaster nodes edit NODE --group NAME"
                                    : "groups are " + groups));
}

Result<Placement> parsePlacement(const std::string& text) {
    const size_t colon = text.find(':');
    Placement placement{QString::fromStdString(text.substr(0, colon)), 0};
    if (colon == std::string::npos)
        return placement;
    bool isNumber = false;
    placement.ranks = QString::fromStdString(text.substr(colon + 1)).toInt(&isNumber);
    if (!isNumber || placement.ranks < 1)
        return fail(ErrorCode::kInvalid, "place ranks: \"" + text +
                                             "\" must read NAME or NAME:RANKS with RANKS >= 1, or "
                                             "@GROUP in the place of NAME");
    return placement;
}

bool names(const std::vector<Placement>& placements, const QString& node) {
    return std::ranges::find(placements, node, &Placement::node) != placements.end();
}

} // namespace

Result<std::vector<std::string>> namedNodes(const std::vector<Node>& nodes,
                                            const std::vector<std::string>& typed) {
    std::vector<std::string> all;
    for (const std::string& text : typed) {
        std::vector<std::string> members = {text};
        if (isGroup(text)) {
            RM_ASSIGN_OR_RETURN(members, membersOf(nodes, text));
        }
        for (const std::string& member : members)
            if (!isGroup(text) || std::ranges::find(all, member) == all.end())
                all.push_back(member);
    }
    return all;
}

Result<std::vector<Placement>> namedPlacements(const std::vector<Node>& nodes,
                                               const std::vector<std::string>& typed) {
    if (typed.empty())
        return std::vector<Placement>{{kLocalNodeName, 0}};
    std::vector<Placement> asTyped, single, all;
    for (const std::string& text : typed) {
        RM_ASSIGN_OR_RETURN(const auto placement, parsePlacement(text));
        asTyped.push_back(placement);
        if (!isGroup(text))
            single.push_back(placement);
    }
    for (const Placement& placement : asTyped) {
        const std::string name = placement.node.toStdString();
        if (!isGroup(name)) {
            all.push_back(placement);
            continue;
        }
        RM_ASSIGN_OR_RETURN(const auto members, membersOf(nodes, name));
        for (const std::string& member : members)
            if (const QString node = QString::fromStdString(member);
                !names(single, node) && !names(all, node))
                all.push_back({node, placement.ranks});
    }
    return all;
}

std::vector<std::string> namesOf(const std::vector<Placement>& placements) {
    std::vector<std::string> names;
    for (const Placement& placement : placements)
        names.push_back(placement.node.toStdString());
    return names;
}

} // namespace rm::cli
