// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/receive.h"

#include "shared/io/frame.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > kMaxRecord)
        return 0;
    const auto transfer = decodeTransfer(fuzz::bytes(data, size));
    if (!transfer)
        return 0;
    if (const auto* tree = std::get_if<Tree>(&*transfer)) {
        for (const TreeEntry& entry : tree->entries)
            RM_HOLDS(isTreePath(entry.path));
        (void)treeId(tree->entries);
    }
    const auto again = decodeTransfer(encodeTransfer(*transfer));
    RM_HOLDS(again.has_value() && *again == *transfer);
    return 0;
}
