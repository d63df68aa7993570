// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/nodes_file.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

/// What was read is read the same after it was written, with all that this release does not know.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = parseNodes(fuzz::text(data, size), "fuzz");
    if (!file)
        return 0;
    const std::string written = toToml(*file);
    const auto again = parseNodes(written, "fuzz");
    RM_HOLDS(again.has_value());
    RM_HOLDS(again->nodes == file->nodes);
    RM_HOLDS(again->warnings.size() == file->warnings.size());
    RM_HOLDS(toToml(*again) == written);
    return 0;
}
