// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/blob_server.h"

#include "shared/io/clock.h"
#include "shared/io/frame.h"
#include "shared/return_if_error.h"
#include "trainer/agent/peers/tls.h"
#include "trainer/agent/receive/blob_store.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/post.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <set>
#include <thread>

namespace rm {

namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;

// Small, so that a piece is soon on its way through a long chain over slow links.
constexpr size_t kPiece = 32 * 1024;
constexpr size_t kMostAtOnce = 128 * 1024; ///< bytes handed to the kernel at once
constexpr int kPackLevel = 1;
constexpr milliseconds kLook{50};                   ///< where grown() was not called for it
constexpr int64_t kAliveNs = 2'000'000'000;         ///< between two signs of life
constexpr int64_t kHandshakeNs = 5'000'000'000;     ///< to begin
constexpr int64_t kStalledWriteNs = 60'000'000'000; ///< a peer that takes nothing so long is gone
constexpr size_t kMostSessions = 256;

/// One agent that fetches. Belongs to the server's loop.
class Session : public std::enable_shared_from_this<Session> {
public:
    Session(tcp::socket socket, asio::ssl::context& tls, const BlobStore& store)
        : m_stream(std::move(socket), tls)
        , m_store(store)
        , m_plain(kPiece)
        , m_packed(ZSTD_compressBound(kPiece)) {}

    void begin() {
        asio::error_code ignored;
        m_stream.next_layer().set_option(tcp::no_delay(true), ignored);
        ::fcntl(m_stream.next_layer().native_handle(), F_SETFD, FD_CLOEXEC);
        m_stream.async_handshake(asio::ssl::stream_base::server,
                                 [self = shared_from_this()](asio::error_code error) {
                                     if (error || SSL_session_reused(self->native()) != 1)
                                         return self->close();
                                     self->m_isOpen = true;
                                     self->m_movedNs = monotonicNowNs();
                                     self->read();
                                 });
    }

    /// Goes on with what has grown, and says now and then that this side lives.
    void tick(int64_t nowNs) {
        const int64_t patience = m_isOpen ? kStalledWriteNs : kHandshakeNs;
        if ((m_isWriting || !m_isOpen) && nowNs - m_movedNs > patience)
            return close();
        pump();
        if (m_isOpen && !m_isWriting && nowNs - m_movedNs > kAliveNs) {
            m_output = frameTransfer(Waiting{});
            write();
        }
    }

    void pump() {
        if (!m_isOpen || m_isWriting || m_isClosed)
            return;
        m_output.clear();
        while (m_output.size() < kMostAtOnce && !m_wanted.empty() && appendSome()) {
        }
        if (!m_output.empty())
            write();
    }

    bool isClosed() const { return m_isClosed; }

    void close() {
        m_isClosed = true;
        asio::error_code ignored;
        m_stream.next_layer().close(ignored);
    }

private:
    SSL* native() { return m_stream.native_handle(); }

    /// False: there is no more yet.
    bool appendSome() {
        MissingBlob& wanted = m_wanted.front();
        if (!m_source.fd)
            m_source = m_store.openToRead(wanted.sha256);
        if (!m_source.fd)
            return false;
        const ssize_t size =
            ::pread(m_source.fd.get(), m_plain.data(), m_plain.size(), wanted.offset);
        if (size < 0) {
            close();
            return false;
        }
        if (size == 0)
            return atEnd(wanted);
        const size_t packed = ZSTD_compress(m_packed.data(), m_packed.size(), m_plain.data(),
                                            static_cast<size_t>(size), kPackLevel);
        if (ZSTD_isError(packed)) {
            close();
            return false;
        }
        wanted.offset += size;
        append(Chunk{{m_packed.begin(), m_packed.begin() + static_cast<std::ptrdiff_t>(packed)}});
        return true;
    }

    bool atEnd(const MissingBlob& wanted) {
        if (m_source.isWhole) {
            append(BlobEnd{wanted.sha256});
            m_source = {};
            m_wanted.pop_front();
            return true;
        }
        auto now = m_store.openToRead(wanted.sha256);
        if (now.isWhole) {
            m_source = std::move(now);
            return true;
        }
        struct stat info = {};
        // What it held was wrong: what was passed on of it is, too.
        if (::fstat(m_source.fd.get(), &info) == 0 && info.st_nlink == 0)
            close();
        return false;
    }

    void append(const Transfer& transfer) { appendFrame(m_output, encodeTransfer(transfer)); }

    void read() {
        m_stream.async_read_some(asio::buffer(m_input),
                                 [self = shared_from_this()](asio::error_code error, size_t count) {
                                     if (error || self->m_isClosed || !self->onBytes(count))
                                         return self->close();
                                     self->pump();
                                     self->read();
                                 });
    }

    bool onBytes(size_t count) {
        m_frames.feed(std::span(m_input).first(count));
        for (;;) {
            const auto payload = m_frames.next();
            if (!payload || !*payload)
                return payload.has_value();
            const auto transfer = decodeTransfer(**payload);
            const auto* missing = transfer ? std::get_if<Missing>(&*transfer) : nullptr;
            if (!missing)
                return false;
            m_wanted.insert(m_wanted.end(), missing->blobs.begin(), missing->blobs.end());
        }
    }

    void write() {
        m_isWriting = true;
        asio::async_write(m_stream, asio::buffer(m_output),
                          [self = shared_from_this()](asio::error_code error, size_t) {
                              self->m_isWriting = false;
                              self->m_movedNs = monotonicNowNs();
                              if (error || self->m_isClosed)
                                  return self->close();
                              self->pump();
                          });
    }

    asio::ssl::stream<tcp::socket> m_stream;
    const BlobStore& m_store;
    std::vector<std::byte> m_plain, m_packed;
    std::array<std::byte, 16 * 1024> m_input;
    FrameScanner m_frames;
    std::deque<MissingBlob> m_wanted;
    BlobStore::Source m_source; ///< the file of the first of them
    std::vector<std::byte> m_output;
    bool m_isOpen = false, m_isWriting = false, m_isClosed = false;
    int64_t m_movedNs = monotonicNowNs();
};

} // namespace

class BlobServer::Loop {
public:
    explicit Loop(const std::string& folder)
        : m_store(folder)
        , m_acceptor(m_io)
        , m_look(m_io) {}

    Result<void> listen(const Serve& order) {
        RM_ASSIGN_OR_RETURN(m_tls, makeRunTls(order.id, order.key));
        // Both kinds of addresses where the kernel has both.
        auto bound = bindTo(tcp::v6());
        if (bound)
            bound = bindTo(tcp::v4());
        if (bound)
            return failErrno("listen for other nodes' agents", bound.value());
        return {};
    }

    int port() const { return m_acceptor.local_endpoint().port(); }

    void begin() {
        accept();
        look();
        m_thread = std::thread([this] { m_io.run(); });
    }

    ~Loop() {
        m_io.stop();
        if (m_thread.joinable())
            m_thread.join();
    }

    void grown() {
        if (m_isNotified.exchange(true))
            return;
        asio::post(m_io, [this] {
            m_isNotified = false;
            for (const auto& session : m_sessions)
                session->pump();
        });
    }

private:
    asio::error_code bindTo(const tcp& protocol) {
        asio::error_code error, ignored;
        m_acceptor.close(ignored);
        m_acceptor.open(protocol, error);
        if (!error && protocol == tcp::v6())
            m_acceptor.set_option(asio::ip::v6_only(false), error);
        if (!error && ::fcntl(m_acceptor.native_handle(), F_SETFD, FD_CLOEXEC) != 0)
            error = asio::error_code(errno, asio::error::get_system_category());
        if (!error)
            m_acceptor.bind(tcp::endpoint(protocol, 0), error);
        if (!error)
            m_acceptor.listen(asio::socket_base::max_listen_connections, error);
        return error;
    }

    void accept() {
        m_isAccepting = true;
        m_acceptor.async_accept([this](asio::error_code error, tcp::socket socket) {
            m_isAccepting = !error;
            if (error)
                return; // look() tries again: it may be that there are too many open files
            if (m_sessions.size() < kMostSessions) {
                const auto session = std::make_shared<Session>(std::move(socket), *m_tls, m_store);
                m_sessions.insert(session);
                session->begin();
            }
            accept();
        });
    }

    void look() {
        m_look.expires_after(kLook);
        m_look.async_wait([this](asio::error_code error) {
            if (error)
                return;
            for (const auto& session : m_sessions)
                session->tick(monotonicNowNs());
            std::erase_if(m_sessions, [](const auto& session) { return session->isClosed(); });
            if (!m_isAccepting)
                accept();
            look();
        });
    }

    const BlobStore m_store;
    std::unique_ptr<asio::ssl::context> m_tls;
    asio::io_context m_io;
    tcp::acceptor m_acceptor;
    asio::steady_timer m_look;
    bool m_isAccepting = false;
    std::set<std::shared_ptr<Session>> m_sessions;
    std::atomic<bool> m_isNotified = false;
    std::thread m_thread;
};

BlobServer::BlobServer(std::unique_ptr<Loop> loop)
    : m_loop(std::move(loop)) {}

BlobServer::~BlobServer() = default;

Result<std::unique_ptr<BlobServer>> BlobServer::start(const std::string& folder,
                                                      const Serve& order) {
    auto loop = std::make_unique<Loop>(folder);
    RM_RETURN_IF_ERROR(loop->listen(order));
    loop->begin();
    return std::unique_ptr<BlobServer>(new BlobServer(std::move(loop)));
}

int BlobServer::port() const {
    return m_loop->port();
}

void BlobServer::grown() {
    m_loop->grown();
}

} // namespace rm
