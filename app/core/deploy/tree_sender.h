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
    /// Ends the conversation if the node lacks a blob.
    Result<Published> publish(const Tree& tree);
    /// What sendMissing() would send, before compression.
    Result<int64_t> missingBytes(const HashedTree& tree);
    /// Sends what the node lacks of these; `damage` is reported as Transferred::repairs.
    Result<void> sendMissing(const HashedTree& tree, const std::string& damage,
                             const TransferProgress& progress);

private:
    TreeSender(std::unique_ptr<HostProcess> process, std::string attempt, std::stop_token stop);

    Result<void> send(const Transfer& transfer);
    Result<Transfer> receive(std::chrono::milliseconds timeout);
    Result<std::optional<Transfer>> poll(std::chrono::milliseconds timeout);
    Result<std::vector<MissingBlob>> offer(const std::vector<Blob>& blobs);
    Result<int64_t> bytesOf(const std::vector<MissingBlob>& missing, const HashedTree& tree) const;
    Result<void> sendBlob(const MissingBlob& blob, const std::string& path);
    Result<void> sendPiece(std::span<const std::byte> piece);
    Result<void> confirm(size_t stored);
    tl::unexpected<Error> unexpected() const;

    std::unique_ptr<HostProcess> m_process;
    std::string m_attempt;
    std::stop_token m_stop;
    ProcessReader m_reader;
    FrameScanner m_frames;
    std::vector<std::byte> m_packed;
    size_t m_stored = 0; ///< blobs that the node confirmed
    std::function<void(size_t piece, size_t packed)> m_onSent;
};

} // namespace rm
