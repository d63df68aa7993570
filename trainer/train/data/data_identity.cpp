// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/data_identity.h"

#include "shared/io/descriptor.h"
#include "shared/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

namespace rm {
namespace {

constexpr char kBeforeContent = '+';
constexpr int64_t kReadFiles = 512; ///< as many of them are opened
constexpr size_t kPiece = 4096;

std::pair<std::string, std::string> parts(const std::string& identity) {
    const size_t at = identity.find(kBeforeContent);
    return at == std::string::npos ? std::pair(identity, std::string())
                                   : std::pair(identity.substr(0, at), identity.substr(at + 1));
}

bool mayBeSame(const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
}

/// A piece from its middle, as files of one kind begin alike.
std::string pieceOf(const std::string& path, int64_t size) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string piece(kPiece, '\0');
    const off_t from = std::max<off_t>(0, static_cast<off_t>((size - int64_t{kPiece}) / 2));
    const ssize_t read = file ? ::pread(file.get(), piece.data(), piece.size(), from) : 0;
    piece.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
    return piece;
}

} // namespace

std::string withContent(const std::string& identity, const std::string& content) {
    return identity + kBeforeContent + content;
}

bool mayBeSameData(const std::string& a, const std::string& b) {
    const auto [is, content] = parts(a);
    const auto [was, contentBefore] = parts(b);
    return mayBeSame(is, was) && mayBeSame(content, contentBefore);
}

std::string sampledContent(int64_t count, int64_t most,
                           const std::function<std::string(int64_t)>& path) {
    const int64_t stride = std::max<int64_t>(1, (count + most - 1) / most);
    const int64_t looked = (count + stride - 1) / stride;
    const int64_t perRead = std::max<int64_t>(1, looked / kReadFiles);
    std::string text;
    for (int64_t at = 0; at < looked; ++at) {
        const std::string file = path(at * stride);
        struct stat info = {};
        const int64_t size = ::stat(file.c_str(), &info) == 0 ? info.st_size : 0;
        text += std::to_string(size) + ' ';
        if (at % perRead == 0)
            text += pieceOf(file, size);
    }
    return sha256Hex(std::as_bytes(std::span<const char>(text)));
}

} // namespace rm
