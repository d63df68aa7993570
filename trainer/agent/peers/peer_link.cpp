// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/peer_link.h"

#include "shared/io/clock.h"

#include <asio/buffer.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <span>
#include <utility>

namespace rm {

namespace {

constexpr size_t kMostWaiting = 1 << 20;

/// Why nothing more comes: the kernel there closes what a process had open.
std::string wordsFor(asio::error_code error) {
    const bool isClosed = error == asio::error::eof || error == asio::error::connection_reset ||
                          error == asio::ssl::error::stream_truncated;
    return isClosed ? "its agent ended, though its machine answers" : error.message();
}

} // namespace

PeerLink::PeerLink(asio::ip::tcp::socket socket, asio::ssl::context& tls)
    : m_stream(std::move(socket), tls) {}

void PeerLink::accept(Handlers handlers, int64_t nowNs) {
    m_handlers = std::move(handlers);
    m_heardNs = nowNs;
    handshake(asio::ssl::stream_base::server);
}

void PeerLink::connect(const asio::ip::tcp::endpoint& to, Handlers handlers, int64_t nowNs) {
    m_handlers = std::move(handlers);
    m_heardNs = nowNs;
    // There is nobody whose certificate would be taken; see makeRunTls().
    asio::error_code error;
    m_stream.set_verify_mode(asio::ssl::verify_peer, error);
    m_stream.next_layer().open(to.protocol(), error);
    if (error)
        return close(error.message());
    m_stream.next_layer().async_connect(to, [self = shared_from_this()](asio::error_code failed) {
        if (failed)
            return self->close(failed.message());
        self->handshake(asio::ssl::stream_base::client);
    });
}

void PeerLink::handshake(asio::ssl::stream_base::handshake_type side) {
    auto& socket = m_stream.next_layer();
    asio::error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    // Ranks that are started must not keep it open.
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    m_stream.async_handshake(side, [self = shared_from_this()](asio::error_code error) {
        if (self->m_isClosed)
            return;
        if (error)
            return self->close(error.message());
        if (SSL_session_reused(self->m_stream.native_handle()) != 1)
            return self->close("it did not use the key of the run");
        self->m_isOpen = true;
        self->m_heardNs = monotonicNowNs();
        self->m_handlers.opened();
        self->read();
    });
}

void PeerLink::send(const PeerMessage& message) {
    if (!m_isOpen || m_isClosed)
        return;
    const std::string text = encodePeerMessage(message);
    appendFrame(m_waiting, std::as_bytes(std::span(text)));
    if (m_waiting.size() > kMostWaiting)
        return close("it does not read");
    write();
}

void PeerLink::sendFrames(std::span<const std::byte> frames) {
    if (!m_isOpen || m_isClosed)
        return;
    m_waiting.insert(m_waiting.end(), frames.begin(), frames.end());
    write();
}

int64_t PeerLink::unsentBytes() {
    int bytes = 0;
    return ::ioctl(m_stream.next_layer().native_handle(), SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

void PeerLink::tick(int64_t nowNs) {
    if (!m_isClosed && nowNs - m_heardNs >= (m_isOpen ? kSilenceNs : kHandshakeNs))
        close(m_isOpen ? "nothing was heard of it for 5 s: its machine, or the network between"
                       : "no answer within 5 s");
}

void PeerLink::read() {
    m_stream.async_read_some(asio::buffer(m_input),
                             [self = shared_from_this()](asio::error_code error, size_t count) {
                                 if (self->m_isClosed)
                                     return;
                                 if (error)
                                     return self->close(wordsFor(error));
                                 if (self->onBytes(count))
                                     self->read();
                             });
}

bool PeerLink::onBytes(size_t count) {
    m_heardNs = monotonicNowNs();
    m_frames.feed(std::span(m_input).first(count));
    while (!m_isClosed) {
        const auto payload = m_frames.next();
        if (!payload) {
            close(payload.error().message);
            break;
        }
        if (!*payload)
            return true;
        const std::string_view text(reinterpret_cast<const char*>((*payload)->data()),
                                    (*payload)->size());
        const Result<PeerMessage> message = parsePeerMessage(text);
        if (message) {
            const auto handle = m_handlers.message; // the handler may drop the link
            handle(*message);
        } else if (message.error().code != ErrorCode::kTooNew)
            close(message.error().message);
    }
    return false;
}

void PeerLink::write() {
    if (!m_writing.empty() || m_waiting.empty())
        return;
    m_writing.swap(m_waiting);
    asio::async_write(m_stream, asio::buffer(m_writing),
                      [self = shared_from_this()](asio::error_code error, size_t) {
                          self->m_writing.clear();
                          if (self->m_isClosed)
                              return;
                          if (error)
                              return self->close(error.message());
                          self->write();
                          if (const auto drained = self->m_handlers.drained;
                              drained && self->isFlushed())
                              drained();
                      });
}

void PeerLink::close(const std::string& why) {
    if (m_isClosed)
        return;
    const auto self = shared_from_this(); // whoever is told may let go of it
    const Handlers handlers = std::exchange(m_handlers, {});
    drop();
    handlers.closed(why);
}

void PeerLink::drop() {
    m_isClosed = true;
    m_handlers = {};
    asio::error_code ignored;
    m_stream.next_layer().close(ignored);
}

} // namespace rm
