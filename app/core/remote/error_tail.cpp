// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/error_tail.h"

#include <algorithm>

namespace rm {

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';

bool isControl(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

// Operating system commands and their like end at a bell or at ESC \.
size_t behindString(std::string_view text, size_t at) {
    for (; at < text.size(); ++at) {
        if (text[at] == kBell || text[at] == '\n')
            return at + 1;
        if (text[at] == kEscape)
            return std::min(at + 2, text.size());
    }
    return at;
}

size_t behindEscape(std::string_view text, size_t at) {
    if (++at >= text.size())
        return at;
    if (std::string_view("]P_^X").find(text[at]) != std::string_view::npos)
        return behindString(text, at + 1);
    if (text[at] != '[')
        return at + 1;
    for (++at; at < text.size(); ++at) {
        if (text[at] >= 0x40 && text[at] <= 0x7e)
            return at + 1;
        if (isControl(text[at]) || text[at] == '\n')
            return at;
    }
    return at;
}

} // namespace

std::string withoutEscapes(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        if (text[at] == kEscape) {
            at = behindEscape(text, at);
            continue;
        }
        if (!isControl(text[at]))
            clean += text[at];
        ++at;
    }
    return clean;
}

void ErrorTail::append(std::string_view bytes) {
    m_bytes += bytes;
    if (m_bytes.size() > kKeep)
        m_bytes.erase(0, m_bytes.size() - kKeep);
}

std::string ErrorTail::text() const {
    return withoutEscapes(m_bytes);
}

std::string lastLine(std::string_view text) {
    constexpr size_t kLongest = 500;
    const size_t end = text.find_last_not_of(" \t\n");
    if (end == std::string_view::npos)
        return {};
    const size_t begin = text.rfind('\n', end);
    const size_t from = begin == std::string_view::npos ? 0 : begin + 1;
    return std::string(text.substr(from, std::min(end + 1 - from, kLongest)));
}

} // namespace rm
