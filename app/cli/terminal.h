// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/secret.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rm::cli {

/// Rows with columns as wide as their widest cell, two spaces between; the first row is the head.
std::string formatTable(const std::vector<std::vector<std::string>>& rows);

std::string formatDuration(double seconds); ///< "3 min 12 s"
std::string formatAgo(int64_t wallNs);      ///< "5 min ago"
std::string formatNumber(double value);     ///< four significant digits

/// Untrusted text (of a remote program, a model, a file name) as one safe line: valid UTF-8 without
/// control characters, including C1 and the bidirectional ones.
std::string oneLine(const std::string& text);
/// The same, but line breaks and tabs stay.
std::string safeText(const std::string& text);
/// UTF-8 without what is behind so many characters.
std::string cutBehind(const std::string& utf8, size_t characters);

/// A status line on stderr that is overwritten in place, with lines of details below it. If stderr
/// is not a terminal, every update with a new text prints a line without details, at most one in
/// five seconds.
class StatusLine {
public:
    StatusLine();
    ~StatusLine(); ///< ends the line
    void update(const std::string& text, const std::vector<std::string>& details = {});
    /// Prints something that stays above the status line.
    void print(const std::string& text);

private:
    void clear();
    void draw() const;

    bool m_isTerminal;
    std::string m_text;
    std::vector<std::string> m_details;
    int64_t m_printedNs = 0;
};

/// "[#####-----]" of `width` cells.
std::string progressBar(double share, int width);

/// Asks on the controlling terminal; false when there is none or the answer is not yes. The event
/// loop goes on until then.
bool askYesNo(const std::string& question);
/// The same without echo; empty when there is no terminal.
Secret askSecret(const std::string& question);

} // namespace rm::cli
