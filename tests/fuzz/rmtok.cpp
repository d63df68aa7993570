// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.h"
#include "trainer/train/data/text/token_file.h"

#include <vector>

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = fuzz::bytes(data, size);
    const auto view = parseTokenFile(file, "fuzz.rmtok");
    if (!view)
        return 0;
    RM_HOLDS(view->tokens.size() <= file.size() - 32);
    std::vector<int64_t> tokens(size_t(view->count()));
    view->read(0, view->count(), tokens.data());
    int64_t firstBad = 0;
    while (firstBad < view->count() && tokens[size_t(firstBad)] < view->vocabSize)
        ++firstBad;
    RM_HOLDS(view->findBad().value_or(view->count()) == firstBad);
    return 0;
}
