// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/peers/peer_link.h"
#include "trainer/agent/posix/child.h"

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <array>
#include <memory>
#include <string>

namespace rm {

/// Sends a checkpoint of this node over a link, as `send-checkpoint` makes it, while the ranks
/// train: it rests four times as long as each piece took until the other machine had it, so that
/// disk and network are theirs for most of the time. After hurry() it does not rest. Belongs to one
/// event loop.
class CopyRelay {
public:
    static constexpr int kRest = 4;
    static constexpr int64_t kStallNs = 60'000'000'000; ///< without a byte: isOver()

    CopyRelay(asio::io_context& io, std::shared_ptr<PeerLink> link);
    ~CopyRelay(); ///< drops the link

    Result<void> begin(const std::string& path, int64_t nowNs);
    /// The link's Handlers::drained.
    void onDrained(int64_t nowNs);
    bool isOver(int64_t nowNs) const;
    void hurry() { m_rests = false; } ///< no rank trains any more

private:
    void read();
    void awaitSent();
    void rest(int64_t ns, void (CopyRelay::*then)());

    std::shared_ptr<PeerLink> m_link;
    /// For handlers, which may come after this is gone: Asio cancels no operation that has ended.
    std::shared_ptr<int> m_alive = std::make_shared<int>();
    pid_t m_child = 0;
    asio::posix::stream_descriptor m_output;
    asio::steady_timer m_rest;
    std::array<std::byte, 256 * 1024> m_piece;
    int64_t m_beganNs = 0; ///< the piece that is on its way
    int64_t m_movedNs = 0;
    int64_t m_leftBefore = 0; ///< bytes that were not sent
    bool m_rests = true;
    bool m_hasEnded = false; ///< all was read; the other end closes the link
};

} // namespace rm
