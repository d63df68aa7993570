// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/ingest/log_lines.h"

#include <QString>

#include <utility>

namespace rm {

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';

bool isWithin(char c, char first, char last) {
    return c >= first && c <= last;
}

/// CSI: parameters, then one byte of @ to ~.
size_t behindControlSequence(std::string_view text, size_t at) {
    while (at < text.size() && isWithin(text[at], ' ', '?'))
        ++at;
    return at < text.size() && isWithin(text[at], '@', '~') ? at + 1 : at;
}

/// OSC, DCS and their like: up to a bell or ESC backslash.
size_t behindString(std::string_view text, size_t at) {
    for (; at < text.size(); ++at) {
        if (text[at] == kBell)
            return at + 1;
        if (text[at] == kEscape)
            return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : at;
    }
    return at;
}

/// `at` is behind the ESC.
size_t behindEscape(std::string_view text, size_t at) {
    if (at >= text.size())
        return at;
    switch (text[at]) {
    case '[':
        return behindControlSequence(text, at + 1);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return behindString(text, at + 1);
    default:
        break;
    }
    while (at < text.size() && isWithin(text[at], ' ', '/'))
        ++at;
    return at < text.size() && isWithin(text[at], '0', '~') ? at + 1 : at;
}

std::string_view lastOverwrite(std::string_view raw) {
    while (!raw.empty() && raw.back() == '\r')
        raw.remove_suffix(1);
    const size_t at = raw.rfind('\r');
    return at == std::string_view::npos ? raw : raw.substr(at + 1);
}

std::string withoutControls(std::string_view raw) {
    std::string text;
    for (size_t i = 0; i < raw.size();) {
        const char c = raw[i++];
        if (c == kEscape)
            i = behindEscape(raw, i);
        else if (c == '\t' || static_cast<unsigned char>(c) >= 0x20)
            if (c != '\x7f')
                text += c;
    }
    return text;
}

/// Where to cut so that no UTF-8 sequence is torn.
size_t wholeCharacters(std::string_view text, size_t limit) {
    if (text.size() <= limit)
        return text.size();
    size_t end = limit;
    while (end > limit - 3 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    return end;
}

} // namespace

std::string cleanLine(std::string_view raw) {
    const std::string text = withoutControls(lastOverwrite(raw));
    std::string valid =
        QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).toStdString();
    valid.resize(wholeCharacters(valid, kMaxLine));
    return valid;
}

void LogLines::feed(std::span<const std::byte> bytes) {
    m_pending.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void LogLines::stamp(std::span<const LogStamp> stamps) {
    m_stamps.insert(m_stamps.end(), stamps.begin(), stamps.end());
}

void LogLines::skipTo(uint64_t offset, const std::string& words) {
    m_before = cutAll();
    m_before.push_back({words, offset}); // has the time of what follows it
    m_cursor = offset;
}

std::vector<LogLines::Cut> LogLines::cut() {
    std::vector<Cut> lines = std::exchange(m_before, {});
    const std::string_view pending = m_pending;
    size_t at = 0;
    for (;;) {
        const std::string_view rest = pending.substr(at);
        const size_t end = rest.find('\n');
        if (end != std::string_view::npos && end <= kMaxLine) {
            at += end + 1;
            lines.push_back({cleanLine(rest.substr(0, end)), m_cursor + at});
        } else if (rest.size() > kMaxLine) {
            const size_t piece = wholeCharacters(rest, kMaxLine);
            at += piece;
            lines.push_back({cleanLine(rest.substr(0, piece)), m_cursor + at});
        } else {
            break;
        }
    }
    m_pending.erase(0, at);
    m_cursor += at;
    return lines;
}

std::vector<LogLines::Cut> LogLines::cutAll() {
    auto lines = cut();
    m_cursor += m_pending.size();
    if (!m_pending.empty())
        lines.push_back({cleanLine(m_pending), m_cursor});
    m_pending.clear();
    return lines;
}

/// A line was written when its last byte was.
std::vector<TimedLine> LogLines::timed(std::vector<Cut> lines) {
    std::vector<TimedLine> all;
    for (Cut& line : lines) {
        while (!m_stamps.empty() && m_stamps.front().end < line.end)
            m_stamps.pop_front();
        all.push_back({std::move(line.text), m_stamps.empty() ? 0 : m_stamps.front().wallNs});
    }
    return all;
}

std::vector<TimedLine> LogLines::take() {
    return timed(cut());
}

std::vector<TimedLine> LogLines::takeAll() {
    return timed(cutAll());
}

} // namespace rm
