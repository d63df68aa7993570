// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/text_metrics/unicode_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace rm {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr char32_t kLargest = 0x10ffff;

struct Lead {
    int more = -1;         ///< bytes that follow; -1: no lead byte
    char32_t bits = 0;     ///< of the lead byte itself
    char32_t smallest = 0; ///< least code point that needs so many bytes
};

Lead leadOf(uint8_t byte) {
    if (byte < 0x80)
        return {0, byte, 0};
    if (byte >= 0xc0 && byte < 0xe0)
        return {1, byte & 0x1fu, 0x80};
    if (byte >= 0xe0 && byte < 0xf0)
        return {2, byte & 0x0fu, 0x800};
    if (byte >= 0xf0 && byte < 0xf8)
        return {3, byte & 0x07u, 0x10000};
    return {};
}

bool isValid(char32_t point, const Lead& lead) {
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point >= lead.smallest && point <= kLargest && !surrogate;
}

struct Point {
    char32_t value = kReplacement;
    size_t size = 1; ///< bytes
    bool valid = false;
};

/// The code point at the front of `text`, or a replacement for its first byte.
Point firstPoint(std::string_view text) {
    const Lead lead = leadOf(static_cast<uint8_t>(text[0]));
    const auto size = static_cast<size_t>(lead.more + 1);
    if (lead.more < 0 || text.size() < size)
        return {};
    char32_t point = lead.bits;
    for (size_t i = 1; i < size; ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        if ((byte & 0xc0) != 0x80)
            return {};
        point = point << 6 | (byte & 0x3fu);
    }
    return isValid(point, lead) ? Point{point, size, true} : Point{};
}

} // namespace

std::u32string codePoints(std::string_view text) {
    std::u32string points;
    points.reserve(text.size());
    while (!text.empty()) {
        const Point point = firstPoint(text);
        points.push_back(point.value);
        text.remove_prefix(point.size);
    }
    return points;
}

bool isWholeUtf8(std::string_view text) {
    while (!text.empty()) {
        const Point point = firstPoint(text);
        if (!point.valid)
            return false;
        text.remove_prefix(point.size);
    }
    return true;
}

bool isUnicodeSpace(char32_t point) {
    static constexpr std::array<char32_t, 7> kSingle = {0x85,   0xa0,   0x1680, 0x2028,
                                                        0x2029, 0x202f, 0x205f};
    return (point >= 0x09 && point <= 0x0d) || (point >= 0x1c && point <= 0x20) ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x3000 ||
           std::ranges::find(kSingle, point) != kSingle.end();
}

std::vector<std::u32string_view> splitWords(std::u32string_view text) {
    std::vector<std::u32string_view> words;
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && !isUnicodeSpace(text[i]))
            continue;
        if (i > begin)
            words.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    return words;
}

std::u32string_view withoutTrailingSpace(std::u32string_view text) {
    while (!text.empty() && isUnicodeSpace(text.back()))
        text.remove_suffix(1);
    return text;
}

} // namespace rm
