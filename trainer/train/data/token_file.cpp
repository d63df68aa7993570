// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/token_file.h"

#include "shared/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rm {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kMagic[8] = {'R', 'M', 'T', 'O', 'K', 'E', 'N', 'S'};
constexpr uint32_t kVersion = 1;
constexpr int64_t kMaxShortVocab = 65536;

struct Header {
    char magic[8];
    uint32_t version;
    uint32_t bytesPerToken;
    uint64_t count;
    uint64_t vocabSize;
};
static_assert(sizeof(Header) == 32);

Result<void> checkHeader(const Header& header, size_t fileSize, const std::string& attempt) {
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
        return fail(ErrorCode::kCorrupt, attempt + ": not a token shard");
    if (header.version > kVersion)
        return fail(ErrorCode::kTooNew, attempt + ": written by a newer release");
    if (header.bytesPerToken != 2 && header.bytesPerToken != 4)
        return fail(ErrorCode::kCorrupt, attempt + ": damaged header");
    const size_t body = fileSize - sizeof(Header);
    if (body % header.bytesPerToken != 0 || header.count != body / header.bytesPerToken)
        return fail(ErrorCode::kCorrupt, attempt + ": it has " + std::to_string(fileSize) +
                                             " bytes, its header says " +
                                             std::to_string(header.count) + " tokens");
    return {};
}

} // namespace

struct TokenFile::Mapping {
    ~Mapping() { munmap(const_cast<std::byte*>(base), size); }

    const Header& header() const { return *reinterpret_cast<const Header*>(base); }

    const std::byte* base = nullptr;
    size_t size = 0;
};

Result<TokenFile> TokenFile::open(const std::string& path) {
    const std::string attempt = "open token shard " + path;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return failErrno(attempt, errno);
    struct stat status {};
    const int statError = fstat(fd, &status) < 0 ? errno : 0;
    const auto size = static_cast<size_t>(status.st_size);
    void* base = MAP_FAILED;
    if (statError == 0 && size >= sizeof(Header))
        base = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    const int mapError = errno;
    close(fd);
    if (statError != 0)
        return failErrno(attempt, statError);
    if (size < sizeof(Header))
        return fail(ErrorCode::kCorrupt, attempt + ": not a token shard");
    if (base == MAP_FAILED)
        return failErrno(attempt, mapError);
    auto mapping = std::make_shared<Mapping>();
    mapping->base = static_cast<const std::byte*>(base);
    mapping->size = size;
    if (const auto valid = checkHeader(mapping->header(), size, attempt); !valid)
        return tl::unexpected(valid.error());
    TokenFile file;
    file.m_mapping = std::move(mapping);
    return file;
}

int64_t TokenFile::count() const {
    return static_cast<int64_t>(m_mapping->header().count);
}

int64_t TokenFile::vocabSize() const {
    return static_cast<int64_t>(m_mapping->header().vocabSize);
}

void TokenFile::read(int64_t first, int64_t count, int64_t* out) const {
    const std::byte* body = m_mapping->base + sizeof(Header);
    if (m_mapping->header().bytesPerToken == 2) {
        const auto* tokens = reinterpret_cast<const uint16_t*>(body) + first;
        std::copy(tokens, tokens + count, out);
    } else {
        const auto* tokens = reinterpret_cast<const uint32_t*>(body) + first;
        std::copy(tokens, tokens + count, out);
    }
}

struct TokenFileWriter::Impl {
    ~Impl() {
        if (file)
            std::fclose(file);
        if (!path.empty())
            std::remove(temporary.c_str());
    }

    Result<void> write(const void* bytes, size_t size) {
        if (std::fwrite(bytes, 1, size, file) != size)
            return failErrno("write token shard " + path, errno);
        return {};
    }

    Result<void> writeHeader() {
        return std::fseek(file, 0, SEEK_SET) == 0
                   ? write(&header, sizeof header)
                   : Result<void>(failErrno("write token shard " + path, errno));
    }

    std::string path;
    std::string temporary;
    std::FILE* file = nullptr;
    Header header{};
};

TokenFileWriter::TokenFileWriter() = default;
TokenFileWriter::TokenFileWriter(TokenFileWriter&&) noexcept = default;
TokenFileWriter& TokenFileWriter::operator=(TokenFileWriter&&) noexcept = default;
TokenFileWriter::~TokenFileWriter() = default;

Result<TokenFileWriter> TokenFileWriter::create(const std::string& path, int64_t vocabSize) {
    TokenFileWriter writer;
    writer.m_impl = std::make_unique<Impl>();
    Impl& impl = *writer.m_impl;
    impl.path = path;
    impl.temporary = path + ".tmp-" + std::to_string(getpid());
    impl.file = std::fopen(impl.temporary.c_str(), "wbe");
    if (!impl.file)
        return failErrno("write token shard " + path, errno);
    std::memcpy(impl.header.magic, kMagic, sizeof kMagic);
    impl.header.version = kVersion;
    impl.header.bytesPerToken = vocabSize <= kMaxShortVocab ? 2 : 4;
    impl.header.vocabSize = static_cast<uint64_t>(vocabSize);
    if (const auto written = impl.writeHeader(); !written)
        return tl::unexpected(written.error());
    return writer;
}

Result<void> TokenFileWriter::append(const int32_t* tokens, size_t count) {
    m_impl->header.count += count;
    if (m_impl->header.bytesPerToken == 4)
        return m_impl->write(tokens, count * sizeof *tokens);
    const std::vector<uint16_t> narrow(tokens, tokens + count);
    return m_impl->write(narrow.data(), count * sizeof(uint16_t));
}

Result<void> TokenFileWriter::finish() {
    Impl& impl = *m_impl;
    if (const auto written = impl.writeHeader(); !written)
        return written;
    if (std::fflush(impl.file) != 0)
        return failErrno("write token shard " + impl.path, errno);
    if (const auto synced = syncFile(impl.temporary); !synced)
        return synced;
    if (std::rename(impl.temporary.c_str(), impl.path.c_str()) != 0)
        return failErrno("write token shard " + impl.path, errno);
    std::fclose(std::exchange(impl.file, nullptr));
    impl.path.clear();
    return {};
}

TokenStream::TokenStream(std::vector<TokenFile> files)
    : m_files(std::move(files)) {
    for (const TokenFile& file : m_files)
        m_count += file.count();
}

void TokenStream::read(int64_t first, int64_t count, int64_t* out) const {
    for (const TokenFile& file : m_files) {
        if (first < file.count()) {
            const int64_t here = std::min(count, file.count() - first);
            file.read(first, here, out);
            out += here;
            count -= here;
            first = 0;
        } else {
            first -= file.count();
        }
        if (count == 0)
            return;
    }
}

} // namespace rm
