// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/saved_runs.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto runs = parseSavedRuns(std::string(fuzz::text(data, size)), "x");
    if (!runs)
        return 0;
    const auto again = parseSavedRuns(toJson(*runs), "x");
    RM_HOLDS(again.has_value() && toJson(*again) == toJson(*runs));
    return 0;
}
