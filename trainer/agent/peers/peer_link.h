// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/frame.h"
#include "trainer/agent/peers/peer_message.h"

#include <asio/ip/tcp.hpp>
#include <asio/ssl/stream.hpp>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// One connection between two agents of a run: frames of PeerMessage in TLS. Belongs to one event
/// loop. It lives as long as it is open or somebody holds it.
class PeerLink : public std::enable_shared_from_this<PeerLink> {
public:
    static constexpr int64_t kSilenceNs = 5'000'000'000;   ///< after which tick() closes it
    static constexpr int64_t kHandshakeNs = 5'000'000'000; ///< connecting included

    struct Handlers {
        std::function<void()> opened; ///< the other side knows the key
        std::function<void(const PeerMessage&)> message;
        std::function<void(const std::string& why)> closed; ///< the last call
        std::function<void()> drained = {};                 ///< all that was sent has left
    };

    PeerLink(asio::ip::tcp::socket socket, asio::ssl::context& tls);

    /// Call one of these two, once; handlers are called from then on.
    void accept(Handlers handlers, int64_t nowNs);
    void connect(const asio::ip::tcp::endpoint& to, Handlers handlers, int64_t nowNs);

    /// Nothing while the link is not open. A peer that does not read is dropped.
    void send(const PeerMessage& message);
    /// Frames that are no PeerMessage; once drained, more.
    void sendFrames(std::span<const std::byte> frames);
    /// Bytes that the kernel has taken and the other machine has not acknowledged.
    int64_t unsentBytes();
    void tick(int64_t nowNs);
    bool isFlushed() const { return m_waiting.empty() && m_writing.empty(); }
    /// Without a call of Handlers::closed.
    void drop();

private:
    void handshake(asio::ssl::stream_base::handshake_type side);
    void read();
    bool onBytes(size_t count);
    void write();
    void close(const std::string& why);

    asio::ssl::stream<asio::ip::tcp::socket> m_stream;
    Handlers m_handlers;
    bool m_isOpen = false;
    bool m_isClosed = false;
    int64_t m_heardNs = 0;
    FrameScanner m_frames;
    std::array<std::byte, 4096> m_input;
    std::vector<std::byte> m_waiting, m_writing;
};

} // namespace rm
