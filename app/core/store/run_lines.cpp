// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_lines.h"

#include <algorithm>

namespace rm {

namespace {

using Parts = std::vector<RunLines::Part>;

void add(Parts& parts, RunLines::Part part) {
    if (!parts.empty() && parts.back().retiredBy == part.retiredBy)
        parts.back().last = part.last;
    else
        parts.push_back(part);
}

/// The parts once `attempt` goes on from `parts` up to `cut` and retires what lies behind that.
Parts goneOnFrom(const Parts& parts, std::optional<int64_t> cut, int attempt) {
    Parts out;
    bool isBehind = !cut;
    for (const RunLines::Part& part : parts) {
        if (!isBehind)
            add(out, {std::min(part.last, *cut), 0});
        isBehind = isBehind || part.last > *cut;
        if (isBehind)
            add(out, {part.last, part.retiredBy ? part.retiredBy : attempt});
    }
    return out;
}

} // namespace

RunLines::RunLines(std::vector<Start> starts)
    : m_starts(std::move(starts)) {
    for (size_t i = 0; i < m_starts.size(); ++i) {
        const auto end = m_starts.begin() + static_cast<std::ptrdiff_t>(i);
        const auto from = std::find_if(m_starts.begin(), end, [&](const Start& start) {
            return start.attempt == m_starts[i].from;
        });
        m_parents.push_back(from != end ? static_cast<int>(from - m_starts.begin())
                                        : static_cast<int>(i) - 1);
    }
    if (m_starts.empty())
        return;
    m_living = behind(m_starts.size() - 1);
    m_living[m_starts.back().attempt] = INT64_MAX;
}

RunLines::Cuts RunLines::behind(size_t index) const {
    Cuts cuts;
    int64_t last = INT64_MAX;
    for (auto i = static_cast<int>(index); m_parents[static_cast<size_t>(i)] >= 0;) {
        last = std::min(last, m_starts[static_cast<size_t>(i)].step);
        i = m_parents[static_cast<size_t>(i)];
        cuts[m_starts[static_cast<size_t>(i)].attempt] = last;
    }
    return cuts;
}

std::optional<int64_t> RunLines::livingUntil(int attempt) const {
    if (const auto living = m_living.find(attempt); living != m_living.end())
        return living->second;
    int64_t last = INT64_MAX;
    for (const Start& start : m_starts) {
        if (start.attempt == attempt)
            return std::nullopt;
        if (start.attempt > attempt)
            last = std::min(last, start.step);
    }
    return last;
}

std::map<int, std::vector<RunLines::Part>> RunLines::parts() const {
    std::map<int, Parts> all;
    for (size_t i = 0; i < m_starts.size(); ++i) {
        const Cuts cuts = behind(i);
        for (auto& [attempt, parts] : all) {
            const auto cut = cuts.find(attempt);
            parts = goneOnFrom(parts, cut == cuts.end() ? std::nullopt : std::optional(cut->second),
                               m_starts[i].attempt);
        }
        all[m_starts[i].attempt] = {Part{}};
    }
    return all;
}

} // namespace rm
