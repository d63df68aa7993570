// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/log_tail.h"

#include "trainer/agent/posix/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace rm {

namespace {

constexpr size_t kMaxTail = 4096;

bool isFinal(unsigned char c) {
    return c >= 0x40 && c <= 0x7e;
}

// Index just behind the escape sequence that starts at `i` (ECMA-48: CSI ... final, or OSC and
// its like up to BEL or ST, or ESC and one character).
size_t skipEscape(const std::string& text, size_t i) {
    if (++i >= text.size())
        return i;
    const char kind = text[i++];
    if (kind == '[') {
        while (i < text.size() && !isFinal(static_cast<unsigned char>(text[i])))
            ++i;
        return std::min(i + 1, text.size());
    }
    if (kind != ']' && kind != 'P' && kind != '_' && kind != '^' && kind != 'X')
        return i;
    while (i < text.size() && text[i] != '\a' && text[i] != '\x1b')
        ++i;
    const bool isTerminator = i + 1 < text.size() && text[i] == '\x1b' && text[i + 1] == '\\';
    return std::min(i + (isTerminator ? 2 : 1), text.size());
}

// Length of the well-formed UTF-8 sequence at `i`, 0 when there is none.
size_t sequenceLength(const std::string& text, size_t i) {
    const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
    const uint8_t lead = byte(i);
    const size_t length = lead < 0x80                    ? 1
                          : lead >= 0xc2 && lead <= 0xdf ? 2
                          : lead >= 0xe0 && lead <= 0xef ? 3
                          : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                         : 0;
    if (length == 0 || i + length > text.size())
        return 0;
    for (size_t k = 1; k < length; ++k)
        if ((byte(i + k) & 0xc0) != 0x80)
            return 0;
    const bool isBad = (lead == 0xe0 && byte(i + 1) < 0xa0) ||
                       (lead == 0xed && byte(i + 1) > 0x9f) ||
                       (lead == 0xf0 && byte(i + 1) < 0x90) || (lead == 0xf4 && byte(i + 1) > 0x8f);
    return isBad ? 0 : length;
}

bool isShown(unsigned char c) {
    return c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f);
}

} // namespace

std::string plainText(const std::string& text) {
    std::string plain;
    for (size_t i = 0; i < text.size();) {
        if (text[i] == '\x1b') {
            i = skipEscape(text, i);
            continue;
        }
        const size_t length = sequenceLength(text, i);
        if (length > 1 || (length == 1 && isShown(static_cast<unsigned char>(text[i]))))
            plain.append(text, i, length);
        else if (length == 0)
            plain += '?';
        i += std::max<size_t>(length, 1);
    }
    return plain;
}

std::string logTail(const std::string& path, uint64_t from) {
    const Result<Descriptor> fd = openFile(path, O_RDONLY);
    struct stat info = {};
    if (!fd || ::fstat(fd->get(), &info) != 0)
        return {};
    const auto size = static_cast<uint64_t>(info.st_size);
    const uint64_t fresh = size > from ? size - from : 0;
    std::string text(std::min<uint64_t>(fresh, kMaxTail), '\0');
    const ssize_t count =
        ::pread(fd->get(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    const size_t newline = text.find('\n');
    if (fresh > kMaxTail && newline != std::string::npos)
        text.erase(0, newline + 1);
    text = plainText(text);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

} // namespace rm
