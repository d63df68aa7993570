// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/part_words.h"

namespace rm {

std::string partWords(const std::vector<RunNode>& last, const std::vector<RunNode>& whole) {
    int ranks = 0, all = 0;
    std::string missing;
    for (const RunNode& node : last) {
        ranks += node.ranks;
        if (node.ranks == 0)
            missing += (missing.empty() ? "" : ", ") + node.nodeName;
    }
    for (const RunNode& node : whole)
        all += node.ranks;
    if (missing.empty() || ranks >= all)
        return {};
    return "It last trained on " + std::to_string(ranks) + " of its " + std::to_string(all) +
           " ranks, without " + missing + "; it goes on with all.";
}

} // namespace rm
