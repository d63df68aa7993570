// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"
#include "shared/journal/records.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

// The payload itself, so that no checksum hides the decoder.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > kMaxRecord)
        return 0;
    const auto record = decodeRecord(fuzz::bytes(data, size));
    if (!record)
        return 0;
    const auto payload = encodeRecord(*record);
    RM_HOLDS(payload.size() <= kMaxRecord);
    const auto again = decodeRecord(payload);
    RM_HOLDS(again.has_value());
    RM_HOLDS(encodeRecord(*again) == payload);
    return 0;
}
