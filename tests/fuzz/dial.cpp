// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/dial.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

// The first byte says which of the three texts follows: the order that an agent gets, or one of
// the answers that the app gets.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0)
        return 0;
    const std::string text(fuzz::text(data + 1, size - 1));
    if (data[0] == 'o') {
        if (const auto order = parseDialOrder(text))
            RM_HOLDS(parseDialOrder(toJson(*order)) == *order);
    } else if (data[0] == 'p') {
        if (const auto ports = parseOpenPorts(text))
            RM_HOLDS(parseOpenPorts(toJson(*ports)) == *ports);
    } else if (const auto answers = parseDialAnswers(text, 2)) {
        RM_HOLDS(parseDialAnswers(toJson(*answers), 2) == *answers);
    }
    return 0;
}
