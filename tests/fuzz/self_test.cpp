// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/node_report.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto test = parseSelfTest(std::string(fuzz::text(data, size)), "x");
    if (!test)
        return 0;
    const auto again = parseSelfTest(toJson(*test), "x");
    RM_HOLDS(again.has_value() && *again == *test);
    return 0;
}
