// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/messages.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

inline constexpr size_t kMaxLine = 4096; ///< bytes; longer lines come in pieces

/// A whole line, and when it was.
struct TimedLine {
    std::string text;
    int64_t wallNs = 0; ///< by its node's clock; 0: nobody noted it
    bool operator==(const TimedLine&) const = default;
};

/// Cuts the growing bytes of one log into lines fit to be shown.
class LogLines {
public:
    explicit LogLines(uint64_t cursor)
        : m_cursor(cursor) {}

    void feed(std::span<const std::byte> bytes);
    /// When what follows was written: before it is taken. See LogStamp.
    void stamp(std::span<const LogStamp> stamps);
    /// What lies before `offset` does not come: the lines so far are whole, and `words` is a line
    /// in the place of the others.
    void skipTo(uint64_t offset, const std::string& words);
    /// Complete lines since the last call; an incomplete last one is held back.
    std::vector<TimedLine> take();
    /// The same including the incomplete one: the log has ended.
    std::vector<TimedLine> takeAll();

    /// Offset of the first byte that is in no line given out.
    uint64_t cursor() const { return m_cursor; }

private:
    struct Cut {
        std::string text;
        uint64_t end = 0;
    };
    std::vector<Cut> cut();
    std::vector<Cut> cutAll();
    std::vector<TimedLine> timed(std::vector<Cut> lines);

    std::vector<Cut> m_before; ///< a gap
    std::string m_pending;
    std::deque<LogStamp> m_stamps; ///< of what was not taken yet
    uint64_t m_cursor;
};

/// A raw line as text of at most kMaxLine bytes: without terminal escapes and control characters,
/// of parts overwritten by carriage returns only the last, invalid UTF-8 replaced.
std::string cleanLine(std::string_view raw);

} // namespace rm
