// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/file_pieces.h"

#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace rm {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;

/// Reads `size` bytes from `offset` on; fewer only at the end of the file.
Result<std::string> readRange(const std::string& path, size_t offset, size_t size) {
    const auto file = openFile(path, O_RDONLY);
    if (!file)
        return failAs("read training data", file.error());
    std::string text(size, '\0');
    if (lseek(file->get(), static_cast<off_t>(offset), SEEK_SET) < 0)
        return failErrno("read training data " + path, errno);
    const auto read = readSome(file->get(), std::as_writable_bytes(std::span(text)), path);
    if (!read)
        return failAs("read training data", read.error());
    text.resize(*read);
    return text;
}

} // namespace

Result<std::vector<FilePiece>> cutFile(const std::string& path) {
    std::vector<FilePiece> pieces;
    size_t offset = 0;
    int64_t line = 1;
    for (size_t wanted = kPieceBytes;;) {
        RM_ASSIGN_OR_RETURN(const auto text, readRange(path, offset, wanted));
        if (text.empty())
            return pieces;
        const bool atEnd = text.size() < wanted;
        const size_t size = atEnd ? text.size() : text.rfind('\n') + 1;
        if (size == 0) { // a line longer than that
            wanted *= 2;
            continue;
        }
        pieces.push_back({path, offset, size, line});
        line += std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(size), '\n');
        offset += size;
        wanted = kPieceBytes;
    }
}

Result<std::string> readPiece(const FilePiece& piece) {
    return readRange(piece.path, piece.offset, piece.size);
}

} // namespace rm
