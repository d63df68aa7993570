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

/// How a kind of file begins, and what a person reads of it.
struct Magic {
    std::string_view bytes;
    const char* what;
};

constexpr const char* kFetchByLfs =
    "it is a pointer of Git LFS, not the file itself: run `git lfs pull` first";

constexpr Magic kPointers[] = {
    {"version https://git-lfs.github.com/spec/"sv, kFetchByLfs},
    {"version https://hawser.github.com/spec/"sv, kFetchByLfs}, // as it was called first
    {"/annex/objects/"sv,
     "it is a pointer of git-annex, not the file itself: run `git annex get` first"},
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
};

/// What is said of the one that it begins as; empty: as none.
std::string whatBegins(std::string_view head, std::span<const Magic> magics) {
    const auto found = std::ranges::find_if(
        magics, [head](const Magic& magic) { return head.starts_with(magic.bytes); });
    return found == magics.end() ? std::string() : found->what;
}

/// How often linked folders may lead to folders that were entered before: twenty that all link to
/// each other would be walked for ever.
constexpr int kMostWaysRound = 10'000;

class Walk {
public:
    Walk(const std::string& top, const std::function<bool(const std::string&)>& visit,
         Repeated repeated)
        : m_folder(top)
        , m_visit(visit)
        , m_repeated(repeated) {
        std::error_code none;
        m_top = fs::canonical(top, none).string();
    }

    Result<void> all() {
        return folder(m_folder, m_top, {}).map([](bool) {});
    }

private:
    /// `real` is the folder without links. False: the visitor wants no more.
    Result<bool> folder(const std::string& path, const std::string& real,
                        const std::string& below) {
        if (isWithin(real))
            return true;
        m_within.push_back(real);
        RM_ASSIGN_OR_RETURN(auto entries, entriesOf(path));
        for (const fs::directory_entry& entry : entries) {
            RM_ASSIGN_OR_RETURN(const bool goesOn, visited(entry, real, below));
            if (!goesOn)
                return false;
        }
        m_within.pop_back();
        return true;
    }

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
    Result<bool> visited(const fs::directory_entry& entry, const std::string& within,
                         const std::string& below) {
        std::error_code none;
        const std::string path = entry.path().string();
        const std::string own = entry.path().filename().string();
        if (entry.is_symlink(none))
            return linked(path, below + own);
        if (entry.is_directory(none))
            return folder(path, within + '/' + own, below + own + '/');
        return !entry.is_regular_file(none) || m_visit(below + own);
    }

    Result<bool> linked(const std::string& path, const std::string& name) {
        std::error_code none;
        const std::string target = fs::canonical(path, none).string();
        if (none)
            return cannotFollow(path, none);
        const bool isKnown = isFoundAnyway(target) || !m_linked.insert(target).second;
        if (isKnown && m_repeated == Repeated::kOnce)
            return true;
        if (!fs::is_directory(target, none))
            return !fs::is_regular_file(target, none) || m_visit(name);
        if (isKnown && m_linksAround > 0 && !isWithin(target) && ++m_waysRound > kMostWaysRound)
            return fail(ErrorCode::kInvalid,
                        "read " + path + ": linked folders lead to each other in more than " +
                            std::to_string(kMostWaysRound) + " ways; remove links");
        ++m_linksAround;
        auto goesOn = folder(path, target, name + '/');
        --m_linksAround;
        return goesOn;
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

    /// Whether that folder is being walked, so that to enter it would be to go in a circle.
    bool isWithin(const std::string& real) const {
        return std::ranges::find(m_within, real) != m_within.end();
    }

    /// Whether the walk comes to it without the link: it is below the folder, and not hidden there.
    bool isFoundAnyway(const std::string& target) const {
        return (target + '/').starts_with(m_top + '/') &&
               target.find("/.", m_top.size()) == std::string::npos;
    }

    const std::string m_folder;
    const std::function<bool(const std::string&)>& m_visit;
    const Repeated m_repeated;
    std::string m_top;                 ///< the folder without links
    std::vector<std::string> m_within; ///< the folders that are being walked, without links
    std::set<std::string> m_linked;    ///< what links led to
    int m_linksAround = 0;             ///< links in the way to where the walk is
    int m_waysRound = 0;
};

} // namespace

Result<void> visitDataFiles(const std::string& folder,
                            const std::function<bool(const std::string& name)>& visit,
                            Repeated repeated) {
    return Walk(folder, visit, repeated).all();
}

Result<std::vector<std::string>> dataFiles(const std::string& folder, Repeated repeated) {
    std::vector<std::string> names;
    RM_RETURN_IF_ERROR(visitDataFiles(
        folder,
        [&](const std::string& name) {
            names.push_back(name);
            return true;
        },
        repeated));
    std::ranges::sort(names);
    return names;
}

std::string whyNotText(std::string_view head) {
    if (auto why = whyNotFetched(head); !why.empty())
        return why;
    if (auto why = whatBegins(head, kMagics); !why.empty())
        return why;
    if (head.find('\0') != std::string_view::npos)
        return "it is no text, as it has bytes of zero: remove it, or convert it to UTF-8";
    return {};
}

std::string whyNotFetched(std::string_view head) {
    return whatBegins(head, kPointers);
}

std::string whyNotOfItsKind(std::string_view head, const std::string& otherwise) {
    const std::string why = whyNotFetched(head);
    return why.empty() ? otherwise : why;
}

std::string whyNotOfItsKind(std::span<const std::byte> head, const std::string& otherwise) {
    return whyNotOfItsKind(
        std::string_view(reinterpret_cast<const char*>(head.data()), head.size()), otherwise);
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

} // namespace rm
