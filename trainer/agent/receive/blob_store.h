// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"
#include "shared/wire/receive.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// Told now and then, at least after each megabyte, while a large file is read or written.
using OnWork = std::function<void()>;

/// `blobs/` under the node's home: files named by the SHA-256 of what they hold, beside partial
/// ones (`SHA.part`, `SHA.XXXXXX.part`) of interrupted transfers. Several processes may use it.
class BlobStore {
public:
    explicit BlobStore(std::string folder);

    /// Makes the folder and removes partial files (`SHA.XXXXXX.part`) of dead receivers. As long as
    /// this store lives, nobody gets closeToReceivers(); if somebody has it, this waits.
    Result<void> prepare();
    /// As long as the descriptor lives, nobody receives into that folder, and nobody else has such
    /// a descriptor: another holder is waited for. kUnavailable: somebody receives into it.
    static Result<Descriptor> closeToReceivers(const std::string& folder);

    bool has(const Blob& blob) const;
    std::string pathOf(const std::string& sha256) const;
    /// Bytes of an interrupted transfer to go on from.
    int64_t partialSize(const Blob& blob) const;
    /// The file of a blob, whole or growing; no descriptor: nothing is there yet.
    struct Source {
        Descriptor fd;
        bool isWhole = false;
    };
    Source openToRead(const std::string& sha256) const;
    /// Stores a copy of the file at `path` if it is that blob. Where the file system can, the copy
    /// shares the file's blocks (FICLONE). Never a hard link: the file's owner could then change
    /// what is executed here, and making it read-only would change theirs. False: it is not.
    Result<bool> adopt(
        const Blob& blob, const std::string& path, const OnWork& onWork = [] {}) const;
    /// Bytes that may still be written to this file system.
    int64_t freeBytes() const;

private:
    std::string m_folder;
    Descriptor m_open; ///< locked, so that nothing here is removed meanwhile
};

/// A blob that is being received. A file under the final name is always whole and verified.
class IncomingBlob {
public:
    /// Continues at `offset`, which partialSize() returned. If another receiver is writing the same
    /// blob, this one writes its own partial file.
    static Result<IncomingBlob> open(const BlobStore& store, const Blob& blob, int64_t offset);

    /// kInvalid when it becomes longer than announced.
    Result<void> append(std::span<const std::byte> bytes);
    /// The whole blob from a file of its size; only for one opened at 0.
    Result<void> copyFrom(int fd, const std::string& path, const OnWork& onWork);
    /// Verifies, syncs and publishes. kCorrupt: the partial file is gone, begin anew.
    Result<void> finish(const OnWork& onWork = [] {});
    /// Removes the partial file.
    void discard();

private:
    Result<void> openShared(int64_t offset);
    Result<void> openOwn(int64_t offset);
    bool isPublished() const;

    Blob m_blob;
    std::string m_finalPath;
    std::string m_sharedPath; ///< the partial file that a later transfer resumes
    std::string m_path;       ///< the partial file that this one writes
    Descriptor m_fd;          ///< none: the blob was published meanwhile
    int64_t m_size = 0;
};

} // namespace rm
