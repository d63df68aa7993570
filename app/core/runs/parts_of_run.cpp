// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/parts_of_run.h"

#include "app/core/findings/text.h"
#include "app/core/store/run_summary.h"

namespace rm {

std::string partWords(const std::vector<RunNode>& last, const std::vector<RunNode>& whole) {
    int ranks = 0, all = 0;
    std::string missing;
    for (const RunNode& node : last) {
        ranks += node.ranks;
        if (node.ranks == 0)
            append(missing, node.nodeName, ", ");
    }
    for (const RunNode& node : whole)
        all += node.ranks;
    if (missing.empty() || ranks >= all)
        return {};
    return say(
        "run.trained-on-part",
        {{"ranks", std::to_string(ranks)}, {"all", std::to_string(all)}, {"nodes", missing}});
}

std::string unreadWords(const RunSummary& run) {
    return run.unreadNodes.empty()
               ? std::string()
               : say("run.unread-parts", {{"nodes", joined(run.unreadNodes, ", ")}});
}

std::vector<Placement> placementsOf(const std::vector<RunNode>& nodes) {
    std::vector<Placement> placements;
    for (const RunNode& part : nodes) {
        const QString node = QString::fromStdString(part.nodeName);
        if (!placements.empty() && placements.back().node == node)
            placements.back().ranks += part.ranks;
        else
            placements.push_back({node, part.ranks});
    }
    return placements;
}

} // namespace rm
