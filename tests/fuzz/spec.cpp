// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/run_spec.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto spec = parseRunSpec(fuzz::text(data, size), "fuzz.toml");
    if (!spec)
        return 0;
    const auto again = parseRunSpec(toToml(*spec), "again.toml");
    RM_HOLDS(again.has_value());
    // NaN is not equal to itself, and check() refuses it.
    if (check(*spec))
        RM_HOLDS(*again == *spec);
    return 0;
}
