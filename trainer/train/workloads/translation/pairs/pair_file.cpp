// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_file.h"

#include "shared/io/bytes.h"
#include "shared/io/data_files.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"
#include "trainer/train/workloads/translation/pairs/pair_header.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rm {
namespace {

std::string languageOf(const char (&field)[16]) {
    return {field, strnlen(field, sizeof field)};
}

uint64_t offsetAt(std::span<const std::byte> offsets, int64_t index) {
    return loadInt<uint64_t>(offsets.subspan(static_cast<size_t>(index) * sizeof(uint64_t)));
}

tl::unexpected<Error> corrupt(const std::string& source, const std::string& cause) {
    return fail(ErrorCode::kCorrupt, "open shard of pairs " + source + ": " + cause);
}

Result<PairHeader> readHeader(std::span<const std::byte> file, const std::string& source) {
    PairHeader header{};
    const bool isOne = file.size() >= sizeof header &&
                       std::memcmp(file.data(), kPairMagic, sizeof kPairMagic) == 0;
    if (!isOne)
        return corrupt(source, whyNotOfItsKind(file, "not a shard of pairs (.rmpairs)"));
    std::memcpy(&header, file.data(), sizeof header);
    if (header.version > kPairVersion)
        return fail(ErrorCode::kTooNew,
                    "open shard of pairs " + source + ": written by a newer release");
    if (header.headerSum != XXH3_64bits(&header, offsetof(PairHeader, headerSum)))
        return corrupt(source, "damaged header");
    const bool text = header.itemBytes == 1;
    const bool ids = header.itemBytes == 2 || header.itemBytes == 4;
    if (header.version == 0 || !(text || ids))
        return corrupt(source, "damaged header");
    return header;
}

PairFileInfo infoOf(const PairHeader& header) {
    return {header.itemBytes, static_cast<int64_t>(header.sourceVocab),
            static_cast<int64_t>(header.targetVocab), languageOf(header.sourceLanguage),
            languageOf(header.targetLanguage)};
}

/// Cuts the body into its two parts.
Result<PairFileView> cutBody(const PairHeader& header, std::span<const std::byte> file,
                             const std::string& source) {
    constexpr uint64_t kMost = uint64_t{1} << 48; // so that no product below overflows
    const auto body = file.subspan(sizeof header);
    const uint64_t itemSpace = header.items * header.itemBytes;
    const uint64_t padded = (itemSpace + 7) / 8 * 8;
    const uint64_t table = (2 * header.count + 1) * sizeof(uint64_t);
    if (header.count > kMost || header.items > kMost || body.size() != padded + table)
        return corrupt(source, "it has " + std::to_string(file.size()) +
                                   " bytes, which is not what its header says");
    PairFileView view;
    view.info = infoOf(header);
    view.count = static_cast<int64_t>(header.count);
    view.items = body.first(itemSpace);
    view.offsets = body.subspan(padded);
    return view;
}

bool neverFalls(const PairFileView& view, uint64_t items) {
    uint64_t last = 0;
    for (int64_t side = 0; side <= 2 * view.count; ++side) {
        const uint64_t offset = offsetAt(view.offsets, side);
        if (offset < last || offset > items)
            return false;
        last = offset;
    }
    return last == items;
}

struct Mapping {
    Mapping() = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (base)
            munmap(base, size);
    }

    std::span<const std::byte> bytes() const { return {static_cast<std::byte*>(base), size}; }

    void* base = nullptr;
    size_t size = 0;
};

Result<void> mapFile(const std::string& path, Mapping& mapping) {
    const auto file = openFile(path, O_RDONLY);
    if (!file)
        return failAs("open shard of pairs", file.error());
    struct stat status {};
    if (fstat(file->get(), &status) < 0)
        return failErrno("open shard of pairs " + path, errno);
    if (status.st_size <= 0)
        return corrupt(path, "not a shard of pairs (.rmpairs)");
    const auto size = static_cast<size_t>(status.st_size);
    void* base = mmap(nullptr, size, PROT_READ, MAP_SHARED, file->get(), 0);
    if (base == MAP_FAILED)
        return failErrno("open shard of pairs " + path, errno);
    mapping.base = base;
    mapping.size = size;
    return {};
}

template <class Item>
bool copyIds(std::span<const std::byte> items, int64_t vocab, int64_t* out) {
    bool valid = true;
    for (size_t at = 0; at < items.size(); at += sizeof(Item)) {
        const auto id = static_cast<int64_t>(loadInt<Item>(items.subspan(at)));
        valid = valid && id < vocab;
        *out++ = id;
    }
    return valid;
}

} // namespace

Result<PairFileView> parsePairFile(std::span<const std::byte> file, const std::string& source) {
    const auto header = readHeader(file, source);
    if (!header)
        return tl::unexpected(header.error());
    auto view = cutBody(*header, file, source);
    if (!view)
        return view;
    const auto body = file.subspan(sizeof *header);
    if (header->bodySum != XXH3_64bits(body.data(), body.size()))
        return corrupt(source, "its checksum is wrong: damaged");
    if (!neverFalls(*view, header->items))
        return corrupt(source, "its table of offsets is damaged");
    return view;
}

struct PairFile::Impl {
    std::span<const std::byte> side(int64_t index) const {
        const auto itemBytes = static_cast<uint64_t>(view.info.itemBytes);
        const uint64_t begin = offsetAt(view.offsets, index);
        const uint64_t end = offsetAt(view.offsets, index + 1);
        return view.items.subspan(begin * itemBytes, (end - begin) * itemBytes);
    }

    std::string path;
    Mapping mapping;
    PairFileView view;
};

Result<PairFile> PairFile::open(const std::string& path) {
    auto impl = std::make_shared<Impl>();
    impl->path = path;
    RM_RETURN_IF_ERROR(mapFile(path, impl->mapping));
    RM_ASSIGN_OR_RETURN(auto view, parsePairFile(impl->mapping.bytes(), path));
    impl->view = std::move(view);
    PairFile file;
    file.m_impl = std::move(impl);
    return file;
}

Result<PairFileInfo> PairFile::peek(const std::string& path) {
    const auto file = openFile(path, O_RDONLY);
    if (!file)
        return failAs("open shard of pairs", file.error());
    std::array<std::byte, sizeof(PairHeader)> bytes{};
    return readSome(file->get(), bytes, path)
        .and_then([&](size_t size) { return readHeader(std::span(bytes).first(size), path); })
        .map(infoOf);
}

const PairFileInfo& PairFile::info() const {
    return m_impl->view.info;
}

int64_t PairFile::count() const {
    return m_impl->view.count;
}

int64_t PairFile::length(int64_t side) const {
    const auto& offsets = m_impl->view.offsets;
    return static_cast<int64_t>(offsetAt(offsets, side + 1) - offsetAt(offsets, side));
}

std::string_view PairFile::text(int64_t side) const {
    const auto bytes = m_impl->side(side);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> PairFile::ids(int64_t side, int64_t* out) const {
    const PairFileInfo& info = m_impl->view.info;
    const int64_t vocab = side % 2 == 0 ? info.sourceVocab : info.targetVocab;
    const auto items = m_impl->side(side);
    const bool valid = info.itemBytes == 2 ? copyIds<uint16_t>(items, vocab, out)
                                           : copyIds<uint32_t>(items, vocab, out);
    if (!valid)
        return corrupt(m_impl->path, "pair " + std::to_string(side / 2) +
                                         " has an id beyond the vocabulary of " +
                                         std::to_string(vocab));
    return {};
}

} // namespace rm
