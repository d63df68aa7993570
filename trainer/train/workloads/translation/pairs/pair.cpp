// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair.h"

#include "trainer/train/text_metrics/unicode_text.h"

namespace rm {

void PairHarvest::add(std::string_view source, std::string_view target, const std::string& path,
                      int64_t number) {
    if (!isWholeUtf8(source) || !isWholeUtf8(target)) {
        refuse(path, number, "not UTF-8");
        return;
    }
    Pair pair{tidyLine(source), tidyLine(target)};
    if (pair.source.empty() || pair.target.empty())
        refuse(path, number, pair.source.empty() ? "no source" : "no target");
    else
        pairs.push_back(std::move(pair));
}

void PairHarvest::refuse(const std::string& path, int64_t number, std::string_view why) {
    ++bad;
    if (named.size() < kMaxNamed)
        named.push_back(path + ":" + std::to_string(number) + ": " + std::string(why));
}

std::string_view withoutByteOrderMark(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text.starts_with(kMark))
        text.remove_prefix(kMark.size());
    return text;
}

std::string tidyLine(std::string_view text) {
    std::string line;
    line.reserve(text.size());
    bool apart = false;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= ' ' || byte == 0x7f) {
            apart = !line.empty();
            continue;
        }
        if (apart)
            line.push_back(' ');
        apart = false;
        line.push_back(c);
    }
    return line;
}

} // namespace rm
