// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_file.h"
#include "app/core/network/network_words.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto matrix = parseNetworkMatrix(std::string(fuzz::text(data, size)));
    if (!matrix)
        return 0;
    const auto again = parseNetworkMatrix(toJson(*matrix));
    RM_HOLDS(again.has_value() && *again == *matrix);
    if (const auto choice = chooseNetwork(*matrix))
        RM_HOLDS(choice->addresses.size() == matrix->nodes.size());
    RM_HOLDS(!networkFindings(*matrix).empty());
    return 0;
}
