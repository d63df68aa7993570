// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/tsv.h"

#include <algorithm>

namespace rm {
namespace {

void readLine(std::string_view line, const std::string& path, int64_t number, PairHarvest& into) {
    const auto tabs = std::ranges::count(line, '\t');
    if (tabs != 1) {
        into.refuse(path, number,
                    "source TAB target wanted, but it has " + std::to_string(tabs + 1) +
                        (tabs == 0 ? " column" : " columns"));
        return;
    }
    const size_t tab = line.find('\t');
    into.add(line.substr(0, tab), line.substr(tab + 1), path, number);
}

} // namespace

PairHarvest readTsv(std::string_view text, const std::string& path, int64_t firstLine) {
    PairHarvest found;
    if (firstLine == 1)
        text = withoutByteOrderMark(text);
    for (int64_t number = firstLine; !text.empty(); ++number) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (!line.empty())
            readLine(line, path, number, found);
    }
    return found;
}

} // namespace rm
