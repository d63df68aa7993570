// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/file_name.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/agent/receive/checkpoint_receiver.h"

#include <fcntl.h>
#include <zstd.h>

namespace rm {

namespace {

constexpr size_t kMaxManifest = 512 * 1024; ///< so that it fits a frame
constexpr int kLevel = 1;                   ///< weights hardly compress; zeros and texts do

Result<void> send(const Transfer& transfer, int outputFd) {
    return writeAll(outputFd, frameTransfer(transfer), "stdout");
}

Result<void> sendFile(const std::string& dir, const Manifest::File& file, int outputFd) {
    const std::string path = dir + "/" + file.name;
    RM_ASSIGN_OR_RETURN(const Descriptor source, openFile(path, O_RDONLY | O_NOFOLLOW));
    std::vector<std::byte> plain(kMaxChunk);
    std::vector<std::byte> packed(ZSTD_compressBound(kMaxChunk));
    while (true) {
        RM_ASSIGN_OR_RETURN(const size_t size, readSome(source.get(), plain, path));
        if (size == 0)
            return send(BlobEnd{file.sha256}, outputFd);
        const size_t length =
            ZSTD_compress(packed.data(), packed.size(), plain.data(), size, kLevel);
        if (ZSTD_isError(length))
            return fail(ErrorCode::kInternal, "pack " + path + ": " + ZSTD_getErrorName(length));
        const auto end = packed.begin() + static_cast<std::ptrdiff_t>(length);
        RM_RETURN_IF_ERROR(send(Chunk{{packed.begin(), end}}, outputFd));
    }
}

Result<void> sendAll(const std::string& dir, int outputFd) {
    const auto text = readFile(dir + "/" + kManifestName, kMaxManifest);
    if (!text)
        return failAs("send checkpoint " + dir, text.error());
    RM_ASSIGN_OR_RETURN(const Manifest manifest, parseManifest(*text, dir));
    RM_RETURN_IF_ERROR(send(CheckpointBegin{*text}, outputFd));
    for (const Manifest::File& file : manifest.files)
        RM_RETURN_IF_ERROR(sendFile(dir, file, outputFd));
    return {};
}

} // namespace

Result<void> sendCheckpoint(const std::string& dir, int outputFd) {
    const Result<void> sent = sendAll(dir, outputFd);
    if (!sent)
        (void)send(Failed{static_cast<uint8_t>(sent.error().code), sent.error().message}, outputFd);
    return sent;
}

} // namespace rm
