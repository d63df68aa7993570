// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"
#include "shared/wire/messages.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > kMaxRecord)
        return 0;
    const auto message = decodeMessage(fuzz::bytes(data, size));
    if (!message)
        return 0;
    const auto payload = encodeMessage(*message);
    RM_HOLDS(payload.size() <= kMaxRecord);
    const auto again = decodeMessage(payload);
    RM_HOLDS(again.has_value());
    RM_HOLDS(encodeMessage(*again) == payload);
    return 0;
}
