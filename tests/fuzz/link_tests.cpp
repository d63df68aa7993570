// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/forecast.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

using namespace rm;

/// A step profile, a line, and kept all-reduce tests, a line each: what nodes measured. All that is
/// read can be told, kept again, and forecast with in the end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(fuzz::text(data, size));
    const size_t end = std::min(text.find('\n'), text.size());
    const auto profile = parseStepProfile(text.substr(0, end), "x");
    const auto tests = parseLinkTests(text.substr(end));
    const LinkHistory history(tests);
    for (const LinkTest& test : tests) {
        const auto again = parseLinkTest(toJson(test), "x");
        RM_HOLDS(again.has_value() && toJson(*again) == toJson(test));
        RM_HOLDS(parseLinkTests(withLinkTest("", test)).size() == 1);
        for (const SumGroup& group : test.report.groups)
            RM_HOLDS(!groupName(test, group).empty() && !rateWords(test, group, history).empty() &&
                     sumsBySize(group).size() == group.times.size());
        if (!profile)
            continue;
        RunSpec spec;
        spec.train.accumulation = profile->accumulation;
        RM_HOLDS(!forecastWords(*profile, spec, test).empty());
    }
    return 0;
}
