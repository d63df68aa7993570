// SPDX-License-Identifier: Apache-2.0
#include "shared/io/elf_versions.h"

#include "shared/return_if_error.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

namespace rm {

namespace {

/// No library has more; a file that says so would keep us busy.
constexpr size_t kMostVersions = 10'000;

tl::unexpected<Error> beyondTheEnd() {
    return fail(ErrorCode::kCorrupt, "read the versions of an ELF file: it ends too early");
}

/// A file with checked reads.
struct ElfFile {
    std::span<const std::byte> bytes;

    template <class T>
    std::optional<T> at(uint64_t offset) const {
        T value;
        if (offset > bytes.size() || bytes.size() - offset < sizeof value)
            return std::nullopt;
        std::memcpy(&value, bytes.data() + offset, sizeof value);
        return value;
    }

    /// The text at `offset` of the string table in `section`.
    std::optional<std::string> text(const Elf64_Shdr& section, uint64_t offset) const {
        if (section.sh_offset > bytes.size() || offset > bytes.size() - section.sh_offset)
            return std::nullopt;
        const auto rest = bytes.subspan(section.sh_offset + offset);
        const auto end = std::ranges::find(rest, std::byte{0});
        if (end == rest.end())
            return std::nullopt;
        return std::string(reinterpret_cast<const char*>(rest.data()),
                           static_cast<size_t>(end - rest.begin()));
    }
};

/// Collects the names of a list of Verdaux or Vernaux entries, which lead to each other.
template <class Entry>
Result<void> collect(const ElfFile& file, const Elf64_Shdr& strings, uint64_t at, size_t most,
                     std::vector<std::string>& out) {
    for (size_t i = 0; i < most && out.size() < kMostVersions; ++i) {
        const auto entry = file.at<Entry>(at);
        if (!entry)
            return beyondTheEnd();
        uint64_t name = 0;
        uint64_t next = 0;
        if constexpr (std::is_same_v<Entry, Elf64_Verdaux>)
            name = entry->vda_name, next = entry->vda_next;
        else
            name = entry->vna_name, next = entry->vna_next;
        auto text = file.text(strings, name);
        if (!text)
            return beyondTheEnd();
        out.push_back(std::move(*text));
        if (next == 0)
            return {};
        at += next;
    }
    return {};
}

Result<void> readOffered(const ElfFile& file, const Elf64_Shdr& section, const Elf64_Shdr& strings,
                         std::vector<std::string>& out) {
    uint64_t at = section.sh_offset;
    for (size_t i = 0; i < section.sh_info && i < kMostVersions; ++i) {
        const auto each = file.at<Elf64_Verdef>(at);
        if (!each)
            return beyondTheEnd();
        // The first is the version's own name, the others those of its parents.
        RM_RETURN_IF_ERROR(collect<Elf64_Verdaux>(file, strings, at + each->vd_aux, 1, out));
        if (each->vd_next == 0)
            break;
        at += each->vd_next;
    }
    return {};
}

Result<void> readNeeded(const ElfFile& file, const Elf64_Shdr& section, const Elf64_Shdr& strings,
                        std::vector<std::string>& out) {
    uint64_t at = section.sh_offset;
    for (size_t i = 0; i < section.sh_info && i < kMostVersions; ++i) {
        const auto each = file.at<Elf64_Verneed>(at);
        if (!each)
            return beyondTheEnd();
        RM_RETURN_IF_ERROR(
            collect<Elf64_Vernaux>(file, strings, at + each->vn_aux, each->vn_cnt, out));
        if (each->vn_next == 0)
            break;
        at += each->vn_next;
    }
    return {};
}

std::vector<int> numbersOf(const std::string& version) {
    std::vector<int> numbers;
    const char* at = version.data();
    const char* const end = at + version.size();
    while (at < end) {
        int& number = numbers.emplace_back(0);
        at = std::find(std::from_chars(at, end, number).ptr, end, '.');
        at += at < end ? 1 : 0;
    }
    return numbers;
}

} // namespace

Result<ElfVersions> elfVersions(std::span<const std::byte> bytes) {
    const ElfFile file{bytes};
    const auto header = file.at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return fail(ErrorCode::kInvalid, "read the versions of an ELF file: it is none of 64 bits");
    ElfVersions versions;
    const auto section = [&](size_t index) {
        return file.at<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
    };
    for (size_t i = 0; i < header->e_shnum; ++i) {
        const auto each = section(i);
        if (!each)
            return beyondTheEnd();
        if (each->sh_type != SHT_GNU_verdef && each->sh_type != SHT_GNU_verneed)
            continue;
        const auto strings = section(each->sh_link);
        if (!strings)
            return beyondTheEnd();
        const bool offers = each->sh_type == SHT_GNU_verdef;
        RM_RETURN_IF_ERROR(offers ? readOffered(file, *each, *strings, versions.offered)
                                  : readNeeded(file, *each, *strings, versions.needed));
    }
    return versions;
}

bool isOlderVersion(const std::string& a, const std::string& b) {
    return std::ranges::lexicographical_compare(numbersOf(a), numbersOf(b));
}

std::string newestVersion(const std::vector<std::string>& versions, const std::string& prefix) {
    std::string newest;
    for (const std::string& version : versions) {
        const std::string number =
            version.starts_with(prefix) ? version.substr(prefix.size()) : std::string();
        const bool isNumber =
            !number.empty() && number.find_first_not_of("0123456789.") == std::string::npos;
        if (isNumber && (newest.empty() || isOlderVersion(newest, number)))
            newest = number;
    }
    return newest;
}

} // namespace rm
