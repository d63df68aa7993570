// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/compare.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto comparison = parseComparison(std::string(fuzz::text(data, size)), "x");
    if (!comparison)
        return 0;
    const auto again = parseComparison(toJson(*comparison), "x");
    RM_HOLDS(again.has_value() && toJson(*again) == toJson(*comparison));
    return 0;
}
