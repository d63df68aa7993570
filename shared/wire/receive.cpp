// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/receive.h"

#include "shared/io/file.h"
#include "shared/io/frame.h"
#include "shared/io/json_fields.h"

#include <algorithm>
#include <string>

namespace rm {

namespace {

constexpr std::byte kJsonType{'J'};
constexpr std::byte kChunkType{'D'};
constexpr size_t kMaxAddresses = 64;
constexpr const char* kTransfer = "transfer"; ///< in errors

constexpr FieldRule kSha256 = fitting(isSha256);
constexpr FieldRule kBytes = atLeast(0);
constexpr FieldRule kPort = within(1, UINT16_MAX);

constexpr FieldRule kKeyId = fitting([](std::string_view id) {
    constexpr size_t kMaxKeyId = 128; // OpenSSL's limit for the name of a key
    return !id.empty() && id.size() <= kMaxKeyId;
});

constexpr FieldRule kKind =
    fitting([](std::string_view kind) { return kind == "bundles" || kind == "data"; });

constexpr FieldRule kLabel = fitting([](std::string_view label) {
    constexpr size_t kMaxLabel = 64;
    return label.empty() || (label.size() <= kMaxLabel && isTreePath(label) &&
                             label.find('/') == std::string_view::npos);
});

constexpr FieldRule kAbsolute =
    fitting([](std::string_view path) { return path.starts_with('/'); });

std::vector<std::byte> payloadOf(std::byte type, std::span<const std::byte> bytes) {
    std::vector<std::byte> payload(1 + bytes.size());
    payload[0] = type;
    std::ranges::copy(bytes, payload.begin() + 1);
    return payload;
}

} // namespace

template <Either<Blob> T, class Visit>
void fields(T& blob, Visit&& visit) {
    visit("sha256", blob.sha256, kSha256);
    visit("size", blob.size, kBytes);
}

template <Either<Offer> T, class Visit>
void fields(T& offer, Visit&& visit) {
    visit("blobs", offer.blobs);
    visit("preview", offer.preview, kOptional);
}

template <Either<MissingBlob> T, class Visit>
void fields(T& blob, Visit&& visit) {
    visit("sha256", blob.sha256, kSha256);
    visit("offset", blob.offset, kBytes);
}

template <Either<Missing> T, class Visit>
void fields(T& missing, Visit&& visit) {
    visit("blobs", missing.blobs);
    visit("reused", missing.reused, kBytes.optional());
}

template <Either<BlobEnd> T, class Visit>
void fields(T& end, Visit&& visit) {
    visit("sha256", end.sha256, kSha256);
}

template <Either<Stored> T, class Visit>
void fields(T& stored, Visit&& visit) {
    visit("sha256", stored.sha256, kSha256);
}

template <Either<TreeEntry> T, class Visit>
void fields(T& entry, Visit&& visit) {
    visit("path", entry.path, fitting(isTreePath));
    visit("sha256", entry.sha256, kSha256);
    visit("executable", entry.executable);
}

template <Either<Tree> T, class Visit>
void fields(T& tree, Visit&& visit) {
    visit("kind", tree.kind, kKind);
    visit("id", tree.id, kSha256);
    visit("more", tree.more, kOptional);
    visit("label", tree.label, kLabel.optional());
    visit("entries", tree.entries);
}

template <Either<TreeReady> T, class Visit>
void fields(T& ready, Visit&& visit) {
    visit("path", ready.path, kAbsolute);
}

template <Either<Failed> T, class Visit>
void fields(T& failed, Visit&& visit) {
    visit("code", failed.code);
    visit("message", failed.message);
}

template <Either<CheckpointPlace> T, class Visit>
void fields(T& place, Visit&& visit) {
    visit("run_id", place.runId);
    visit("folder", place.folder);
    visit("keep_copies", place.keepCopies, atLeast(0));
}

template <Either<CheckpointBegin> T, class Visit>
void fields(T& begin, Visit&& visit) {
    visit("manifest", begin.manifest);
}

template <Either<Serve> T, class Visit>
void fields(T& serve, Visit&& visit) {
    visit("id", serve.id, kKeyId);
    visit("key", serve.key, kSha256); // as long as a hash
}

template <Either<Serving> T, class Visit>
void fields(T& serving, Visit&& visit) {
    visit("port", serving.port, kPort);
}

template <Either<Fetch> T, class Visit>
void fields(T& fetch, Visit&& visit) {
    visit("addresses", fetch.addresses, upTo(kMaxAddresses));
    visit("port", fetch.port, kPort);
    visit("id", fetch.id, kKeyId);
    visit("key", fetch.key, kSha256);
}

template <Either<Fetching> T, class Visit>
void fields(T& fetching, Visit&& visit) {
    visit("bytes", fetching.bytes, kBytes);
    visit("packed", fetching.packed, kBytes);
}

template <Either<FetchEnded> T, class Visit>
void fields(T& fetched, Visit&& visit) {
    visit("why", fetched.why);
}

template <Either<Waiting> T, class Visit>
void fields(T&, Visit&&) {}

template <Either<StopFetch> T, class Visit>
void fields(T&, Visit&&) {}

std::vector<std::byte> encodeTransfer(const Transfer& transfer) {
    if (const auto* chunk = std::get_if<Chunk>(&transfer))
        return payloadOf(kChunkType, chunk->zstd);
    const std::string text = std::visit(
        [](const auto& message) {
            if constexpr (std::is_same_v<decltype(message), const Chunk&>)
                return std::string();
            else
                return dumpJson(writeMessage(message));
        },
        transfer);
    return payloadOf(kJsonType, std::as_bytes(std::span(text)));
}

std::vector<std::byte> frameTransfer(const Transfer& transfer) {
    std::vector<std::byte> frame;
    appendFrame(frame, encodeTransfer(transfer));
    return frame;
}

Result<Transfer> decodeTransfer(std::span<const std::byte> payload) {
    if (payload.size() < 2)
        return fail(ErrorCode::kCorrupt, "read transfer: empty");
    const auto rest = payload.subspan(1);
    if (payload[0] == kChunkType)
        return Chunk{{rest.begin(), rest.end()}};
    if (payload[0] != kJsonType)
        return fail(ErrorCode::kTooNew, "read transfer: its type is of a newer release");
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, kTransfer));
    return messageFrom<Transfer>(json, kTransfer);
}

bool isTreePath(std::string_view path) {
    constexpr size_t kMaxPath = 4096, kMaxPart = 255;
    if (path.empty() || path.size() > kMaxPath || !isUtf8(path) ||
        std::ranges::any_of(path, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        return false;
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part.empty() || part == "." || part == ".." || part.size() > kMaxPart)
            return false;
        begin = end + 1;
    }
    return true;
}

std::string treeList(std::vector<TreeEntry> entries) {
    std::ranges::sort(entries, {}, &TreeEntry::path);
    std::string text;
    for (const TreeEntry& entry : entries)
        text += entry.sha256 + (entry.executable ? " x " : " - ") + entry.path + '\n';
    return text;
}

std::string treeId(std::vector<TreeEntry> entries) {
    const std::string text = treeList(std::move(entries));
    return sha256Hex(std::as_bytes(std::span(text)));
}

Result<std::vector<TreeEntry>> parseTreeList(std::string_view text, const std::string& source) {
    constexpr size_t kShaSize = 64, kBeforePath = kShaSize + 3;
    std::vector<TreeEntry> entries;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::string_view sign = line.substr(std::min(line.size(), kShaSize), 3);
        if (end == text.npos || line.size() <= kBeforePath || (sign != " x " && sign != " - "))
            return fail(ErrorCode::kCorrupt, "read " + source + ": line " +
                                                 std::to_string(entries.size() + 1) +
                                                 " is not SHA256 x PATH");
        entries.push_back({std::string(line.substr(kBeforePath)),
                           std::string(line.substr(0, kShaSize)), sign == " x "});
        text.remove_prefix(end + 1);
    }
    return entries;
}

namespace {

template <class Message, class Item>
std::vector<Message> splitList(const std::vector<Item>& items) {
    std::vector<Message> messages;
    for (size_t i = 0; i < items.size(); ++i) {
        if (i % kMaxOffer == 0)
            messages.emplace_back();
        messages.back().blobs.push_back(items[i]);
    }
    return messages;
}

} // namespace

std::vector<Offer> splitOffer(const std::vector<Blob>& blobs, bool preview) {
    auto offers = splitList<Offer>(blobs);
    for (Offer& offer : offers)
        offer.preview = preview;
    return offers;
}

std::vector<Missing> splitMissing(const std::vector<MissingBlob>& blobs) {
    return splitList<Missing>(blobs);
}

std::vector<Tree> splitTree(const Tree& tree) {
    constexpr size_t kPartBytes = kMaxRecord / 2;
    std::vector<Tree> parts{{tree.kind, tree.id, {}, false, tree.label}};
    size_t bytes = 0;
    for (const TreeEntry& entry : tree.entries) {
        const size_t size = dumpJson(writeFields(entry)).size() + 1;
        if (bytes + size > kPartBytes) {
            parts.back().more = true;
            parts.push_back({tree.kind, tree.id, {}, false, tree.label});
            bytes = 0;
        }
        parts.back().entries.push_back(entry);
        bytes += size;
    }
    return parts;
}

} // namespace rm
