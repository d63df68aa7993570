// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/journal.h"

#include "shared/io/frame.h"
#include "shared/journal/header.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

namespace {

void scan(std::span<const std::byte> file) {
    JournalScanner scanner("fuzz.rmj", 0);
    uint64_t cursor = 0;
    while (!file.empty()) {
        const size_t piece = std::min<size_t>(61, file.size());
        scanner.feed(file.first(piece));
        file = file.subspan(piece);
        while (true) {
            const auto record = scanner.next();
            if (!record || !*record)
                break;
            RM_HOLDS(scanner.cursor() > cursor);
            cursor = scanner.cursor();
        }
    }
}

// Each piece of the input, as its first byte says how long, in a frame with a right checksum.
std::vector<std::byte> framed(std::span<const std::byte> input) {
    std::vector<std::byte> file = journalHeader();
    while (input.size() > 1) {
        const size_t size = std::min(1 + size_t(input[0]) * 4, input.size() - 1);
        appendFrame(file, input.subspan(1, size));
        input = input.subspan(1 + size);
    }
    return file;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto input = fuzz::bytes(data, size);
    scan(input);
    scan(framed(input));
    (void)isTornTail(input);
    return 0;
}
