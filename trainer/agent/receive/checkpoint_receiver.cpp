// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/checkpoint_receiver.h"

#include "shared/checkpoint/file_name.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/agent/receive/receiver.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>

namespace rm {

namespace {

using Answer = std::optional<Transfer>;

bool isSame(const Manifest& a, const Manifest& b) {
    return a.runId == b.runId && a.attempt == b.attempt && a.step == b.step && a.files == b.files;
}

/// Removes what a killed receiver has left in a folder that only this machine uses:
/// tmp-step-NNNNNNNNN-PID-N.
void sweepStaged(const std::string& parent) {
    std::error_code error;
    std::vector<std::filesystem::path> left;
    for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        const size_t last = name.rfind('-');
        const size_t first = last == name.npos || last == 0 ? name.npos : name.rfind('-', last - 1);
        if (!name.starts_with("tmp-step-") || first == name.npos)
            continue;
        const std::string pid = name.substr(first + 1, last - first - 1);
        const bool isNumber = !pid.empty() && pid.find_first_not_of("0123456789") == pid.npos;
        if (isNumber && !std::filesystem::exists("/proc/" + pid))
            left.push_back(at->path());
    }
    for (const auto& path : left)
        std::filesystem::remove_all(path, error);
}

/// A relative folder is one of rank 0's run directory, as for the trainer.
Result<std::string> parentOf(const Folders& folders, const CheckpointPlace& place) {
    if (place.folder.starts_with('/'))
        return place.folder;
    RM_ASSIGN_OR_RETURN(const std::string runDir, folders.partDir(place.runId, 0));
    return runDir + "/" + (place.folder.empty() ? "checkpoints" : place.folder);
}

} // namespace

CheckpointReceiver::CheckpointReceiver(Folders folders)
    : m_folders(std::move(folders))
    , m_plain(kMaxChunk) {}

CheckpointReceiver::~CheckpointReceiver() {
    std::error_code ignored;
    if (!m_staged.empty())
        std::filesystem::remove_all(m_staged, ignored);
}

Result<Answer> CheckpointReceiver::onTransfer(const Transfer& transfer) {
    if (m_isDone)
        return std::nullopt; // it lay here already, which the sender did not know yet
    if (const auto* place = std::get_if<CheckpointPlace>(&transfer))
        return onPlace(*place).map([] { return Answer(); });
    if (const auto* begin = std::get_if<CheckpointBegin>(&transfer))
        return onBegin(*begin);
    if (const auto* chunk = std::get_if<Chunk>(&transfer))
        return onChunk(*chunk).map([] { return Answer(); });
    if (const auto* end = std::get_if<BlobEnd>(&transfer))
        return onFileEnd(*end);
    if (const auto* failed = std::get_if<Failed>(&transfer))
        return fail(static_cast<ErrorCode>(failed->code), failed->message);
    return fail(ErrorCode::kInvalid, "receive a checkpoint: an unexpected message came");
}

Result<void> CheckpointReceiver::onPlace(const CheckpointPlace& place) {
    if (m_place)
        return fail(ErrorCode::kInvalid, "receive a checkpoint: a second place was named");
    RM_ASSIGN_OR_RETURN(m_parent, parentOf(m_folders, place));
    m_place = place;
    return makeFolders(m_parent);
}

Result<Answer> CheckpointReceiver::onBegin(const CheckpointBegin& begin) {
    if (!m_place || m_manifest)
        return fail(ErrorCode::kInvalid, "receive a checkpoint: it began out of order");
    RM_ASSIGN_OR_RETURN(m_manifest, parseManifest(begin.manifest, "a checkpoint that comes"));
    if (m_manifest->runId != m_place->runId)
        return fail(ErrorCode::kInvalid, "receive a checkpoint of " + m_place->runId +
                                             ": it is one of run " + m_manifest->runId);
    if (const std::string there = findWhole(); !there.empty()) {
        if (m_place->keepCopies == 0)
            ::unlink((there + "/" + kCopyMark).c_str());
        m_isDone = true;
        return TreeReady{there};
    }
    if (!m_place->folder.starts_with('/'))
        sweepStaged(m_parent);
    RM_RETURN_IF_ERROR(checkSpace());
    const std::string staged = m_parent + "/" + stagingName(*m_manifest);
    RM_RETURN_IF_ERROR(makeFolders(staged));
    m_staged = staged;
    RM_RETURN_IF_ERROR(writeFileAtomically(m_staged + "/" + kManifestName, begin.manifest));
    return m_manifest->files.empty() ? publish() : openNext().map([] { return Answer(); });
}

/// The same checkpoint, if it lies here with every byte.
std::string CheckpointReceiver::findWhole() const {
    const auto entries = listCheckpoints(m_parent);
    for (const CheckpointEntry& entry : entries.value_or(std::vector<CheckpointEntry>()))
        if (isSame(entry.manifest, *m_manifest) && verifyCheckpoint(entry.path))
            return entry.path;
    return {};
}

Result<void> CheckpointReceiver::checkSpace() const {
    struct statvfs info = {};
    if (::statvfs(m_parent.c_str(), &info) != 0)
        return failErrno("ask for free space in " + m_parent, errno);
    const auto block = static_cast<int64_t>(info.f_frsize);
    const int64_t free = static_cast<int64_t>(info.f_bavail) * block;
    // A copy is made unasked, and must not fill a disk.
    const bool isCopy = m_place->keepCopies > 0;
    if (m_manifest->bytes() <= (isCopy ? free / 2 : free))
        return {};
    return fail(ErrorCode::kExhausted,
                "receive a checkpoint into " + m_parent + ": " + inGigabytes(m_manifest->bytes()) +
                    " are needed" + (isCopy ? ", and as much again that a copy leaves free" : "") +
                    ", " + inGigabytes(free) + " are free");
}

Result<void> CheckpointReceiver::openNext() {
    const std::string path = m_staged + "/" + m_manifest->files[m_next].name;
    m_size = 0;
    RM_ASSIGN_OR_RETURN(m_file, openFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    return {};
}

Result<void> CheckpointReceiver::onChunk(const Chunk& chunk) {
    if (!m_file)
        return fail(ErrorCode::kInvalid, "receive a checkpoint: bytes came of no file");
    const Manifest::File& file = m_manifest->files[m_next];
    const size_t size =
        ZSTD_decompress(m_plain.data(), m_plain.size(), chunk.zstd.data(), chunk.zstd.size());
    if (ZSTD_isError(size))
        return fail(ErrorCode::kCorrupt,
                    "receive " + file.name + ": unpack a chunk: " + ZSTD_getErrorName(size));
    m_size += static_cast<int64_t>(size);
    if (m_size > file.size)
        return fail(ErrorCode::kCorrupt, "receive " + file.name + ": more than the " +
                                             std::to_string(file.size) + " bytes of its manifest");
    return writeAll(m_file.get(), std::span(m_plain).first(size), m_staged + "/" + file.name);
}

Result<Answer> CheckpointReceiver::onFileEnd(const BlobEnd& end) {
    if (!m_file || end.sha256 != m_manifest->files[m_next].sha256)
        return fail(ErrorCode::kInvalid, "receive a checkpoint: a file ended out of order");
    m_file = Descriptor();
    if (++m_next == m_manifest->files.size())
        return publish();
    return openNext().map([] { return Answer(); });
}

Result<Answer> CheckpointReceiver::publish() {
    if (m_place->keepCopies > 0)
        RM_RETURN_IF_ERROR(writeFileAtomically(m_staged + "/" + kCopyMark, ""));
    const auto published = adoptCheckpoint(m_parent, std::exchange(m_staged, {}));
    if (!published)
        return tl::unexpected(published.error());
    m_isDone = true;
    if (m_place->keepCopies > 0)
        keepNewestCopies();
    return TreeReady{*published};
}

/// Keeps the copies that were saved last, on whatever line.
void CheckpointReceiver::keepNewestCopies() {
    auto copies = listCheckpoints(m_parent).value_or(std::vector<CheckpointEntry>());
    std::erase_if(copies, [this](const CheckpointEntry& entry) {
        return !entry.isCopy || entry.manifest.runId != m_place->runId;
    });
    std::ranges::sort(copies, std::greater(),
                      [](const CheckpointEntry& entry) { return entry.manifest.createdNs; });
    for (size_t at = static_cast<size_t>(m_place->keepCopies); at < copies.size(); ++at)
        if (removeCheckpoint(copies[at].path)) // one that stays is tried again with the next copy
            m_dropped.push_back(copies[at].path);
}

Result<void> receiveCheckpoint(const Folders& folders, int inputFd, int outputFd) {
    CheckpointReceiver receiver(folders);
    return serveTransfers(inputFd, outputFd,
                          [&](const Transfer& transfer) { return receiver.onTransfer(transfer); });
}

} // namespace rm
