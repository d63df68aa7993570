// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "shared/io/descriptor.h"
#include "shared/wire/receive.h"
#include "trainer/agent/run_dir/folders.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The receiving end of shared/wire/CHECKPOINT.md. Passive: transfers in, answers out. What is not
/// published when this ends is removed.
class CheckpointReceiver {
public:
    explicit CheckpointReceiver(Folders folders);
    ~CheckpointReceiver();
    CheckpointReceiver(const CheckpointReceiver&) = delete;
    CheckpointReceiver& operator=(const CheckpointReceiver&) = delete;

    /// The answer, if any: TreeReady once the checkpoint lies in its folder with every byte
    /// verified, at its begin already if it lay there before. What comes then is passed over.
    Result<std::optional<Transfer>> onTransfer(const Transfer& transfer);

    /// Folders of older copies that were removed for this one.
    const std::vector<std::string>& dropped() const { return m_dropped; }

private:
    Result<void> onPlace(const CheckpointPlace& place);
    Result<std::optional<Transfer>> onBegin(const CheckpointBegin& begin);
    Result<void> onChunk(const Chunk& chunk);
    Result<std::optional<Transfer>> onFileEnd(const BlobEnd& end);
    Result<void> checkSpace() const;
    Result<void> openNext();
    Result<std::optional<Transfer>> publish();
    std::string findWhole() const;
    void keepNewestCopies();

    Folders m_folders;
    std::optional<CheckpointPlace> m_place;
    std::string m_parent; ///< the folder of the run's checkpoints
    std::optional<Manifest> m_manifest;
    std::string m_staged; ///< empty: nothing is being received
    size_t m_next = 0;    ///< the file of the manifest that comes
    Descriptor m_file;
    int64_t m_size = 0; ///< of m_file, so far
    bool m_isDone = false;
    std::vector<std::string> m_dropped;
    std::vector<std::byte> m_plain;
};

/// `receive-checkpoint`: the loop over stdin and stdout.
Result<void> receiveCheckpoint(const Folders& folders, int inputFd, int outputFd);

/// `send-checkpoint`: the checkpoint in `dir` as CheckpointBegin, Chunk and BlobEnd. An error is
/// sent as Failed.
Result<void> sendCheckpoint(const std::string& dir, int outputFd);

} // namespace rm
