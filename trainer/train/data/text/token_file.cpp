// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/token_file.h"

#include "shared/io/control_group.h"
#include "shared/io/data_files.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>

namespace rm {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kMagic[8] = {'R', 'M', 'T', 'O', 'K', 'E', 'N', 'S'};
constexpr const char* kNoShard = "not a token shard";
constexpr uint32_t kVersion = 1;
constexpr int64_t kMaxShortVocab = 65536;
constexpr uint64_t kMaxVocab = std::numeric_limits<int32_t>::max();
constexpr int64_t kTokensPerThread = int64_t{1} << 24;

struct Header {
    char magic[8];
    uint32_t version;
    uint32_t bytesPerToken;
    uint64_t count;
    uint64_t vocabSize;
};
static_assert(sizeof(Header) == 32);

Result<void> checkHeader(const Header& header, size_t fileSize, const std::string& attempt) {
    if (header.version > kVersion)
        return fail(ErrorCode::kTooNew, attempt + ": written by a newer release");
    const uint32_t bytes = header.vocabSize <= uint64_t{kMaxShortVocab} ? 2 : 4;
    if (header.vocabSize == 0 || header.vocabSize > kMaxVocab || header.bytesPerToken != bytes)
        return fail(ErrorCode::kCorrupt, attempt + ": damaged header");
    const size_t body = fileSize - sizeof(Header);
    if (body % header.bytesPerToken != 0 || header.count != body / header.bytesPerToken)
        return fail(ErrorCode::kCorrupt, attempt + ": it has " + std::to_string(fileSize) +
                                             " bytes, its header says " +
                                             std::to_string(header.count) + " tokens");
    return {};
}

/// Calls visit(pointer to the first token) with the tokens' type.
template <class Visit>
auto withTokens(const TokenFileView& view, const Visit& visit) {
    if (view.bytesPerToken == 2)
        return visit(reinterpret_cast<const uint16_t*>(view.tokens.data()));
    return visit(reinterpret_cast<const uint32_t*>(view.tokens.data()));
}

std::optional<int64_t> findBadIn(const TokenFileView& view, int64_t first, int64_t count) {
    return withTokens(view, [&](const auto* tokens) -> std::optional<int64_t> {
        const auto* begin = tokens + first;
        const auto* end = begin + count;
        const auto* bad = std::find_if(begin, end, [&](uint32_t token) {
            return token >= static_cast<uint64_t>(view.vocabSize);
        });
        return bad == end ? std::nullopt : std::optional<int64_t>(bad - tokens);
    });
}

/// The greatest token of a part. Has no early exit, so that the loop is vectorized.
uint32_t greatestIn(const TokenFileView& view, int64_t first, int64_t count) {
    return withTokens(view, [&](const auto* tokens) {
        auto greatest = tokens[first];
        for (int64_t i = first; i < first + count; ++i)
            greatest = std::max(greatest, tokens[i]);
        return static_cast<uint32_t>(greatest);
    });
}

} // namespace

Result<TokenFileView> parseTokenFile(std::span<const std::byte> file, const std::string& source) {
    const std::string attempt = "open token shard " + source;
    Header header{};
    if (file.size() < sizeof header)
        return fail(ErrorCode::kCorrupt, attempt + ": " + kNoShard);
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
        return fail(ErrorCode::kCorrupt, attempt + ": " + whyNotOfItsKind(file, kNoShard));
    RM_RETURN_IF_ERROR(checkHeader(header, file.size(), attempt));
    return TokenFileView{static_cast<int64_t>(header.vocabSize), header.bytesPerToken,
                         file.subspan(sizeof header)};
}

void TokenFileView::read(int64_t first, int64_t count, int64_t* out) const {
    withTokens(*this, [&](const auto* begin) {
        std::copy(begin + first, begin + first + count, out);
        return 0;
    });
}

std::optional<int64_t> TokenFileView::findBad() const {
    if (bytesPerToken == 2 && vocabSize == kMaxShortVocab)
        return std::nullopt; // every value is valid
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> badPart{count()}; // where the first part with a bad token begins
    const auto work = [&] {
        for (int64_t first = next.fetch_add(kTokensPerThread); first < badPart;
             first = next.fetch_add(kTokensPerThread)) {
            const int64_t size = std::min(kTokensPerThread, count() - first);
            if (greatestIn(*this, first, size) < static_cast<uint64_t>(vocabSize))
                continue;
            int64_t known = badPart;
            while (first < known && !badPart.compare_exchange_weak(known, first)) {
            }
        }
    };
    const int64_t parts = (count() + kTokensPerThread - 1) / kTokensPerThread;
    std::vector<std::thread> threads(
        static_cast<size_t>(std::clamp<int64_t>(std::min<int64_t>(parts, givenCores()) - 1, 0, 7)));
    for (std::thread& thread : threads)
        thread = std::thread(work);
    work();
    for (std::thread& thread : threads)
        thread.join();
    const int64_t first = badPart;
    return findBadIn(*this, first, std::min(kTokensPerThread, count() - first));
}

struct TokenFile::Mapping {
    ~Mapping() {
        if (base)
            munmap(base, size);
    }

    void* base = nullptr;
    size_t size = 0;
    TokenFileView view;
};

const TokenFileView& TokenFile::view() const {
    return m_mapping->view;
}

Result<TokenFile> TokenFile::open(const std::string& path) {
    const std::string attempt = "open token shard " + path;
    const auto file = openFile(path, O_RDONLY);
    if (!file)
        return failAs("open token shard", file.error());
    struct stat status {};
    if (fstat(file->get(), &status) < 0)
        return failErrno(attempt, errno);
    auto mapping = std::make_shared<Mapping>();
    mapping->size = static_cast<size_t>(status.st_size);
    if (mapping->size > 0) {
        void* base = mmap(nullptr, mapping->size, PROT_READ, MAP_SHARED, file->get(), 0);
        if (base == MAP_FAILED)
            return failErrno(attempt, errno);
        mapping->base = base;
    }
    RM_ASSIGN_OR_RETURN(
        auto view,
        parseTokenFile({static_cast<const std::byte*>(mapping->base), mapping->size}, path));
    mapping->view = view;
    TokenFile opened;
    opened.m_mapping = std::move(mapping);
    return opened;
}

Result<void> checkTokens(const std::string& path) {
    RM_ASSIGN_OR_RETURN(const auto file, TokenFile::open(path));
    const auto bad = file.view().findBad();
    if (!bad)
        return {};
    int64_t token = 0;
    file.read(*bad, 1, &token);
    return fail(ErrorCode::kCorrupt, "read training data " + path + ": token " +
                                         std::to_string(token) + " at position " +
                                         std::to_string(*bad) + " is not below its vocabulary of " +
                                         std::to_string(file.vocabSize()));
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
    RM_RETURN_IF_ERROR(impl.writeHeader());
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
