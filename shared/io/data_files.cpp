// SPDX-License-Identifier: Apache-2.0
#include "shared/io/data_files.h"

#include "shared/return_if_error.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

namespace rm {

namespace fs = std::filesystem;

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";
constexpr const char* kFetchByLfs =
    "it is a pointer of Git LFS, not the file itself: run `git lfs pull` first";

/// How a kind of file begins, and what a person reads of it.
struct Magic {
    std::string_view bytes;
    const char* what;
};

constexpr Magic kMagics[] = {
    {"\x1f\x8b"sv, "it is compressed by gzip: unpack it first"},
    {"\x28\xb5\x2f\xfd"sv, "it is compressed by zstd: unpack it first"},
    {"\xfd\x37zXZ\0"sv, "it is compressed by xz: unpack it first"},
    {"BZh"sv, "it is compressed by bzip2: unpack it first"},
    {"PK\x03\x04"sv, "it is a zip archive: unpack it first"},
    {"\xff\xfe"sv, "it is UTF-16: convert it to UTF-8 first"},
    {"\xfe\xff"sv, "it is UTF-16: convert it to UTF-8 first"},
    {"%PDF-"sv, "it is a PDF: extract its text first"},
    {"PAR1"sv, "it is a Parquet file: write its text as lines first"},
    {"/annex/objects/"sv,
     "it is a pointer of git-annex, not the file itself: run `git annex get` first"},
    {"version https://hawser.github.com/spec/"sv, kFetchByLfs}, // as it was called first
    {kLfsPointer, kFetchByLfs},
};

class Walk {
public:
    Walk(const std::string& top, const std::function<bool(const std::string&)>& visit)
        : m_visit(visit) {
        std::error_code none;
        m_top = fs::canonical(top, none).string() + '/';
    }

    /// False: the visitor wants no more.
    Result<bool> folder(const std::string& path, const std::string& below) {
        RM_ASSIGN_OR_RETURN(auto entries, entriesOf(path));
        for (const fs::directory_entry& entry : entries) {
            RM_ASSIGN_OR_RETURN(const bool goesOn, visited(entry, below));
            if (!goesOn)
                return false;
        }
        return true;
    }

private:
    static Result<std::vector<fs::directory_entry>> entriesOf(const std::string& path) {
        std::vector<fs::directory_entry> entries;
        std::error_code error;
        for (fs::directory_iterator entry(path, error), end; !error && entry != end;
             entry.increment(error))
            if (!entry->path().filename().native().starts_with('.'))
                entries.push_back(*entry);
        if (error)
            return failErrno("read the folder " + path, error.value());
        std::ranges::sort(entries, {}, [](const auto& entry) { return entry.path().native(); });
        return entries;
    }

    /// Asks only of links what the folder does not say.
    Result<bool> visited(const fs::directory_entry& entry, const std::string& below) {
        std::error_code none;
        const std::string path = entry.path().string();
        const std::string name = below + entry.path().filename().string();
        if (entry.is_symlink(none)) {
            const std::string target = fs::canonical(entry.path(), none).string();
            if (none)
                return cannotFollow(path, none);
            // Once, whichever way leads there.
            if (isFoundAnyway(target) || !m_linked.insert(target).second)
                return true;
            if (fs::is_directory(target, none))
                return folder(path, name + '/');
        } else if (entry.is_directory(none)) {
            return folder(path, name + '/');
        }
        return !entry.is_regular_file(none) || m_visit(name);
    }

    static tl::unexpected<Error> cannotFollow(const std::string& path, const std::error_code& why) {
        if (why != std::errc::no_such_file_or_directory &&
            why != std::errc::too_many_symbolic_link_levels)
            return failErrno("read " + path, why.value());
        return fail(ErrorCode::kNotFound,
                    "read " + path +
                        (why == std::errc::no_such_file_or_directory
                             ? ": it is a link that leads nowhere; bring back what it leads to, or "
                               "remove it"
                             : ": it is a link that leads in a circle; remove it"));
    }

    /// Whether the walk comes to it without the link: it is below the folder, and not hidden there.
    bool isFoundAnyway(const std::string& target) const {
        return (target + '/').starts_with(m_top) &&
               target.find("/.", m_top.size() - 1) == std::string::npos;
    }

    const std::function<bool(const std::string&)>& m_visit;
    std::string m_top;
    std::set<std::string> m_linked; ///< what links led to
};

} // namespace

Result<void> visitDataFiles(const std::string& folder,
                            const std::function<bool(const std::string& name)>& visit) {
    return Walk(folder, visit).folder(folder, {}).map([](bool) {});
}

Result<std::vector<std::string>> dataFiles(const std::string& folder) {
    std::vector<std::string> names;
    RM_RETURN_IF_ERROR(visitDataFiles(folder, [&](const std::string& name) {
        names.push_back(name);
        return true;
    }));
    std::ranges::sort(names);
    return names;
}

std::string whyNotText(std::string_view head) {
    for (const Magic& magic : kMagics)
        if (head.starts_with(magic.bytes))
            return magic.what;
    if (head.find('\0') != std::string_view::npos)
        return "it is no text, as it has bytes of zero: remove it, or convert it to UTF-8";
    return {};
}

std::optional<size_t> endOfUtf8(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const size_t length = lead < 0x80                   ? 1
                              : lead >= 0xc2 && lead < 0xe0 ? 2
                              : lead >= 0xe0 && lead < 0xf0 ? 3
                              : lead >= 0xf0 && lead < 0xf5 ? 4
                                                            : 0;
        // No letter is written longer than it must be, and none lies among the surrogates or beyond
        // the last one.
        const auto second = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0u;
        const bool isWrong =
            second != 0 && ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                            (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f));
        if (length == 0 || isWrong)
            return at;
        for (size_t more = 1; more < length && at + more < text.size(); ++more)
            if ((static_cast<unsigned char>(text[at + more]) & 0xc0) != 0x80)
                return at;
        at += length;
    }
    return std::nullopt;
}

bool isLfsPointer(std::string_view head) {
    return head.starts_with(kLfsPointer);
}

} // namespace rm
