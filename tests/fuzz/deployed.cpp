// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/deployed.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto report = parseDeployedReport(std::string(fuzz::text(data, size)));
    if (!report)
        return 0;
    RM_HOLDS(unneededBytes(*report) >= 0 && neededBytes(*report) >= 0);
    const auto again = parseDeployedReport(toJson(*report));
    RM_HOLDS(again.has_value() && *again == *report);
    return 0;
}
