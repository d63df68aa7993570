// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rm {

/// Which attempt goes on from which, and so which of their steps are the run's and which were given
/// up. An attempt that starts at step S of another has that one's steps up to S behind it, and
/// retires what all earlier attempts made besides. The living line is what the newest attempt has
/// behind it, and its own.
class RunLines {
public:
    struct Start {
        int attempt = 1;
        int64_t step = 0;
        int from = 0; ///< attempt that made the checkpoint; 0: not known, of the line before
    };
    /// Part of an attempt's steps, up to and with `last`, behind the part before it.
    struct Part {
        int64_t last = INT64_MAX;
        int retiredBy = 0; ///< 0: of the living line
        bool operator==(const Part&) const = default;
    };

    /// The attempts whose ranks came to run, by number.
    explicit RunLines(std::vector<Start> starts);

    const std::vector<Start>& starts() const { return m_starts; }
    /// The last of the attempt's steps that is of the living line; nullopt: none is. Of an attempt
    /// whose ranks never came to run, which has at most what an agent saw, what later ones left.
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
