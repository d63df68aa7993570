// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/rule.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto rule = parseRule(fuzz::text(data, size));
    if (!rule)
        return 0;
    RM_HOLDS(!rule->actions.empty() && rule->times > 0);
    auto again = parseRule(toText(*rule));
    RM_HOLDS(again.has_value());
    again->text = rule->text;
    RM_HOLDS(*again == *rule);
    return 0;
}
