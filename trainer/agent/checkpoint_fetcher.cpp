// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/checkpoint_fetcher.h"

#include "shared/io/frame.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/peers/peer_message.h"
#include "trainer/agent/peers/tls.h"
#include "trainer/agent/receive/checkpoint_receiver.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

namespace rm {

namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kStall(60);

/// One connection to the leader's agent. It waits for at most kStall at a time.
class LeaderConnection {
public:
    explicit LeaderConnection(const NodePlan& plan)
        : m_what("fetch a checkpoint from " + plan.masterAddr + " port " +
                 std::to_string(plan.agentPort)) {}

    Result<void> open(const NodePlan& plan) {
        RM_ASSIGN_OR_RETURN(m_tls, makeRunTls(plan.runId, plan.agentKey));
        asio::error_code error;
        const auto address = asio::ip::make_address(plan.masterAddr, error);
        if (error)
            return failWith(error);
        m_stream = std::make_unique<Stream>(m_io, *m_tls);
        // There is nobody whose certificate would be taken; see makeRunTls().
        m_stream->set_verify_mode(asio::ssl::verify_peer, error);
        const tcp::endpoint leader(address, static_cast<uint16_t>(plan.agentPort));
        m_stream->next_layer().open(leader.protocol(), error);
        if (error)
            return failWith(error);
        RM_RETURN_IF_ERROR(
            await([&](auto done) { m_stream->next_layer().async_connect(leader, done); }));
        RM_RETURN_IF_ERROR(await(
            [&](auto done) { m_stream->async_handshake(asio::ssl::stream_base::client, done); }));
        if (SSL_session_reused(m_stream->native_handle()) != 1)
            return fail(ErrorCode::kDenied, m_what + ": it did not use the key of the run");
        return {};
    }

    Result<void> send(const PeerMessage& message) {
        std::vector<std::byte> frame;
        const std::string text = encodePeerMessage(message);
        appendFrame(frame, std::as_bytes(std::span(text)));
        return await([&](auto done) { asio::async_write(*m_stream, asio::buffer(frame), done); });
    }

    /// Reads at least one byte.
    Result<size_t> read(std::span<std::byte> buffer) {
        size_t size = 0;
        RM_RETURN_IF_ERROR(await([&](auto done) {
            m_stream->async_read_some(asio::buffer(buffer.data(), buffer.size()),
                                      [&size, done](asio::error_code error, size_t count) {
                                          size = count;
                                          done(error);
                                      });
        }));
        return size;
    }

private:
    using Stream = asio::ssl::stream<tcp::socket>;

    tl::unexpected<Error> failWith(const asio::error_code& error) const {
        return fail(ErrorCode::kUnavailable, m_what + ": " + error.message());
    }

    /// `start` begins an operation that calls the function it is given. One that takes too long is
    /// the last.
    template <class Start>
    Result<void> await(Start start) {
        std::optional<asio::error_code> how;
        start([&how](asio::error_code error, auto...) { how = error; });
        m_io.restart();
        m_io.run_for(kStall);
        if (!how)
            return fail(ErrorCode::kUnavailable, m_what + ": nothing came for 60 s");
        return *how ? Result<void>(failWith(*how)) : Result<void>();
    }

    std::string m_what;
    asio::io_context m_io;
    std::unique_ptr<asio::ssl::context> m_tls;
    std::unique_ptr<Stream> m_stream;
};

/// Gives what comes to `receiver` until the checkpoint lies in its folder, which is returned.
Result<std::string> receiveFrom(LeaderConnection& leader, CheckpointReceiver& receiver) {
    FrameScanner frames;
    std::vector<std::byte> buffer(64 * 1024);
    for (;;) {
        RM_ASSIGN_OR_RETURN(const size_t size, leader.read(buffer));
        frames.feed(std::span(buffer).first(size));
        for (;;) {
            RM_ASSIGN_OR_RETURN(const auto payload, frames.next());
            if (!payload)
                break;
            RM_ASSIGN_OR_RETURN(const Transfer transfer, decodeTransfer(*payload));
            RM_ASSIGN_OR_RETURN(const auto answer, receiver.onTransfer(transfer));
            if (!answer)
                continue;
            if (const auto* ready = std::get_if<TreeReady>(&*answer))
                return ready->path;
        }
    }
}

struct Fetched {
    std::string folder;
    std::vector<std::string> dropped;
};

/// Nodes may share the folder of the checkpoints, or their homes.
bool isShared(const FetchOrder& order, const std::string& runId) {
    const Result<Manifest> manifest = readManifest(order.path);
    return manifest && manifest->runId == runId && manifest->attempt == order.attempt &&
           manifest->step == order.step && !std::filesystem::exists(order.path + "/" + kCopyMark);
}

Result<FetchOrder> parseOrder(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const Json object, parseJson(text, "the order to fetch a checkpoint"));
    return FetchOrder{textAt(object, "path").value_or(""),
                      static_cast<int32_t>(intAt(object, "attempt").value_or(0)),
                      intAt(object, "step").value_or(0)};
}

Result<Fetched> fetch(const Folders& folders, const std::string& runId, int64_t nodeIndex,
                      const FetchOrder& order) {
    RM_ASSIGN_OR_RETURN(const std::string runDir, folders.existingPartDir(runId, nodeIndex));
    RM_ASSIGN_OR_RETURN(const NodePlan plan, loadPlan(runDir));
    RM_ASSIGN_OR_RETURN(const RunSpec spec, loadRunSpec(runDir + "/spec.toml"));
    CheckpointReceiver receiver(folders);
    RM_RETURN_IF_ERROR(
        receiver.onTransfer(CheckpointPlace{runId, spec.checkpoint.directory, kKeptCopies})
            .map([](const auto&) {}));
    LeaderConnection leader(plan);
    RM_RETURN_IF_ERROR(leader.open(plan));
    RM_RETURN_IF_ERROR(leader.send(FetchRequest{order.path}));
    RM_ASSIGN_OR_RETURN(const std::string folder, receiveFrom(leader, receiver));
    return Fetched{folder, receiver.dropped()};
}

} // namespace

Result<std::string> fetchCheckpoint(const Folders& folders, const std::string& runId,
                                    int64_t nodeIndex, const std::string& order) {
    const Result<FetchOrder> wanted = parseOrder(order);
    if (wanted && isShared(*wanted, runId))
        return dumpJson({{"shared", true}});
    const Result<Fetched> fetched =
        wanted ? fetch(folders, runId, nodeIndex, *wanted) : tl::unexpected(wanted.error());
    if (!fetched)
        return dumpJson({{"problem", fetched.error().message}});
    const auto manifest = readManifest(fetched->folder);
    return dumpJson({{"folder", fetched->folder},
                     {"dropped", fetched->dropped},
                     {"bytes", manifest ? manifest->bytes() : 0},
                     {"reason", manifest ? manifest->reason : ""}});
}

} // namespace rm
