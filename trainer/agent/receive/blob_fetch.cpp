// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/blob_fetch.h"

#include "shared/io/clock.h"
#include "shared/io/frame.h"
#include "shared/return_if_error.h"
#include "trainer/agent/peers/tls.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <poll.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>

namespace rm {

namespace {

using asio::ip::tcp;
using Stream = asio::ssl::stream<tcp::socket>;

constexpr std::chrono::milliseconds kTick{200};
constexpr int kQuietTicks = 5;
constexpr int64_t kConnectNs = 4'000'000'000; ///< handshake included
constexpr int64_t kSilenceNs = 10'000'000'000;

/// One fetch: tries all addresses at once, and goes on with the first that knows the key.
class BlobFetch {
public:
    BlobFetch(const Fetch& order, const std::vector<MissingBlob>& missing, int inputFd,
              const FetchHandlers& handlers)
        : m_order(order)
        , m_inputFd(inputFd)
        , m_handlers(handlers)
        , m_tick(m_io) {
        for (const Missing& part : splitMissing(missing))
            appendFrame(m_request, encodeTransfer(part));
    }

    Result<std::string> run() {
        RM_ASSIGN_OR_RETURN(m_tls, makeRunTls(m_order.id, m_order.key));
        for (const std::string& address : m_order.addresses)
            connect(address);
        if (m_candidates.empty())
            return "it cannot be reached: " + m_lastRefusal;
        tick();
        m_io.run();
        if (m_error)
            return tl::unexpected(*m_error);
        if (m_reported != m_done)
            RM_RETURN_IF_ERROR(m_handlers.report(m_done));
        return m_why;
    }

private:
    /// Looked at now and then: Asio would make it non-blocking for everybody that reads from it.
    bool isEndedByApp() const {
        pollfd input = {m_inputFd, POLLIN, 0};
        return ::poll(&input, 1, 0) > 0;
    }

    void connect(const std::string& text) {
        asio::error_code error;
        const auto address = asio::ip::make_address(text, error);
        if (error)
            return;
        const auto stream = std::make_shared<Stream>(tcp::socket(m_io), *m_tls);
        // There is nobody whose certificate would be taken; see makeRunTls().
        stream->set_verify_mode(asio::ssl::verify_peer, error);
        const tcp::endpoint there(address, static_cast<uint16_t>(m_order.port));
        stream->next_layer().open(there.protocol(), error);
        if (error)
            return;
        m_candidates.push_back(stream);
        stream->next_layer().async_connect(there, [this, stream](asio::error_code failed) {
            if (failed || m_stream || m_isOver)
                return lose(stream, failed);
            asio::error_code ignored;
            stream->next_layer().set_option(tcp::no_delay(true), ignored);
            stream->async_handshake(
                asio::ssl::stream_base::client,
                [this, stream](asio::error_code refused) { onHandshake(stream, refused); });
        });
    }

    void onHandshake(const std::shared_ptr<Stream>& stream, asio::error_code error) {
        const bool knowsKey = !error && SSL_session_reused(stream->native_handle()) == 1;
        if (!knowsKey || m_stream || m_isOver)
            return lose(stream, error);
        m_stream = stream;
        for (const auto& other : m_candidates)
            if (other != stream)
                close(*other);
        m_heardNs = monotonicNowNs();
        asio::async_write(*m_stream, asio::buffer(m_request),
                          [this](asio::error_code failed, size_t) {
                              if (failed)
                                  end(failed.message());
                          });
        read();
    }

    void lose(const std::shared_ptr<Stream>& stream, asio::error_code error) {
        close(*stream);
        std::erase(m_candidates, stream);
        if (error && error != asio::error::operation_aborted)
            m_lastRefusal = error.message();
        if (!m_stream && m_candidates.empty())
            end("it cannot be reached: " + m_lastRefusal);
    }

    void read() {
        m_stream->async_read_some(asio::buffer(m_bytes),
                                  [this](asio::error_code error, size_t count) {
                                      if (m_isOver)
                                          return;
                                      if (error)
                                          return end("its connection ended");
                                      m_heardNs = monotonicNowNs();
                                      if (onBytes(count))
                                          read();
                                  });
    }

    bool onBytes(size_t count) {
        m_frames.feed(std::span(m_bytes).first(count));
        for (;;) {
            const auto payload = m_frames.next();
            if (!payload) {
                end(payload.error().message);
                return false;
            }
            if (!*payload)
                return true;
            const size_t packed = (*payload)->size();
            const auto transfer = decodeTransfer(**payload);
            if (!transfer) {
                end(transfer.error().message);
                return false;
            }
            if (std::holds_alternative<Waiting>(*transfer))
                continue;
            if (!take(*transfer, packed))
                return false;
        }
    }

    bool take(const Transfer& transfer, size_t packed) {
        const Result<int64_t> taken = m_handlers.onTransfer(transfer);
        if (!taken && taken.error().code != ErrorCode::kCorrupt &&
            taken.error().code != ErrorCode::kInvalid)
            m_error = taken.error();
        if (!taken) {
            end(taken.error().message);
            return false;
        }
        m_done.bytes += *taken;
        m_done.packed += static_cast<int64_t>(packed);
        if (m_handlers.isWhole()) {
            end("");
            return false;
        }
        return true;
    }

    void tick() {
        m_tick.expires_after(kTick);
        m_tick.async_wait([this](asio::error_code error) {
            if (error || m_isOver)
                return;
            if (isEndedByApp())
                return end("the app ended it");
            const int64_t silentNs = monotonicNowNs() - m_heardNs;
            if (!m_stream && silentNs > kConnectNs)
                return end("it cannot be reached: no answer within 4 s");
            if (silentNs > kSilenceNs)
                return end("nothing was heard of it for 10 s");
            // Also when nothing came, as a sign of life.
            if (m_reported != m_done || ++m_quiet % kQuietTicks == 0) {
                if (const auto reported = m_handlers.report(m_done); !reported) {
                    m_error = reported.error();
                    return end("");
                }
                m_reported = m_done;
            }
            tick();
        });
    }

    void end(const std::string& why) {
        if (m_isOver)
            return;
        m_isOver = true;
        m_why = why;
        m_io.stop();
    }

    static void close(Stream& stream) {
        asio::error_code ignored;
        stream.next_layer().close(ignored);
    }

    const Fetch& m_order;
    const int m_inputFd;
    const FetchHandlers& m_handlers;
    std::unique_ptr<asio::ssl::context> m_tls;
    asio::io_context m_io;
    asio::steady_timer m_tick;
    std::vector<std::shared_ptr<Stream>> m_candidates;
    std::shared_ptr<Stream> m_stream;
    std::string m_lastRefusal = "it has no address";
    std::vector<std::byte> m_request;
    std::array<std::byte, 64 * 1024> m_bytes;
    FrameScanner m_frames;
    Fetching m_done, m_reported;
    int m_quiet = 0; ///< ticks without a word to the app
    int64_t m_heardNs = monotonicNowNs();
    bool m_isOver = false;
    std::string m_why;
    std::optional<Error> m_error;
};

} // namespace

Result<std::string> fetchBlobs(const Fetch& order, const std::vector<MissingBlob>& missing,
                               int inputFd, const FetchHandlers& handlers) {
    return BlobFetch(order, missing, inputFd, handlers).run();
}

} // namespace rm
