// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/log_fold.h"

#include "app/core/findings/text.h"
#include "app/core/store/export.h"

#include <algorithm>
#include <limits>

namespace rm {

std::vector<int> FoldedLine::ranks() const {
    std::vector<int> all{line.rank};
    for (const LogLine& other : others)
        all.push_back(other.rank);
    std::ranges::sort(all);
    return all;
}

bool FoldedLine::takes(const LogLine& other) const {
    const int64_t apartNs = other.wallNs - line.wallNs;
    return other.text == line.text && apartNs <= kFoldNs && -apartNs <= kFoldNs &&
           other.rank != line.rank && !line.text.empty() &&
           std::ranges::find(others, other.rank, &LogLine::rank) == others.end();
}

std::string rankRangesText(const std::vector<int>& ranks) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < ranks.size();) {
        size_t last = at;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
            ++last;
        parts.push_back(std::to_string(ranks[at]) +
                        (last > at ? "-" + std::to_string(ranks[last]) : ""));
        at = last + 1;
    }
    return say("run.log-ranks", {{"ranks", joined(parts, ", ")}});
}

std::string placeText(const FoldedLine& folded) {
    return folded.others.empty() ? placeText(folded.line) : rankRangesText(folded.ranks());
}

bool LogFolder::add(const LogLine& line) {
    if (!giveUpTo(line.wallNs - kFoldNs - 1))
        return false;
    const auto same = m_newest.find(line.text);
    if (same != m_newest.end() && same->second >= m_given) {
        FoldedLine& open = m_open[same->second - m_given];
        if (open.takes(line)) {
            open.others.push_back(line);
            return true;
        }
    }
    m_newest[line.text] = m_given + m_open.size();
    m_open.push_back({line});
    return true;
}

bool LogFolder::finish() {
    return giveUpTo(std::numeric_limits<int64_t>::max());
}

bool LogFolder::giveUpTo(int64_t wallNs) {
    for (; !m_open.empty() && m_open.front().line.wallNs <= wallNs; m_open.pop_front()) {
        const FoldedLine& folded = m_open.front();
        if (const auto same = m_newest.find(folded.line.text);
            same != m_newest.end() && same->second == m_given)
            m_newest.erase(same);
        ++m_given;
        if (!m_sink(folded))
            return false;
    }
    return true;
}

} // namespace rm
