// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"

#include "tests/fuzz/fuzz.h"

#include <optional>

using namespace rm;

namespace {

struct Outcome {
    size_t payloads = 0;
    uint64_t consumed = 0;
    std::optional<Error> error;
    bool operator==(const Outcome&) const = default;
};

// Feeds the input in pieces of `piece` bytes.
Outcome scan(std::span<const std::byte> input, size_t piece) {
    FrameScanner scanner(16);
    Outcome outcome;
    while (!input.empty()) {
        const size_t size = std::min(piece, input.size());
        scanner.feed(input.first(size));
        input = input.subspan(size);
        auto payload = scanner.next();
        for (; payload && *payload; payload = scanner.next()) {
            RM_HOLDS(!(*payload)->empty() && (*payload)->size() <= kMaxRecord);
            ++outcome.payloads;
        }
        if (!payload)
            outcome.error = payload.error();
    }
    outcome.consumed = scanner.consumed();
    return outcome;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto input = fuzz::bytes(data, size);
    const Outcome whole = scan(input, SIZE_MAX);
    RM_HOLDS(whole.consumed <= 16 + size);
    RM_HOLDS(scan(input, 7) == whole);
    return 0;
}
