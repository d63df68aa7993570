// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "trainer/agent/supervisor/hang.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// Notices that a node's ranks do not get on, and which are to blame as far as can be seen here
/// (see judgeHang()). Passive; to be told of all ranks about once a second.
///
/// Ranks hang
/// - when none has finished a step for max(kLeastNs, 8 x the 99th percentile of the last steps'
///   times), of the first step for kSectionNs,
/// - when a section (start, data before the first step, rendezvous, validation, checkpoint), whose
///   time counts for no step, shows no change of phase and no new collective for kSectionNs,
/// - when one has been a stopped process for kLeastNs.
/// A run that is held or ends may take its time. The time in which this process itself did not run
/// does not count.
class HangWatch {
public:
    static constexpr int64_t kLeastNs = 10'000'000'000;
    static constexpr int kTimes = 8;
    static constexpr int64_t kSectionNs = 600'000'000'000;

    /// `node`: the name of the ranks' node, for people.
    explicit HangWatch(std::string node)
        : m_node(std::move(node)) {}

    /// Events: "rank-hangs"; again when a rank is to blame and none was before; "rank-goes-on".
    std::vector<Record> look(const std::vector<SeenRank>& ranks, Moment now);

    /// Set while they hang, as seen at the last look.
    const std::optional<Hang>& hang() const { return m_hang; }
    /// How often the limit that was passed has passed, as seen then; 0: they do not hang.
    int64_t limitsPassed() const;
    /// How long a step may take, by those before it.
    int64_t limitNs() const;

private:
    using Place = std::pair<Phase, uint64_t>; ///< a rank's phase, and its number of collectives

    void noteTime(const std::vector<SeenRank>& ranks, int64_t gapNs, Moment now);
    void noteStep(int64_t step, bool counts, Moment now);
    std::optional<int64_t> hangsSince(Moment now) const;

    std::string m_node;
    int64_t m_lastLookNs = 0;
    int64_t m_step = -1;            ///< of the slowest rank
    int64_t m_stepSinceNs = 0;      ///< when it was reached, moved by what does not count
    int64_t m_sectionSinceNs = 0;   ///< when a section last showed a change; now outside of them
    std::vector<int32_t> m_stopped; ///< ranks
    int64_t m_stoppedSinceNs = 0;   ///< when they became these
    std::vector<Place> m_places;
    std::deque<int64_t> m_times; ///< ns for each step seen, the newest last
    std::optional<Hang> m_hang;
};

} // namespace rm
