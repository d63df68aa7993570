// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/log_times.h"

#include "tests/fuzz/fuzz.h"

#include <algorithm>

using namespace rm;

/// The file beside a log that says when it was written, which a full disk or a crash may have cut.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto read = parseLogTimes(std::as_bytes(std::span(data, size)));
    RM_HOLDS(read || read.error().code == ErrorCode::kCorrupt);
    if (!read)
        return 0;
    const auto isBefore = [](const LogStamp& a, const LogStamp& b) { return a.end < b.end; };
    RM_HOLDS(std::ranges::is_sorted(*read, isBefore));
    const auto again = parseLogTimes(encodeLogTimes(*read));
    RM_HOLDS(again && *again == *read);
    const auto fewer = thinned(*read);
    RM_HOLDS(fewer.empty() == (read->size() < 1) && std::ranges::is_sorted(fewer, isBefore));
    RM_HOLDS(fewer.empty() || fewer.back() == read->back());
    return 0;
}
