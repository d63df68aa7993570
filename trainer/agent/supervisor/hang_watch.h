// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/journal/records.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace rm {

/// Notices that a node's ranks do not get on, and names the one that is to blame if that can be
/// seen here: a process that is stopped, or a rank that is behind the others of this node. Passive;
/// to be told of all ranks about once a second.
///
/// Ranks hang when none has finished a step for max(kLeastNs, 8 x the 99th percentile of the last
/// steps' times), not counting phases that take as long as they take (start, rendezvous,
/// validation, checkpoint, held, ending) and the time in which this process itself did not run.
class HangWatch {
public:
    static constexpr int64_t kLeastNs = 10'000'000'000;
    static constexpr int kTimes = 8;

    struct SeenRank {
        int32_t rank = 0;
        int64_t step = 0;
        Phase phase = Phase::kStarting;
        bool isStopped = false;
    };

    /// Events "rank-hangs" and, when they get on again, "rank-goes-on".
    std::vector<Record> look(const std::vector<SeenRank>& ranks, Moment now);

private:
    int64_t limitNs() const;
    Event hangOf(const std::vector<SeenRank>& ranks, Moment now) const;

    int64_t m_lastLookNs = 0;
    int64_t m_step = -1;         ///< of the slowest rank
    int64_t m_sinceNs = 0;       ///< when it was reached, moved by what does not count
    std::deque<int64_t> m_times; ///< ns for each step seen, the newest last
    bool m_isHanging = false;
};

} // namespace rm
