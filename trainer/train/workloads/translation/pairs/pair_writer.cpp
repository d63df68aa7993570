// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"
#include "trainer/train/workloads/translation/pairs/pair_header.h"

#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rm {
namespace {

void putLanguage(char (&field)[16], const std::string& language) {
    std::memcpy(field, language.data(), std::min(language.size(), sizeof field));
}

PairHeader headerFor(const PairFileInfo& info) {
    PairHeader header{};
    std::memcpy(header.magic, kPairMagic, sizeof kPairMagic);
    header.version = kPairVersion;
    header.itemBytes = static_cast<uint32_t>(info.itemBytes);
    header.sourceVocab = static_cast<uint64_t>(info.sourceVocab);
    header.targetVocab = static_cast<uint64_t>(info.targetVocab);
    putLanguage(header.sourceLanguage, info.sourceLanguage);
    putLanguage(header.targetLanguage, info.targetLanguage);
    return header;
}

} // namespace

struct PairFileWriter::Impl {
    Impl() { XXH3_64bits_reset(&sum); }
    ~Impl() {
        if (file)
            std::fclose(file);
        if (!path.empty())
            std::remove(temporary.c_str());
    }

    tl::unexpected<Error> failed() const {
        return failErrno("write shard of pairs " + path, errno);
    }

    Result<void> body(const void* bytes, size_t size) {
        XXH3_64bits_update(&sum, bytes, size);
        if (std::fwrite(bytes, 1, size, file) != size)
            return failed();
        return {};
    }

    /// One side, whose items are as wide as the shard's.
    template <class Item>
    Result<void> side(std::span<const Item> items) {
        offsets.push_back(header.items);
        header.items += items.size();
        return body(items.data(), items.size_bytes());
    }

    Result<void> ids(std::span<const int32_t> from) {
        if (header.itemBytes == 4)
            return side(from);
        const std::vector<uint16_t> narrow(from.begin(), from.end());
        return side(std::span<const uint16_t>(narrow));
    }

    Result<void> writeTable() {
        static constexpr std::array<char, 8> kZeros{};
        const size_t over = header.items * header.itemBytes % 8;
        if (over > 0)
            if (const auto padded = body(kZeros.data(), 8 - over); !padded)
                return padded;
        offsets.push_back(header.items);
        return body(offsets.data(), offsets.size() * sizeof(uint64_t));
    }

    Result<void> writeHeader() {
        header.bodySum = XXH3_64bits_digest(&sum);
        header.headerSum = XXH3_64bits(&header, offsetof(PairHeader, headerSum));
        const bool written = std::fseek(file, 0, SEEK_SET) == 0 &&
                             std::fwrite(&header, sizeof header, 1, file) == 1 &&
                             std::fflush(file) == 0;
        if (!written)
            return failed();
        return {};
    }

    std::string path;
    std::string temporary;
    std::FILE* file = nullptr;
    PairHeader header{};
    std::vector<uint64_t> offsets;
    XXH3_state_t sum;
};

PairFileWriter::PairFileWriter() = default;
PairFileWriter::PairFileWriter(PairFileWriter&&) noexcept = default;
PairFileWriter& PairFileWriter::operator=(PairFileWriter&&) noexcept = default;
PairFileWriter::~PairFileWriter() = default;

Result<PairFileWriter> PairFileWriter::create(const std::string& path, const PairFileInfo& info) {
    PairFileWriter writer;
    writer.m_impl = std::make_unique<Impl>();
    Impl& impl = *writer.m_impl;
    impl.path = path;
    impl.temporary = path + ".tmp-" + std::to_string(getpid());
    impl.header = headerFor(info);
    impl.file = std::fopen(impl.temporary.c_str(), "wbe");
    // The header is written again, with the sums, when all is known.
    if (!impl.file || std::fwrite(&impl.header, sizeof impl.header, 1, impl.file) != 1)
        return impl.failed();
    return writer;
}

Result<void> PairFileWriter::append(std::string_view source, std::string_view target) {
    ++m_impl->header.count;
    return m_impl->side(std::span(source.data(), source.size())).and_then([&] {
        return m_impl->side(std::span(target.data(), target.size()));
    });
}

Result<void> PairFileWriter::append(std::span<const int32_t> source,
                                    std::span<const int32_t> target) {
    ++m_impl->header.count;
    return m_impl->ids(source).and_then([&] { return m_impl->ids(target); });
}

int64_t PairFileWriter::count() const {
    return static_cast<int64_t>(m_impl->header.count);
}

Result<void> PairFileWriter::finish() {
    Impl& impl = *m_impl;
    const auto synced =
        impl.writeTable().and_then([&] { return impl.writeHeader(); }).and_then([&] {
            return syncFile(impl.temporary);
        });
    if (!synced)
        return synced;
    if (std::rename(impl.temporary.c_str(), impl.path.c_str()) != 0)
        return impl.failed();
    std::fclose(std::exchange(impl.file, nullptr));
    impl.path.clear();
    return {};
}

} // namespace rm
