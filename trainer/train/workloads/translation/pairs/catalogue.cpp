// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/catalogue.h"

#include "shared/io/bytes.h"
#include "shared/io/data_files.h"

#include <optional>

namespace rm {
namespace {

constexpr uint32_t kMagic = 0x950412de;
constexpr size_t kHeader = 28;
constexpr size_t kRow = 8; ///< length, offset

/// Reads numbers of a file in the byte order of its magic number.
class Numbers {
public:
    Numbers(std::span<const std::byte> file, bool swapped)
        : m_file(file)
        , m_swapped(swapped) {}

    /// The caller has checked that the file reaches so far.
    uint32_t at(size_t offset) const {
        const auto value = loadInt<uint32_t>(m_file.subspan(offset));
        return m_swapped ? __builtin_bswap32(value) : value;
    }

private:
    std::span<const std::byte> m_file;
    bool m_swapped;
};

tl::unexpected<Error> damaged(const std::string& source, const std::string& cause) {
    return fail(ErrorCode::kCorrupt, "read catalogue " + source + ": " + cause);
}

/// Row `index` of a table of strings; nullopt when it points outside of the file.
std::optional<std::string_view> stringAt(std::span<const std::byte> file, const Numbers& numbers,
                                         size_t table, size_t index) {
    const size_t length = numbers.at(table + index * kRow);
    const size_t offset = numbers.at(table + index * kRow + 4);
    if (offset >= file.size() || length >= file.size() - offset)
        return std::nullopt;
    const auto* begin = reinterpret_cast<const char*>(file.data()) + offset;
    return begin[length] == '\0' ? std::optional(std::string_view(begin, length)) : std::nullopt;
}

bool holdsTable(std::span<const std::byte> file, size_t table, size_t rows) {
    return table >= kHeader && table <= file.size() && rows <= (file.size() - table) / kRow;
}

} // namespace

Result<std::vector<CatalogueMessage>> parseCatalogue(std::span<const std::byte> file,
                                                     const std::string& source) {
    if (file.size() < kHeader)
        return damaged(source, "not a gettext catalogue (.mo)");
    const auto magic = loadInt<uint32_t>(file);
    if (magic != kMagic && magic != __builtin_bswap32(kMagic))
        return damaged(source, whyNotOfItsKind(file, "not a gettext catalogue (.mo)"));
    const Numbers numbers(file, magic != kMagic);
    if (numbers.at(4) >> 16 > 1)
        return fail(ErrorCode::kTooNew, "read catalogue " + source + ": of a newer format");
    const size_t count = numbers.at(8);
    const size_t ids = numbers.at(12);
    const size_t texts = numbers.at(16);
    if (!holdsTable(file, ids, count) || !holdsTable(file, texts, count))
        return damaged(source, "its tables reach beyond its end");
    std::vector<CatalogueMessage> messages;
    messages.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        const auto id = stringAt(file, numbers, ids, i);
        const auto text = stringAt(file, numbers, texts, i);
        if (!id || !text)
            return damaged(source, "message " + std::to_string(i + 1) + " of " +
                                       std::to_string(count) + " is damaged");
        messages.push_back({*id, *text});
    }
    return messages;
}

} // namespace rm
