// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/receiver.h"

#include "shared/io/clock.h"
#include "shared/io/frame.h"
#include "shared/return_if_error.h"
#include "trainer/agent/posix/fd.h"
#include "trainer/agent/receive/blob_fetch.h"
#include "trainer/agent/receive/blob_server.h"
#include "trainer/agent/receive/tree_store.h"

#include <zstd.h>

#include <set>

namespace rm {

namespace {

using Answer = std::optional<Transfer>;

constexpr int64_t kReportNs = 1'000'000'000; ///< between two words of how far it is
constexpr int64_t kLeastInstalled = 4096; ///< bytes of a file that an installed torch is asked for

Result<void> checkBlob(const Blob& blob) {
    const bool isHex = blob.sha256.size() == 64 &&
                       blob.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!isHex || blob.size < 0)
        return fail(ErrorCode::kInvalid, "receive: '" + blob.sha256 + "' of " +
                                             std::to_string(blob.size) + " bytes is no blob");
    return {};
}

} // namespace

std::string inGigabytes(int64_t bytes) {
    return std::to_string(bytes / 1'000'000'000) + "." + std::to_string(bytes / 100'000'000 % 10) +
           " GB";
}

Receiver::Receiver(std::string home, std::vector<std::string> sitePackages, OnReuse onReuse)
    : m_home(std::move(home))
    , m_blobs(m_home + "/blobs")
    , m_installed(std::move(sitePackages))
    , m_onReuse(std::move(onReuse))
    , m_plain(kMaxChunk) {}

Result<void> Receiver::prepare() {
    return m_blobs.prepare();
}

Result<Answer> Receiver::onTransfer(const Transfer& transfer) {
    if (const auto* offer = std::get_if<Offer>(&transfer))
        return onOffer(*offer);
    if (const auto* end = std::get_if<BlobEnd>(&transfer))
        return onBlobEnd(*end);
    if (const auto* chunk = std::get_if<Chunk>(&transfer)) {
        const Result<void> written = onChunk(*chunk);
        if (written)
            return std::nullopt;
        // Discarded, as the part that was written would keep the disk full.
        if (m_incoming && written.error().code == ErrorCode::kExhausted)
            m_incoming->discard();
        return tl::unexpected(written.error());
    }
    if (const auto* tree = std::get_if<Tree>(&transfer))
        return onTree(*tree);
    return fail(ErrorCode::kInvalid, "receive: unexpected message, which only an agent sends");
}

/// A tree may come in several messages; the last one is answered.
Result<Answer> Receiver::onTree(const Tree& part) {
    if (m_tree.entries.empty()) {
        m_tree = part;
    } else if (m_tree.kind != part.kind || m_tree.id != part.id) {
        return fail(ErrorCode::kInvalid, "receive: a tree came within another one");
    } else {
        m_tree.entries.insert(m_tree.entries.end(), part.entries.begin(), part.entries.end());
    }
    if (part.more)
        return std::nullopt;
    m_tree.more = false;
    RM_ASSIGN_OR_RETURN(const std::string path,
                        publishTree(m_home, m_blobs, std::exchange(m_tree, {})));
    return TreeReady{path};
}

/// What an installed torch has need not be sent: it is copied before the room for the rest is
/// checked. That may take minutes within one offer, in which the app wants signs of life (onWork).
Result<Answer> Receiver::onOffer(const Offer& offer) {
    Missing missing;
    std::set<std::string> named;
    int64_t needed = 0;
    const auto onWork = [&] {
        if (m_onReuse)
            m_onReuse(missing.reused);
    };
    for (const Blob& blob : offer.blobs) {
        RM_RETURN_IF_ERROR(checkBlob(blob));
        if (!named.insert(blob.sha256).second || m_blobs.has(blob))
            continue;
        RM_ASSIGN_OR_RETURN(const bool isInstalledHere, isInstalled(blob, offer.preview, onWork));
        if (isInstalledHere) {
            missing.reused += blob.size;
            continue;
        }
        const int64_t offset = m_blobs.partialSize(blob);
        needed += blob.size - offset;
        missing.blobs.push_back({blob.sha256, offset});
        if (!offer.preview)
            m_expected.push_back({blob, offset});
    }
    const int64_t free = m_blobs.freeBytes();
    if (needed > free)
        return fail(ErrorCode::kExhausted, "receive into " + m_home + ": " + inGigabytes(needed) +
                                               " are needed, " + inGigabytes(free) + " are free");
    return missing;
}

/// Whether a torch that is installed here has it; it is in the store then, unless that is only
/// asked.
Result<bool> Receiver::isInstalled(const Blob& blob, bool preview, const OnWork& onWork) {
    if (blob.size < kLeastInstalled)
        return false;
    for (const std::string& path : m_installed.filesOf(blob.size)) {
        if (preview)
            return true;
        RM_ASSIGN_OR_RETURN(const bool isAdopted, m_blobs.adopt(blob, path, onWork));
        if (isAdopted)
            return true;
    }
    return false;
}

std::vector<MissingBlob> Receiver::expected() const {
    std::vector<MissingBlob> blobs;
    for (const Expected& expected : m_expected)
        blobs.push_back({expected.blob.sha256, expected.offset});
    return blobs;
}

void Receiver::forgetExpected() {
    m_expected.clear();
    m_incoming.reset();
}

Result<void> Receiver::onChunk(const Chunk& chunk) {
    RM_ASSIGN_OR_RETURN(IncomingBlob* const blob, current());
    const size_t size =
        ZSTD_decompress(m_plain.data(), m_plain.size(), chunk.zstd.data(), chunk.zstd.size());
    if (ZSTD_isError(size))
        return fail(ErrorCode::kCorrupt, "receive " + m_expected.front().blob.sha256 +
                                             ": unpack a chunk: " + ZSTD_getErrorName(size));
    m_received += static_cast<int64_t>(size);
    return blob->append(std::span(m_plain).first(size));
}

Result<Answer> Receiver::onBlobEnd(const BlobEnd& end) {
    RM_ASSIGN_OR_RETURN(IncomingBlob* const blob, current());
    if (end.sha256 != m_expected.front().blob.sha256)
        return fail(ErrorCode::kInvalid, "receive " + m_expected.front().blob.sha256 +
                                             ": the end of '" + end.sha256 + "' came");
    const Result<void> finished = blob->finish();
    m_incoming.reset();
    m_expected.pop_front();
    if (!finished)
        return tl::unexpected(finished.error());
    return Stored{end.sha256};
}

Result<IncomingBlob*> Receiver::current() {
    if (m_expected.empty())
        return fail(ErrorCode::kInvalid, "receive: bytes came that were not requested");
    if (!m_incoming) {
        const Expected& expected = m_expected.front();
        RM_ASSIGN_OR_RETURN(IncomingBlob opened,
                            IncomingBlob::open(m_blobs, expected.blob, expected.offset));
        m_incoming = std::move(opened);
    }
    return &*m_incoming;
}

namespace {

using OnTransfer = std::function<Result<Answer>(const Transfer&)>;

// False: the input ended.
Result<bool> serveSome(const OnTransfer& onTransfer, FrameScanner& frames, int inputFd,
                       int outputFd, std::span<std::byte> buffer) {
    const Result<size_t> count = readAvailable(inputFd, buffer, "stdin");
    if (!count)
        return tl::unexpected(count.error());
    frames.feed(buffer.first(*count));
    while (true) {
        RM_ASSIGN_OR_RETURN(const auto payload, frames.next());
        if (!payload)
            return *count > 0;
        RM_ASSIGN_OR_RETURN(const Transfer transfer, decodeTransfer(*payload));
        RM_ASSIGN_OR_RETURN(const Answer answer, onTransfer(transfer));
        if (!answer)
            continue;
        RM_RETURN_IF_ERROR(writeAll(outputFd, frameTransfer(*answer), "stdout"));
    }
}

} // namespace

Result<void> serveTransfers(int inputFd, int outputFd, const OnTransfer& onTransfer) {
    FrameScanner frames;
    std::vector<std::byte> buffer(256 * 1024);
    Result<bool> more = true;
    while (more && *more)
        more = serveSome(onTransfer, frames, inputFd, outputFd, buffer);
    if (more)
        return {};
    const Failed failed{static_cast<uint8_t>(more.error().code), more.error().message};
    (void)writeAll(outputFd, frameTransfer(failed), "stdout");
    return tl::unexpected(more.error());
}

namespace {

/// One conversation with the app, and what it asks to be passed on from node to node.
class Conversation {
public:
    Conversation(const std::string& home, int inputFd, int outputFd)
        : m_receiver(home, usualSitePackages(), [this](int64_t bytes) { reportReuse(bytes); })
        , m_folder(home + "/blobs")
        , m_inputFd(inputFd)
        , m_outputFd(outputFd) {}

    Result<void> prepare() { return m_receiver.prepare(); }

    Result<Answer> onTransfer(const Transfer& transfer) {
        if (const auto* serve = std::get_if<Serve>(&transfer))
            return onServe(*serve);
        if (const auto* fetch = std::get_if<Fetch>(&transfer))
            return onFetch(*fetch);
        if (std::holds_alternative<StopFetch>(transfer))
            return std::nullopt; // its fetch has ended already
        auto answer = onBlobs(transfer);
        const bool isOfTree = std::holds_alternative<Tree>(transfer) && !answer;
        // The blobs can be sent in the same conversation.
        if (isOfTree && (answer.error().code == ErrorCode::kNotFound ||
                         answer.error().code == ErrorCode::kCorrupt))
            return Failed{static_cast<uint8_t>(answer.error().code), answer.error().message};
        return answer;
    }

private:
    Result<Answer> onBlobs(const Transfer& transfer) {
        m_reportedNs = monotonicNowNs();
        auto answer = m_receiver.onTransfer(transfer);
        if (m_server)
            m_server->grown();
        return answer;
    }

    /// A sign of life, of which the app wants one in three minutes. An app that is gone is noticed
    /// at the answer.
    void reportReuse(int64_t bytes) {
        if (monotonicNowNs() - m_reportedNs < kReportNs)
            return;
        m_reportedNs = monotonicNowNs();
        (void)writeAll(m_outputFd, frameTransfer(Fetching{bytes, 0}), "stdout");
    }

    Result<Answer> onServe(const Serve& serve) {
        RM_ASSIGN_OR_RETURN(m_server, BlobServer::start(m_folder, serve));
        return Serving{m_server->port()};
    }

    Result<Answer> onFetch(const Fetch& fetch) {
        const FetchHandlers handlers{
            [this](const Transfer& transfer) -> Result<int64_t> {
                const bool isOfBlob = std::holds_alternative<Chunk>(transfer) ||
                                      std::holds_alternative<BlobEnd>(transfer);
                if (!isOfBlob)
                    return fail(ErrorCode::kInvalid, "it sent something else than blobs");
                const int64_t before = m_receiver.received();
                RM_ASSIGN_OR_RETURN(const Answer stored, onBlobs(transfer));
                return m_receiver.received() - before;
            },
            [this] { return m_receiver.expected().empty(); },
            [this](const Fetching& fetching) {
                return writeAll(m_outputFd, frameTransfer(fetching), "stdout");
            }};
        auto why = fetchBlobs(fetch, m_receiver.expected(), m_inputFd, handlers);
        m_receiver.forgetExpected();
        return why.map([](std::string& text) -> Answer { return FetchEnded{std::move(text)}; });
    }

    Receiver m_receiver;
    std::string m_folder;
    int m_inputFd, m_outputFd;
    int64_t m_reportedNs = 0;
    std::unique_ptr<BlobServer> m_server;
};

} // namespace

Result<void> receiveAll(const std::string& home, int inputFd, int outputFd) {
    Conversation conversation(home, inputFd, outputFd);
    const Result<void> prepared = conversation.prepare();
    return serveTransfers(inputFd, outputFd, [&](const Transfer& transfer) -> Result<Answer> {
        if (!prepared)
            return tl::unexpected(prepared.error());
        return conversation.onTransfer(transfer);
    });
}

} // namespace rm
