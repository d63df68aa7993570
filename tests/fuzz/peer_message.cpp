// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/peer_message.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto message = parsePeerMessage(fuzz::text(data, size));
    if (!message)
        return 0;
    const std::string text = encodePeerMessage(*message);
    const auto again = parsePeerMessage(text);
    // Long words are cut; what was cut once stays as it is.
    RM_HOLDS(again.has_value() && encodePeerMessage(*again) == text);
    return 0;
}
