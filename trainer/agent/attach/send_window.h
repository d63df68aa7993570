// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace rm {

/// How much of the files may be on its way over a link at a time. Links buffer what they are given,
/// so that on a slow one all that is said after it would be late by many seconds. Heartbeats tell:
/// what was sent before one has arrived when its echo comes. The window grows while echoes come
/// soon, until it has no limit, and is what the link carries in a second once they are late. Times
/// are CLOCK_MONOTONIC.
class SendWindow {
public:
    /// So many bytes are handed to the link.
    void onFileBytes(size_t count, int64_t nowNs);
    /// The link asks for more. That it took long to take the last bytes tells as well.
    void onLinkReady(int64_t nowNs);
    void onHeartbeat(int64_t sentNs) { m_marks.push_back({sentNs, m_sent}); }
    void onEcho(int64_t sentNs, int64_t nowNs);

    /// How many bytes of files may be sent now: none while an echo is late.
    size_t room(int64_t nowNs) const;
    /// The window is used up, and no heartbeat was sent since: its echo would open it again.
    bool needsHeartbeat(int64_t nowNs) const;

private:
    struct Mark {
        int64_t sentNs;
        uint64_t bytes; ///< of files that were sent before it
    };

    bool isLate(int64_t tookNs) const;
    void narrow(uint64_t bytes, int64_t tookNs);

    static constexpr size_t kFirst = size_t{64} << 10;

    size_t m_limit = kFirst; ///< 0: none
    uint64_t m_sent = 0;
    size_t m_taking = 0; ///< bytes that the link is handed since m_takingNs
    int64_t m_takingNs = 0;
    uint64_t m_arrived = 0;
    int64_t m_arrivedNs = 0; ///< when that was told; 0: never
    int64_t m_leastNs = 0;   ///< of the fastest echo, there and back; 0: none has come
    std::deque<Mark> m_marks;
};

} // namespace rm
