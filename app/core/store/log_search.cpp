// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/log_search.h"

#include <algorithm>

namespace rm {

namespace {

/// As FTS5's tokenizer "ascii" has it.
bool isWordPart(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string lowered(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

} // namespace

LogSearch::LogSearch(const QString& wanted) {
    const std::string text = wanted.toStdString();
    for (size_t at = 0; at < text.size();) {
        if (isBlank(text[at])) {
            ++at;
        } else if (text[at] == '"') {
            const size_t end = std::min(text.find('"', at + 1), text.size());
            add(text.substr(at + 1, end - at - 1), true);
            at = end + 1;
        } else {
            const size_t begin = at;
            while (at < text.size() && !isBlank(text[at]) && text[at] != '"')
                ++at;
            add(text.substr(begin, at - begin), false);
        }
    }
    const auto last = std::find_if(m_terms.rbegin(), m_terms.rend(),
                                   [](const Term& term) { return term.beginsWord; });
    if (last != m_terms.rend())
        last->endsWord = false;
}

void LogSearch::add(std::string text, bool isQuoted) {
    if (!text.empty())
        m_terms.push_back({lowered(text), !isQuoted, !isQuoted});
}

std::vector<size_t> LogSearch::placesOf(const Term& term, std::string_view lower) {
    std::vector<size_t> places;
    for (size_t at = lower.find(term.text); at != std::string_view::npos;
         at = lower.find(term.text, at + 1)) {
        const size_t end = at + term.text.size();
        const bool isWithin = at > 0 && isWordPart(lower[at - 1]) && isWordPart(lower[at]);
        const bool goesOn =
            end < lower.size() && isWordPart(lower[end]) && isWordPart(lower[end - 1]);
        if (!(term.beginsWord && isWithin) && !(term.endsWord && goesOn))
            places.push_back(at);
    }
    return places;
}

bool LogSearch::matches(std::string_view line) const {
    const std::string lower = lowered(line);
    return std::ranges::all_of(m_terms,
                               [&](const Term& term) { return !placesOf(term, lower).empty(); });
}

std::vector<std::pair<size_t, size_t>> LogSearch::hits(std::string_view line) const {
    const std::string lower = lowered(line);
    std::vector<std::pair<size_t, size_t>> all;
    for (const Term& term : m_terms)
        for (const size_t at : placesOf(term, lower))
            all.emplace_back(at, term.text.size());
    std::ranges::sort(all);
    return all;
}

std::vector<std::string> LogSearch::parts() const {
    std::vector<std::string> all;
    for (const Term& term : m_terms)
        all.push_back(term.text);
    return all;
}

/// Of each term the words that a line must have whole, and the beginning of its last one.
std::string LogSearch::expression() const {
    std::string all;
    const auto need = [&all](std::string_view word, bool isWhole) {
        all += (all.empty() ? "\"" : " AND \"") + std::string(word) + (isWhole ? "\"" : "\" *");
    };
    for (const Term& term : m_terms) {
        const std::string_view text = term.text;
        for (size_t at = 0; at < text.size();) {
            size_t end = at;
            while (end < text.size() && isWordPart(text[end]))
                ++end;
            const bool begins = at > 0 || term.beginsWord;
            if (end > at && begins)
                need(text.substr(at, end - at), end < text.size() || term.endsWord);
            at = end + 1;
        }
    }
    return all;
}

} // namespace rm
