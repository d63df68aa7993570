// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"
#include "app/core/remote/process_reader.h"
#include "shared/io/frame.h"
#include "shared/wire/receive.h"

#include <map>
#include <memory>
#include <optional>

namespace rm {

/// A LocalTree with the hashes of its files.
struct HashedTree {
    Tree tree;
    std::vector<Blob> blobs;                  ///< each once
    std::map<std::string, std::string> local; ///< SHA-256 -> path here
};
/// Reads files only when HashCache does not know them.
Result<HashedTree> hashTree(const LocalTree& tree, const std::stop_token& stop);

/// The app's side of shared/wire/receive.h over one `AGENT receive`.
class TreeSender {
public:
    static Result<std::unique_ptr<TreeSender>> open(HostSession& session, const std::string& agent,
                                                    std::stop_token stop);

    struct Published {
        std::string path;   ///< the folder of the tree; empty: the node lacks a blob
        std::string damage; ///< then: what was there, but had changed; empty: nothing
    };
    /// Does not end the conversation if the node lacks a blob.
    Result<Published> publish(const Tree& tree);

    /// What the node lacks, to be sent in this order.
    struct Lack {
        std::vector<MissingBlob> blobs;
        int64_t bytes = 0;  ///< of them, before compression
        int64_t reused = 0; ///< of what an installed torch had
    };
    /// `preview`: nothing is about to be sent, and nothing of a torch is copied. `onReuse` is told
    /// the bytes of it that were copied so far, about once a second.
    using OnReuse = std::function<void(int64_t bytes)>;
    Result<Lack> offer(const HashedTree& tree, bool preview = false, const OnReuse& onReuse = {});
    /// `onSent` is told the bytes before and after compression.
    using OnSent = std::function<void(int64_t bytes, int64_t packed)>;
    Result<void> send(const Lack& lack, const HashedTree& tree, const OnSent& onSent);

    /// Has the node serve its blobs to others: the port.
    Result<int> serve(const Serve& order);
    /// Has the node get what it lacks, of the last offer, from another one: why that ended before
    /// all was there, empty: all is. `continues` is told the bytes so far, and ends it by false.
    using Continues = std::function<bool(int64_t bytes, int64_t packed)>;
    Result<std::string> fetch(const Fetch& order, const Continues& continues);

private:
    TreeSender(std::unique_ptr<HostProcess> process, std::string attempt, std::stop_token stop);

    Result<void> send(const Transfer& transfer);
    Result<Transfer> receive(std::chrono::milliseconds timeout);
    Result<Missing> missing(const OnReuse& onReuse);
    Result<std::optional<Transfer>> poll(std::chrono::milliseconds timeout);
    Result<int64_t> bytesOf(const std::vector<MissingBlob>& missing, const HashedTree& tree) const;
    Result<void> sendBlob(const MissingBlob& blob, const std::string& path, const OnSent& onSent);
    Result<void> sendPiece(std::span<const std::byte> piece, const OnSent& onSent);
    Result<void> confirm(size_t stored);
    tl::unexpected<Error> unexpected() const;

    std::unique_ptr<HostProcess> m_process;
    std::string m_attempt;
    std::stop_token m_stop;
    ProcessReader m_reader;
    FrameScanner m_frames;
    std::vector<std::byte> m_packed;
    size_t m_stored = 0; ///< blobs that the node confirmed
};

} // namespace rm
