// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rm {

/// Which attempt continues which, and hence which steps belong to the run's living line and which
/// to abandoned ones. An attempt that starts at step S of another inherits that attempt's line up
/// to S and retires all other steps of earlier attempts. The living line is the newest attempt's
/// inherited and own steps.
class RunLines {
public:
    struct Start {
        int attempt = 1;
        int64_t step = 0;
        int from = 0; ///< attempt that made the checkpoint; 0: not known, of the line before
    };
    /// Part of an attempt's steps: from the end of the part before it up to and including `last`.
    struct Part {
        int64_t last = INT64_MAX;
        int retiredBy = 0; ///< 0: of the living line
        bool operator==(const Part&) const = default;
    };

    /// The attempts whose ranks came to run, by number.
    explicit RunLines(std::vector<Start> starts);

    const std::vector<Start>& starts() const { return m_starts; }
    /// The attempt's last step on the living line; nullopt: none is. For an attempt whose ranks
    /// never ran, and which has at most samples of an agent, the last step that later ones did not
    /// retire.
    std::optional<int64_t> livingUntil(int attempt) const;
    /// All steps of every attempt, by step.
    std::map<int, std::vector<Part>> parts() const;

private:
    using Cuts = std::map<int, int64_t>; ///< attempt -> last of its steps

    Cuts behind(size_t index) const;

    std::vector<Start> m_starts;
    std::vector<int> m_parents; ///< index of the attempt that each goes on from; -1: of none
    Cuts m_living;
};

} // namespace rm
