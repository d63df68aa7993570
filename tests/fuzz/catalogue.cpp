// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/catalogue.h"

#include "tests/fuzz/fuzz.h"
#include "trainer/train/text_metrics/unicode_text.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = fuzz::bytes(data, size);
    const auto messages = parseCatalogue(file, "fuzz.mo");
    const auto read = readCatalogue(file, "fuzz.mo");
    RM_HOLDS(messages || !read);
    if (!read)
        return 0;
    RM_HOLDS(read->pairs.size() <= 2 * messages->size());
    for (const Pair& pair : read->pairs) {
        RM_HOLDS(!pair.source.empty() && !pair.target.empty());
        RM_HOLDS(isWholeUtf8(pair.source) && isWholeUtf8(pair.target));
        RM_HOLDS(pair.source.find_first_of("\t\n\r") == pair.source.npos);
        RM_HOLDS(pair.target.find_first_of("\t\n\r") == pair.target.npos);
    }
    return 0;
}
