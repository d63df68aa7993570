// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/measures.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(fuzz::text(data, size));
    if (const auto report = parseAllReduceReport(text, "x")) {
        const auto again = parseAllReduceReport(toJson(*report), "x");
        RM_HOLDS(again.has_value() && toJson(*again) == toJson(*report));
        for (const SumGroup& group : report->groups)
            RM_HOLDS(latencyOf(group) >= 0 && busBandwidthOf(group) >= 0);
    }
    if (const auto profile = parseStepProfile(text, "x")) {
        const auto again = parseStepProfile(toJson(*profile), "x");
        RM_HOLDS(again.has_value() && toJson(*again) == toJson(*profile));
    }
    if (const auto answer = parseTryAnswer(text, "x")) {
        const auto again = parseTryAnswer(toJson(*answer), "x");
        RM_HOLDS(again.has_value() && toJson(*again) == toJson(*answer));
    }
    return 0;
}
