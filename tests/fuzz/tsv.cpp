// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/tsv.h"

#include "tests/fuzz/fuzz.h"
#include "trainer/train/text_metrics/unicode_text.h"

#include <algorithm>

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto text = fuzz::text(data, size);
    const PairHarvest read = readTsv(text, "fuzz.tsv", 1);
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
    RM_HOLDS(read.pairs.size() + static_cast<size_t>(read.bad) <= lines);
    RM_HOLDS(read.named.size() <= static_cast<size_t>(read.bad));
    std::string written;
    for (const Pair& pair : read.pairs) {
        RM_HOLDS(isWholeUtf8(pair.source) && isWholeUtf8(pair.target));
        written += pair.source + "\t" + pair.target + "\n";
    }
    const PairHarvest again = readTsv(written, "again.tsv", 2);
    RM_HOLDS(again.bad == 0 && again.pairs == read.pairs);
    return 0;
}
