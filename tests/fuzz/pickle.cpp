// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.h"
#include "trainer/train/formats/plain_pickle.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto plain = toPlainPickle(fuzz::bytes(data, size), "fuzz.pt");
    if (!plain)
        return 0;
    RM_HOLDS(plain->consumed <= size);
    RM_HOLDS(plain->bytes.starts_with("\x80\x02") && plain->bytes.ends_with('.'));
    // There is nothing left to take away.
    const auto again = toPlainPickle(std::as_bytes(std::span(plain->bytes)), "fuzz.pt");
    RM_HOLDS(again && again->bytes == plain->bytes && again->replaced.empty());
    return 0;
}
