// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rm {

/// The transfer stream of `ringmaster-agent receive` (RECEIVE.md beside this): frames as in
/// shared/io/frame.h; a payload's first byte is its type, then JSON ('J') or, for Chunk ('D'),
/// one whole zstd frame. Only the codec is here, for both sides; the agent handles the files.
///
///   app   -> Offer{blobs}                   agent -> Fetching... Missing{blobs, offset to go on}
///   app   -> Chunk... BlobEnd{sha}          agent -> Stored{sha} | Failed{message}
///   app   -> Tree{kind, id, entries}...     agent -> TreeReady{path} | Failed{message}
///   app   -> Serve{id, key}                 agent -> Serving{port} | Failed{message}
///   app   -> Fetch{addresses, port...}      agent -> Fetching... FetchEnded{why}
///
/// Serve and Fetch pass blobs on from node to node: the one that fetches sends a Missing of what it
/// lacks, and gets Chunk... BlobEnd of each, or Waiting as long as the other has no more itself.
///
/// A checkpoint comes over the same frames (CHECKPOINT.md beside this): `send-checkpoint` on the
/// node that has it makes CheckpointBegin, Chunk... BlobEnd of each file, and whoever carries them
/// says CheckpointPlace to `receive-checkpoint` first.
inline constexpr size_t kMaxChunk = 512 * 1024; ///< bytes before compression
inline constexpr size_t kMaxOffer = 4096;       ///< blobs of an Offer, so that it fits a frame

struct Blob {
    std::string sha256;
    int64_t size = 0;
    bool operator==(const Blob&) const = default;
};
struct Offer {
    static constexpr const char* kType = "offer";
    std::vector<Blob> blobs;
    bool preview = false; ///< only asks what would be missing
    bool operator==(const Offer&) const = default;
};
struct MissingBlob {
    std::string sha256;
    int64_t offset = 0; ///< bytes already there from an interrupted transfer
    bool operator==(const MissingBlob&) const = default;
};
struct Missing {
    static constexpr const char* kType = "missing";
    std::vector<MissingBlob> blobs;
    int64_t reused = 0; ///< bytes of the others that an installed torch had and the store had not
    bool operator==(const Missing&) const = default;
};
struct Chunk {
    std::vector<std::byte> zstd; ///< bytes of one blob; blobs come in the order of Missing
    bool operator==(const Chunk&) const = default;
};
struct BlobEnd {
    static constexpr const char* kType = "blob-end";
    std::string sha256;
    bool operator==(const BlobEnd&) const = default;
};
struct Stored {
    static constexpr const char* kType = "stored";
    std::string sha256;
    bool operator==(const Stored&) const = default;
};
struct TreeEntry {
    std::string path; ///< relative, no empty, "." or ".." part
    std::string sha256;
    bool executable = false;
    bool operator==(const TreeEntry&) const = default;
};
/// A folder made of stored blobs (hard links), published by rename: `bundles/ID` or `data/ID`
/// under the node's home, ID = treeId() of its entries.
struct Tree {
    static constexpr const char* kType = "tree";
    std::string kind; ///< "bundles" | "data"
    std::string id;
    std::vector<TreeEntry> entries;
    /// Further entries follow in the next Tree of the same kind and id; answered after the last.
    bool more = false;
    std::string label = {}; ///< what a person knows it by: "0.1.0 cuda13"; no part of its identity
    bool operator==(const Tree&) const = default;
};
struct TreeReady {
    static constexpr const char* kType = "tree-ready";
    std::string path; ///< absolute
    bool operator==(const TreeReady&) const = default;
};
struct Failed {
    static constexpr const char* kType = "failed";
    uint8_t code = 0; ///< rm::ErrorCode
    std::string message;
    bool operator==(const Failed&) const = default;
};

/// Serve what is in the blob store to agents that have this key, as it grows.
struct Serve {
    static constexpr const char* kType = "serve";
    std::string id;  ///< names the key in the handshake
    std::string key; ///< 64 hex digits
    bool operator==(const Serve&) const = default;
};
struct Serving {
    static constexpr const char* kType = "serving";
    int32_t port = 0; ///< the same at every address of the node
    bool operator==(const Serving&) const = default;
};
/// Get what is missing from another agent that serves. Any other message ends the fetch.
struct Fetch {
    static constexpr const char* kType = "fetch";
    std::vector<std::string> addresses; ///< of that node; any of them will do
    int32_t port = 0;
    std::string id;
    std::string key;
    bool operator==(const Fetch&) const = default;
};
struct Fetching {
    static constexpr const char* kType = "fetching";
    int64_t bytes = 0;  ///< of blobs since this Fetch or, from an installed torch, this Offer
    int64_t packed = 0; ///< the same bytes, packed as they came
    bool operator==(const Fetching&) const = default;
};
/// The end of a Fetch. What is still missing has to be offered again.
struct FetchEnded {
    static constexpr const char* kType = "fetched";
    std::string why; ///< it ended before all was there; empty: all is there
    bool operator==(const FetchEnded&) const = default;
};
/// The sign of life of a node that serves and has no more itself yet.
struct Waiting {
    static constexpr const char* kType = "waiting";
    bool operator==(const Waiting&) const = default;
};
/// Ends a Fetch.
struct StopFetch {
    static constexpr const char* kType = "stop-fetch";
    bool operator==(const StopFetch&) const = default;
};

/// The place for the checkpoint that comes next.
struct CheckpointPlace {
    static constexpr const char* kType = "checkpoint-place";
    std::string runId; ///< the run that it must belong to
    /// The folder with the run's checkpoints: absolute, or relative to the run directory of its
    /// rank 0; empty: `checkpoints` there.
    std::string folder;
    /// How many copies of the run's checkpoints stay here, the newest, this one among them; 0: it
    /// is no copy but one to go on from, and stays.
    int64_t keepCopies = 0;
    bool operator==(const CheckpointPlace&) const = default;
};
/// How many copies of a run's checkpoints stay on a node that gets them by itself: as long as the
/// newest is being copied there is another whole one.
inline constexpr int64_t kKeptCopies = 2;
struct CheckpointBegin {
    static constexpr const char* kType = "checkpoint-begin";
    std::string manifest; ///< the text of MANIFEST.json
    bool operator==(const CheckpointBegin&) const = default;
};

using Transfer =
    std::variant<Offer, Missing, Chunk, BlobEnd, Stored, Tree, TreeReady, Failed, CheckpointPlace,
                 CheckpointBegin, Serve, Serving, Fetch, Fetching, FetchEnded, Waiting, StopFetch>;

std::vector<std::byte> encodeTransfer(const Transfer& transfer); ///< payload
std::vector<std::byte> frameTransfer(const Transfer& transfer);  ///< payload in a frame
Result<Transfer> decodeTransfer(std::span<const std::byte> payload);

/// The sorted entries as text, one a line (RECEIVE.md).
std::string treeList(std::vector<TreeEntry> entries);
/// SHA-256 of that text: the identity of a tree.
std::string treeId(std::vector<TreeEntry> entries);
/// Reads what treeList() wrote. kCorrupt names `source` and the line.
Result<std::vector<TreeEntry>> parseTreeList(std::string_view text, const std::string& source);

/// Relative UTF-8 of at most 4096 bytes; no part is empty, ".", ".." or longer than 255 bytes; no
/// control characters. decodeTransfer() refuses other paths, so check before sending.
bool isTreePath(std::string_view path);

/// Splits a long list into messages that each fit a frame; none for no blobs.
std::vector<Offer> splitOffer(const std::vector<Blob>& blobs, bool preview = false);
std::vector<Missing> splitMissing(const std::vector<MissingBlob>& blobs);
/// Splits a large tree into messages that each fit a frame; `more` is set in all but the last.
std::vector<Tree> splitTree(const Tree& tree);

} // namespace rm
