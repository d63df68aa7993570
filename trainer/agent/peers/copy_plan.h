// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "trainer/agent/peers/peer_message.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rm {

/// Decides when the leader has another node fetch the newest checkpoint: each once, one at a time,
/// and one that failed again after a minute, then after ever longer pauses, unless there is a newer
/// one. Once the run is over the newest is offered once more, whatever is on its way by then, and
/// given the time that its size takes. Passive; times are CLOCK_MONOTONIC, ns.
class CopyPlan {
public:
    static constexpr int64_t kSecondNs = 1'000'000'000;
    static constexpr int64_t kLookNs = 10 * kSecondNs;   ///< between looks for a newer one
    static constexpr int64_t kAnswerNs = 60 * kSecondNs; ///< for an answer, once nothing moves
    static constexpr int64_t kRetryNs = 60 * kSecondNs;
    static constexpr int64_t kLastNs = 60 * kSecondNs; ///< for the last one, and by its size:
    static constexpr int64_t kLeastRate = 10'000'000;  ///< bytes a second

    /// Whether to look which checkpoint is the newest.
    bool isDue(int64_t nowNs) const;
    /// The newest is this one; empty: there is none. True: offer it, which is taken for done.
    bool onNewest(const std::string& path, int64_t bytes, int64_t nowNs);
    /// Bytes of what was offered are on their way.
    void onProgress(int64_t nowNs) { m_movedNs = nowNs; }
    /// True: it failed, which is news.
    bool onAnswer(const FetchAnswer& answer, int64_t nowNs);

    /// The run is over: there will be no newer one.
    void onOver() { m_isOver = true; }
    /// Whether, after onOver(), there is nothing more to wait for, or no time.
    bool isDone(int64_t nowNs) const;
    /// The path of the offer that waits for an answer; empty: none does.
    const std::string& offered() const { return m_offered; }

private:
    bool isBusy(int64_t nowNs) const;

    int64_t m_lookedNs = 0;
    std::string m_offered;
    int64_t m_movedNs = 0; ///< when bytes of that last moved
    std::string m_copied;  ///< the last that was copied
    std::string m_failed;  ///< the last that could not be copied
    int m_failures = 0;    ///< in a row
    int64_t m_retryNs = 0; ///< when that may be offered again
    bool m_isOver = false;
    int64_t m_deadlineNs = 0; ///< for the last one; 0: it is not known yet
};

/// How a fetch ended.
struct FetchedCopy {
    FetchAnswer answer;                     ///< for the leader
    std::optional<CheckpointCopied> copied; ///< empty: it failed, or there is only the original
};

/// `text`: what `fetch-checkpoint` answered to `order` (checkpoint_fetcher.h). Where nodes share
/// the folder the leader's wish is met and yet there is no copy, which would be gone together with
/// the original.
FetchedCopy fetchedCopy(const FetchOrder& order, const std::string& text, int64_t wallNs);

} // namespace rm
