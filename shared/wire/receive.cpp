// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/receive.h"

#include "shared/io/file.h"
#include "shared/io/frame.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <set>

namespace rm {

namespace {

constexpr std::byte kJsonType{'J'};
constexpr std::byte kChunkType{'D'};
constexpr size_t kMaxKeyId = 128; ///< OpenSSL's limit for the name of a key
constexpr size_t kMaxAddresses = 64;
constexpr size_t kMaxLabel = 64;

tl::unexpected<Error> corruptTransfer(const std::string& cause) {
    return fail(ErrorCode::kCorrupt, "read transfer: " + cause);
}

Json jsonOf(const Offer& offer) {
    Json blobs = Json::array();
    for (const Blob& blob : offer.blobs)
        blobs.push_back({{"sha256", blob.sha256}, {"size", blob.size}});
    return {{"type", "offer"}, {"blobs", std::move(blobs)}, {"preview", offer.preview}};
}

Json jsonOf(const Missing& missing) {
    Json blobs = Json::array();
    for (const MissingBlob& blob : missing.blobs)
        blobs.push_back({{"sha256", blob.sha256}, {"offset", blob.offset}});
    return {{"type", "missing"}, {"blobs", std::move(blobs)}, {"reused", missing.reused}};
}

Json jsonOf(const BlobEnd& end) {
    return {{"type", "blob-end"}, {"sha256", end.sha256}};
}

Json jsonOf(const Stored& stored) {
    return {{"type", "stored"}, {"sha256", stored.sha256}};
}

Json jsonOf(const TreeEntry& entry) {
    return {{"path", entry.path}, {"sha256", entry.sha256}, {"executable", entry.executable}};
}

Json jsonOf(const Tree& tree) {
    Json entries = Json::array();
    for (const TreeEntry& entry : tree.entries)
        entries.push_back(jsonOf(entry));
    return {{"type", "tree"},    {"kind", tree.kind},   {"id", tree.id},
            {"more", tree.more}, {"label", tree.label}, {"entries", std::move(entries)}};
}

Json jsonOf(const TreeReady& ready) {
    return {{"type", "tree-ready"}, {"path", ready.path}};
}

Json jsonOf(const Failed& failed) {
    return {{"type", "failed"}, {"code", failed.code}, {"message", failed.message}};
}

Json jsonOf(const CheckpointPlace& place) {
    return {{"type", "checkpoint-place"},
            {"run_id", place.runId},
            {"folder", place.folder},
            {"keep_copies", place.keepCopies}};
}

Json jsonOf(const CheckpointBegin& begin) {
    return {{"type", "checkpoint-begin"}, {"manifest", begin.manifest}};
}

Json jsonOf(const Serve& serve) {
    return {{"type", "serve"}, {"id", serve.id}, {"key", serve.key}};
}

Json jsonOf(const Serving& serving) {
    return {{"type", "serving"}, {"port", serving.port}};
}

Json jsonOf(const Fetch& fetch) {
    return {{"type", "fetch"},
            {"addresses", fetch.addresses},
            {"port", fetch.port},
            {"id", fetch.id},
            {"key", fetch.key}};
}

Json jsonOf(const Fetching& fetching) {
    return {{"type", "fetching"}, {"bytes", fetching.bytes}, {"packed", fetching.packed}};
}

Json jsonOf(const FetchEnded& fetched) {
    return {{"type", "fetched"}, {"why", fetched.why}};
}

Json jsonOf(const Waiting&) {
    return {{"type", "waiting"}};
}

Json jsonOf(const StopFetch&) {
    return {{"type", "stop-fetch"}};
}

std::vector<std::byte> payloadOf(std::byte type, std::span<const std::byte> bytes) {
    std::vector<std::byte> payload(1 + bytes.size());
    payload[0] = type;
    std::ranges::copy(bytes, payload.begin() + 1);
    return payload;
}

Result<std::string> shaAt(const Json& json) {
    auto sha256 = textAt(json, "sha256");
    if (!sha256 || !isSha256(*sha256))
        return corruptTransfer("no SHA-256 where one belongs");
    return std::move(*sha256);
}

Result<Blob> readBlob(const Json& json) {
    auto sha256 = shaAt(json);
    const auto size = intAt(json, "size");
    if (!sha256)
        return tl::unexpected(sha256.error());
    if (!size || *size < 0)
        return corruptTransfer("impossible size of a blob");
    return Blob{std::move(*sha256), *size};
}

Result<MissingBlob> readMissing(const Json& json) {
    auto sha256 = shaAt(json);
    const auto offset = intAt(json, "offset");
    if (!sha256)
        return tl::unexpected(sha256.error());
    if (!offset || *offset < 0)
        return corruptTransfer("impossible offset of a blob");
    return MissingBlob{std::move(*sha256), *offset};
}

Result<TreeEntry> readEntry(const Json& json) {
    auto sha256 = shaAt(json);
    auto path = textAt(json, "path");
    const auto executable = boolAt(json, "executable");
    if (!sha256)
        return tl::unexpected(sha256.error());
    if (!path || !isTreePath(*path))
        return corruptTransfer("impossible path in a tree");
    if (!executable)
        return corruptTransfer("no mode of " + *path);
    return TreeEntry{std::move(*path), std::move(*sha256), *executable};
}

template <class T>
Result<std::vector<T>> readList(const Json& json, const char* key,
                                Result<T> (*readOne)(const Json&)) {
    const Json* list = arrayAt(json, key);
    if (!list)
        return corruptTransfer(std::string("no list of ") + key);
    std::vector<T> values;
    for (const Json& element : *list) {
        RM_ASSIGN_OR_RETURN(auto value, readOne(element));
        values.push_back(std::move(value));
    }
    return values;
}

Result<Transfer> readTree(const Json& json) {
    auto kind = textAt(json, "kind");
    auto id = textAt(json, "id");
    if (!kind || (*kind != "bundles" && *kind != "data") || !id || !isSha256(*id))
        return corruptTransfer("impossible kind or id of a tree");
    auto label = textAt(json, "label").value_or("");
    if (label.size() > kMaxLabel ||
        (!label.empty() && (!isTreePath(label) || label.find('/') != label.npos)))
        return corruptTransfer("impossible label of a tree");
    RM_ASSIGN_OR_RETURN(auto entries, readList<TreeEntry>(json, "entries", readEntry));
    return Tree{std::move(*kind), std::move(*id), std::move(entries),
                boolAt(json, "more").value_or(false), std::move(label)};
}

Result<Transfer> readFailed(const Json& json) {
    const auto code = intAt(json, "code");
    auto message = textAt(json, "message");
    if (!code || *code < 0 || *code > UINT8_MAX || !message)
        return corruptTransfer("a failure without code or message");
    return Failed{uint8_t(*code), std::move(*message)};
}

Result<Transfer> readReady(const Json& json) {
    auto path = textAt(json, "path");
    if (!path || path->empty() || path->front() != '/')
        return corruptTransfer("impossible path of a tree");
    return TreeReady{std::move(*path)};
}

Result<Transfer> readPlace(const Json& json) {
    auto runId = textAt(json, "run_id"), folder = textAt(json, "folder");
    const auto keepCopies = intAt(json, "keep_copies");
    if (!runId || !folder || !keepCopies || *keepCopies < 0)
        return corruptTransfer("impossible place of a checkpoint");
    return CheckpointPlace{std::move(*runId), std::move(*folder), *keepCopies};
}

Result<Transfer> readBegin(const Json& json) {
    auto manifest = textAt(json, "manifest");
    if (!manifest)
        return corruptTransfer("a checkpoint without a manifest");
    return CheckpointBegin{std::move(*manifest)};
}

Result<int32_t> portAt(const Json& json) {
    const auto port = intAt(json, "port");
    if (!port || *port < 1 || *port > UINT16_MAX)
        return corruptTransfer("impossible port");
    return static_cast<int32_t>(*port);
}

Result<Transfer> readServe(const Json& json) {
    auto id = textAt(json, "id"), key = textAt(json, "key");
    if (!id || id->empty() || id->size() > kMaxKeyId || !key || !isSha256(*key))
        return corruptTransfer("impossible key to serve with");
    return Serve{std::move(*id), std::move(*key)};
}

Result<Transfer> readFetch(const Json& json) {
    RM_ASSIGN_OR_RETURN(const Transfer key, readServe(json));
    RM_ASSIGN_OR_RETURN(const int32_t port, portAt(json));
    const Json* list = arrayAt(json, "addresses");
    if (!list || list->size() > kMaxAddresses)
        return corruptTransfer("no list of addresses, or too long a one");
    Fetch fetch{{}, port, std::get<Serve>(key).id, std::get<Serve>(key).key};
    for (const Json& address : *list) {
        if (!address.is_string())
            return corruptTransfer("impossible address");
        fetch.addresses.push_back(address.get<std::string>());
    }
    return fetch;
}

Result<Transfer> readFetching(const Json& json) {
    const auto bytes = intAt(json, "bytes"), packed = intAt(json, "packed");
    if (!bytes || !packed || *bytes < 0 || *packed < 0)
        return corruptTransfer("impossible progress");
    return Fetching{*bytes, *packed};
}

Result<Transfer> readFetched(const Json& json) {
    auto why = textAt(json, "why");
    if (!why)
        return corruptTransfer("an end of a fetch without its cause");
    return FetchEnded{std::move(*why)};
}

Result<Transfer> readJson(const Json& json) {
    const auto type = textAt(json, "type");
    if (!type)
        return corruptTransfer("no type");
    if (*type == "offer")
        return readList<Blob>(json, "blobs", readBlob).map([&](auto b) -> Transfer {
            return Offer{std::move(b), boolAt(json, "preview").value_or(false)};
        });
    if (*type == "missing")
        return readList<MissingBlob>(json, "blobs", readMissing).map([&](auto b) -> Transfer {
            return Missing{std::move(b), std::max<int64_t>(intAt(json, "reused").value_or(0), 0)};
        });
    if (*type == "blob-end")
        return shaAt(json).map([](auto sha) -> Transfer { return BlobEnd{std::move(sha)}; });
    if (*type == "stored")
        return shaAt(json).map([](auto sha) -> Transfer { return Stored{std::move(sha)}; });
    if (*type == "tree")
        return readTree(json);
    if (*type == "tree-ready")
        return readReady(json);
    if (*type == "failed")
        return readFailed(json);
    if (*type == "checkpoint-place")
        return readPlace(json);
    if (*type == "checkpoint-begin")
        return readBegin(json);
    if (*type == "serve")
        return readServe(json);
    if (*type == "serving")
        return portAt(json).map([](int32_t port) -> Transfer { return Serving{port}; });
    if (*type == "fetch")
        return readFetch(json);
    if (*type == "fetching")
        return readFetching(json);
    if (*type == "fetched")
        return readFetched(json);
    if (*type == "waiting")
        return Waiting{};
    if (*type == "stop-fetch")
        return StopFetch{};
    return fail(ErrorCode::kTooNew, "read transfer: its type is of a newer release");
}

} // namespace

std::vector<std::byte> encodeTransfer(const Transfer& transfer) {
    if (const auto* chunk = std::get_if<Chunk>(&transfer))
        return payloadOf(kChunkType, chunk->zstd);
    const std::string text = std::visit(
        [](const auto& message) {
            if constexpr (std::is_same_v<decltype(message), const Chunk&>)
                return std::string();
            else
                return dumpJson(jsonOf(message));
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
        return corruptTransfer("empty");
    const auto rest = payload.subspan(1);
    if (payload[0] == kChunkType)
        return Chunk{{rest.begin(), rest.end()}};
    if (payload[0] != kJsonType)
        return fail(ErrorCode::kTooNew, "read transfer: its type is of a newer release");
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    return parseJson(text, "transfer").and_then(readJson);
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
        const size_t size = dumpJson(jsonOf(entry)).size() + 1;
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
