// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/text_metrics/unicode_text.h"
#include "trainer/train/workloads/translation/pairs/catalogue.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace rm {
namespace {

constexpr char kContextEnd = '\4';

bool isAlphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c < 0;
}

bool isLetter(char c) {
    return isAlphanumeric(c) && !(c >= '0' && c <= '9');
}

bool isCharsetCharacter(char c) {
    return (c > 0 && isAlphanumeric(c)) || c == '-' || c == '_' || c == '.' || c == ':';
}

/// The charset in the header's "Content-Type: text/plain; charset=ISO-8859-1"; empty: none.
std::string charsetOf(const std::vector<CatalogueMessage>& messages) {
    constexpr std::string_view kBefore = "charset=";
    for (const auto& [id, text] : messages) {
        if (!id.empty())
            continue;
        const size_t at = text.find(kBefore);
        if (at == text.npos)
            return {};
        const std::string_view rest = text.substr(at + kBefore.size());
        const auto end = std::ranges::find_if_not(rest, isCharsetCharacter);
        return {rest.begin(), end};
    }
    return {};
}

/// Turns texts of one character set into UTF-8.
class ToUtf8 {
public:
    explicit ToUtf8(const std::string& charset)
        : m_converter(iconv_open("UTF-8", charset.empty() ? "UTF-8" : charset.c_str())) {}
    ~ToUtf8() {
        if (isKnown())
            iconv_close(m_converter);
    }
    ToUtf8(const ToUtf8&) = delete;
    ToUtf8& operator=(const ToUtf8&) = delete;

    bool isKnown() const {
        return m_converter != reinterpret_cast<iconv_t>(-1); // NOLINT: POSIX's own constant
    }

    /// The text in UTF-8; nullopt: it is not of that character set.
    std::optional<std::string> operator()(std::string_view text) const {
        iconv(m_converter, nullptr, nullptr, nullptr, nullptr);
        std::string out;
        std::array<char, 512> piece{};
        char* from = const_cast<char*>(text.data());
        size_t left = text.size();
        while (left > 0) {
            char* to = piece.data();
            size_t room = piece.size();
            const size_t done = iconv(m_converter, &from, &left, &to, &room);
            out.append(piece.data(), piece.size() - room);
            if (done == static_cast<size_t>(-1) && errno != E2BIG)
                return std::nullopt;
        }
        return isWholeUtf8(out) ? std::optional(out) : std::nullopt;
    }

private:
    iconv_t m_converter;
};

/// The position of the one mark of an access key; npos: none, or several.
size_t accessMark(std::string_view text, char mark) {
    const size_t at = text.find(mark);
    const bool one = at != text.npos && text.find(mark, at + 1) == text.npos;
    return one && at + 1 < text.size() && isAlphanumeric(text[at + 1]) ? at : text.npos;
}

std::string_view wordAround(std::string_view text, size_t at) {
    const size_t begin = text.find_last_of(' ', at) + 1;
    return text.substr(begin, std::min(text.find(' ', at), text.size()) - begin);
}

/// In an identifier ("the_file") the mark is inside a word, which is not changed.
void dropAccessMark(Pair& pair, char mark) {
    const size_t source = accessMark(pair.source, mark);
    const size_t target = accessMark(pair.target, mark);
    if (source == pair.source.npos || target == pair.target.npos)
        return;
    const bool begins = source == 0 || !isAlphanumeric(pair.source[source - 1]);
    if (!begins && wordAround(pair.source, source) == wordAround(pair.target, target))
        return;
    pair.source.erase(source, 1);
    pair.target.erase(target, 1);
}

bool namesTranslators(std::string_view context, std::string_view id) {
    static constexpr std::array<std::string_view, 2> kContexts = {"NAME OF TRANSLATORS",
                                                                  "EMAIL OF TRANSLATORS"};
    static constexpr std::array<std::string_view, 4> kIds = {
        "translator-credits", "translator_credits", "Your names", "Your emails"};
    return std::ranges::find(kContexts, context) != kContexts.end() ||
           std::ranges::find(kIds, id) != kIds.end();
}

bool isWorthLearning(const Pair& pair) {
    return pair.source != pair.target && !pair.target.empty() &&
           std::ranges::any_of(pair.source, isLetter);
}

class Reader {
public:
    Reader(const std::string& source, const ToUtf8& toUtf8)
        : m_source(source)
        , m_toUtf8(toUtf8) {}

    void take(const CatalogueMessage& message, int64_t number) {
        const size_t end = message.id.find(kContextEnd);
        const bool hasContext = end != message.id.npos;
        const std::string_view context = hasContext ? message.id.substr(0, end) : "";
        const std::string_view id = hasContext ? message.id.substr(end + 1) : message.id;
        if (id.empty() || message.text.empty() || namesTranslators(context, id))
            return;
        const size_t plural = id.find('\0');
        if (plural == id.npos) {
            add(id, message.text, number);
            return;
        }
        const size_t firstEnd = message.text.find('\0');
        if (firstEnd != message.text.npos)
            add(id.substr(0, plural), message.text.substr(0, firstEnd), number);
        add(id.substr(plural + 1), message.text.substr(message.text.rfind('\0') + 1), number);
    }

    PairHarvest found;

private:
    void add(std::string_view id, std::string_view text, int64_t number) {
        const auto source = m_toUtf8(id);
        const auto target = m_toUtf8(text);
        if (!source || !target) {
            found.refuse(m_source, number, "a message that is not in the catalogue's charset");
            return;
        }
        Pair pair{tidyLine(*source), tidyLine(*target)};
        for (const char mark : {'_', '&'})
            dropAccessMark(pair, mark);
        if (isWorthLearning(pair))
            found.pairs.push_back(std::move(pair));
    }

    const std::string& m_source;
    const ToUtf8& m_toUtf8;
};

} // namespace

Result<PairHarvest> readCatalogue(std::span<const std::byte> file, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto messages, parseCatalogue(file, source));
    const std::string charset = charsetOf(messages);
    const ToUtf8 toUtf8(charset == "CHARSET" ? std::string() : charset);
    if (!toUtf8.isKnown())
        return fail(ErrorCode::kInvalid, "read catalogue " + source + ": its character set \"" +
                                             charset + "\" is not known on this machine");
    Reader reader(source, toUtf8);
    int64_t number = 0;
    for (const CatalogueMessage& message : messages)
        reader.take(message, ++number);
    return std::move(reader.found);
}

} // namespace rm
