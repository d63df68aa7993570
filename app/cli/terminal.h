// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rm::cli {

/// Rows with columns as wide as their widest cell, two spaces between; the first row is the head.
std::string formatTable(const std::vector<std::vector<std::string>>& rows);

std::string formatBytes(double bytes);      ///< "1.2 GB"
std::string formatDuration(double seconds); ///< "3 min 12 s"
std::string formatAgo(int64_t wallNs);      ///< "5 min ago"
std::string formatNumber(double value);     ///< four significant digits

/// Text that came from elsewhere (a remote program, a model, a file's name) as one safe line: valid
/// UTF-8 without control characters, C1 and those that turn the direction of writing included.
std::string oneLine(const std::string& text);
/// The same, but line breaks and tabs stay.
std::string safeText(const std::string& text);

/// A line at the bottom of the terminal that is drawn over, on stderr. Not a terminal: every
/// `update` whose text differs is a line of its own, at most one each five seconds.
class StatusLine {
public:
    StatusLine();
    ~StatusLine(); ///< ends the line
    void update(const std::string& text);
    /// Prints something that stays above the status line.
    void print(const std::string& text);

private:
    void clear();

    bool m_isTerminal;
    std::string m_text;
    int64_t m_printedNs = 0;
};

/// "[#####-----]" of `width` cells.
std::string progressBar(double share, int width);

/// Asks on the controlling terminal; false when there is none or the answer is not yes.
bool askYesNo(const std::string& question);
/// Asks without echo; empty when there is no terminal.
std::string askSecret(const std::string& question);

} // namespace rm::cli
