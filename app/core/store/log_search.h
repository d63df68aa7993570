// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rm {

/// What a person looks for in a log: words, all of which a line has, in any order and any case (of
/// ASCII). The last one may be the beginning of a word. A word with other characters, such as
/// `socket.cpp:88`, stands in the line as it is. What is in "quotes" may stand anywhere, also
/// within words.
class LogSearch {
public:
    LogSearch() = default;
    explicit LogSearch(const QString& text);

    bool isEmpty() const { return m_terms.empty(); }
    bool matches(std::string_view line) const;
    /// Where the line has what is looked for: begin and length in bytes, by their begins.
    std::vector<std::pair<size_t, size_t>> hits(std::string_view line) const;
    /// An expression of FTS5 that every matching line matches, so that only these are read. Empty:
    /// there is none, as only parts of words are looked for.
    std::string expression() const;
    /// Characters, in lower case, that every matching line has, in any case.
    std::vector<std::string> parts() const;

private:
    struct Term {
        std::string text; ///< lower case
        bool beginsWord = true;
        bool endsWord = true;
    };
    static std::vector<size_t> placesOf(const Term& term, std::string_view lower);
    void add(std::string text, bool isQuoted);

    std::vector<Term> m_terms;
};

} // namespace rm
