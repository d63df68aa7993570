// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/tree_sender.h"

#include "app/core/deploy/hash_cache.h"
#include "app/core/findings/text.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>

namespace rm {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A node may have to hash and sync a library of half a gigabyte on a slow disk.
constexpr seconds kPatience{180};

} // namespace

Result<HashedTree> hashTree(const LocalTree& tree, const std::stop_token& stop) {
    HashedTree hashed;
    hashed.tree.kind = tree.kind;
    hashed.tree.label = tree.label;
    for (const LocalTree::File& file : tree.files) {
        if (stop.stop_requested())
            return failCancelled(say("deploy.read", {{"file", file.local}}));
        RM_ASSIGN_OR_RETURN(const auto hash, HashCache::instance().hashOf(file.local));
        hashed.tree.entries.push_back({file.path, hash.sha256, file.executable});
        if (hashed.local.emplace(hash.sha256, file.local).second)
            hashed.blobs.push_back({hash.sha256, hash.size});
    }
    HashCache::instance().save();
    hashed.tree.id = treeId(hashed.tree.entries);
    return hashed;
}

TreeSender::TreeSender(std::unique_ptr<HostProcess> process, std::string attempt,
                       std::stop_token stop)
    : m_process(std::move(process))
    , m_attempt(std::move(attempt))
    , m_stop(std::move(stop))
    , m_reader(*m_process, m_attempt, m_stop)
    , m_packed(ZSTD_compressBound(kMaxChunk)) {}

Result<std::unique_ptr<TreeSender>> TreeSender::open(HostSession& session, const std::string& agent,
                                                     std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(auto process, session.start(agent, {"receive"}, stop));
    return std::unique_ptr<TreeSender>(
        new TreeSender(std::move(process),
                       say("deploy.send-files-to", {{"where", session.where()}}), std::move(stop)));
}

tl::unexpected<Error> TreeSender::unexpected() const {
    return failAs(m_attempt, {ErrorCode::kCorrupt, say("deploy.odd-answer")});
}

Result<void> TreeSender::send(const Transfer& transfer) {
    if (m_stop.stop_requested())
        return failCancelled(m_attempt);
    const auto sent = m_process->write(frameTransfer(transfer));
    if (sent)
        return {};
    // An agent that gave up said why before it stopped reading.
    if (auto answer = receive(seconds(2));
        !answer && answer.error().code != ErrorCode::kUnavailable)
        return tl::unexpected(answer.error());
    return failAs(m_attempt, sent.error());
}

/// nullopt: nothing within a zero timeout.
Result<std::optional<Transfer>> TreeSender::poll(milliseconds timeout) {
    for (;;) {
        const auto payload = m_frames.next();
        if (!payload)
            return failAs(m_attempt, payload.error());
        if (*payload) {
            auto transfer = decodeTransfer(**payload);
            if (!transfer)
                return failAs(m_attempt, transfer.error());
            if (const auto* failed = std::get_if<Failed>(&*transfer))
                return failAs(m_attempt, {static_cast<ErrorCode>(failed->code), failed->message});
            return std::move(*transfer);
        }
        RM_ASSIGN_OR_RETURN(const auto bytes, m_reader.bytes(timeout));
        if (bytes.empty())
            return std::nullopt;
        m_frames.feed(bytes);
    }
}

Result<Transfer> TreeSender::receive(milliseconds timeout) {
    RM_ASSIGN_OR_RETURN(auto transfer, poll(timeout));
    if (!transfer)
        return failAs(m_attempt, {ErrorCode::kUnavailable, say("deploy.no-answer")});
    return std::move(*transfer);
}

Result<TreeSender::Published> TreeSender::publish(const Tree& tree) {
    for (const Tree& part : splitTree(tree)) {
        RM_RETURN_IF_ERROR(send(part));
    }
    const auto answer = receive(kPatience);
    if (!answer && answer.error().code == ErrorCode::kNotFound)
        return Published{};
    if (!answer && answer.error().code == ErrorCode::kCorrupt)
        return Published{"", answer.error().message.substr(m_attempt.size() + 2)};
    if (!answer)
        return tl::unexpected(answer.error());
    if (const auto* ready = std::get_if<TreeReady>(&*answer))
        return Published{ready->path, ""};
    return unexpected();
}

/// The answer to an offer. Until then the agent may have to read and copy gigabytes.
Result<Missing> TreeSender::missing(const OnReuse& onReuse) {
    for (;;) {
        RM_ASSIGN_OR_RETURN(auto answer, receive(kPatience));
        if (auto* missing = std::get_if<Missing>(&answer))
            return std::move(*missing);
        const auto* fetching = std::get_if<Fetching>(&answer);
        if (fetching == nullptr)
            return unexpected();
        if (onReuse)
            onReuse(fetching->bytes);
    }
}

Result<TreeSender::Lack> TreeSender::offer(const HashedTree& tree, bool preview,
                                           const OnReuse& onReuse) {
    Lack lack;
    const auto onReuseOfPart = [&](int64_t bytes) {
        if (onReuse)
            onReuse(lack.reused + bytes);
    };
    for (const Offer& part : splitOffer(tree.blobs, preview)) {
        RM_RETURN_IF_ERROR(send(part));
        RM_ASSIGN_OR_RETURN(const auto answer, missing(onReuseOfPart));
        lack.blobs.insert(lack.blobs.end(), answer.blobs.begin(), answer.blobs.end());
        lack.reused += answer.reused;
    }
    RM_ASSIGN_OR_RETURN(lack.bytes, bytesOf(lack.blobs, tree));
    return lack;
}

Result<int64_t> TreeSender::bytesOf(const std::vector<MissingBlob>& missing,
                                    const HashedTree& tree) const {
    int64_t bytes = 0;
    for (const MissingBlob& blob : missing) {
        const auto known = std::ranges::find(tree.blobs, blob.sha256, &Blob::sha256);
        if (known == tree.blobs.end() || blob.offset < 0 || blob.offset > known->size)
            return unexpected();
        bytes += known->size - blob.offset;
    }
    return bytes;
}

Result<void> TreeSender::sendPiece(std::span<const std::byte> piece, const OnSent& onSent) {
    constexpr int kLevel = 1; // one core can then saturate a gigabit link
    const size_t size =
        ZSTD_compress(m_packed.data(), m_packed.size(), piece.data(), piece.size(), kLevel);
    if (ZSTD_isError(size) != 0)
        return failAs(m_attempt, {ErrorCode::kInternal, ZSTD_getErrorName(size)});
    auto sent = send(Chunk{{m_packed.begin(), m_packed.begin() + static_cast<ptrdiff_t>(size)}});
    if (sent)
        onSent(static_cast<int64_t>(piece.size()), static_cast<int64_t>(size));
    return sent;
}

Result<void> TreeSender::sendBlob(const MissingBlob& blob, const std::string& path,
                                  const OnSent& onSent) {
    RM_ASSIGN_OR_RETURN(const auto file, openFile(path, O_RDONLY));
    const std::string attempt = say("deploy.read", {{"file", path}});
    if (::lseek(file.get(), blob.offset, SEEK_SET) < 0)
        return failErrno(attempt, errno);
    std::vector<std::byte> piece(kMaxChunk);
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto size, readSome(file.get(), piece, path));
        if (size == 0)
            return send(BlobEnd{blob.sha256});
        if (auto sent = sendPiece(std::span(piece).first(size), onSent); !sent)
            return sent;
        if (auto heard = confirm(0); !heard)
            return heard;
    }
}

/// Reads the answers that have arrived, then waits for more until `stored` blobs are confirmed.
Result<void> TreeSender::confirm(size_t stored) {
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto answer,
                            poll(m_stored < stored ? milliseconds(kPatience) : milliseconds(0)));
        if (!answer)
            return {};
        if (!std::holds_alternative<Stored>(*answer))
            return unexpected();
        if (++m_stored == stored)
            return {};
    }
}

Result<void> TreeSender::send(const Lack& lack, const HashedTree& tree, const OnSent& onSent) {
    m_stored = 0;
    for (const MissingBlob& blob : lack.blobs)
        RM_RETURN_IF_ERROR(sendBlob(blob, tree.local.at(blob.sha256), onSent));
    return lack.blobs.empty() ? Result<void>() : confirm(lack.blobs.size());
}

Result<int> TreeSender::serve(const Serve& order) {
    RM_RETURN_IF_ERROR(send(order));
    RM_ASSIGN_OR_RETURN(const auto answer, receive(kPatience));
    const auto* serving = std::get_if<Serving>(&answer);
    return serving ? Result<int>(serving->port) : unexpected();
}

Result<std::string> TreeSender::fetch(const Fetch& order, const Continues& continues) {
    RM_RETURN_IF_ERROR(send(order));
    bool isStopped = false;
    for (;;) {
        // The agent may have to hash and sync a large file before it is heard again.
        RM_ASSIGN_OR_RETURN(const auto answer, receive(kPatience));
        if (const auto* fetched = std::get_if<FetchEnded>(&answer))
            return fetched->why;
        const auto* fetching = std::get_if<Fetching>(&answer);
        if (fetching == nullptr)
            return unexpected();
        if (continues(fetching->bytes, fetching->packed) || isStopped)
            continue;
        isStopped = true;
        RM_RETURN_IF_ERROR(send(StopFetch{}));
    }
}

} // namespace rm
