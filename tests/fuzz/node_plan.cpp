// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/node_plan.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto plan = parseNodePlan(fuzz::text(data, size), "fuzz.toml");
    if (!plan)
        return 0;
    RM_HOLDS(isValidRunId(plan->runId));
    RM_HOLDS(plan->firstRank + plan->localRanks <= plan->worldSize);
    const auto again = parseNodePlan(toToml(*plan), "again.toml");
    RM_HOLDS(again.has_value() && *again == *plan);
    return 0;
}
