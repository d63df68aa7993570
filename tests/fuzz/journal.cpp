// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/journal.h"

#include "shared/io/frame.h"
#include "shared/journal/header.h"
#include "shared/journal/segment.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

namespace {

void scan(std::span<const std::byte> file) {
    JournalScanner scanner("fuzz.rmj", 0);
    const uint64_t size = file.size();
    uint64_t cursor = 0, lost = 0;
    const auto countLost = [&] {
        for (const LostBytes& each : scanner.takeLost()) {
            RM_HOLDS(each.bytes > 0 && each.offset + each.bytes <= size);
            lost += each.bytes;
        }
    };
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
        countLost();
    }
    scanner.finish();
    for (auto record = scanner.next(); record && *record; record = scanner.next()) {
    }
    countLost();
    RM_HOLDS(lost <= size && scanner.cursor() <= std::max<uint64_t>(size, kJournalHeader));
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
    auto frames = framed(input);
    scan(frames);
    if (frames.size() > kJournalHeader) {
        const size_t at = size_t(input[0]) * 37 % (frames.size() - kJournalHeader);
        frames[kJournalHeader + at] ^= std::byte{0x11};
        scan(frames);
    }
    (void)isTornTail(input);
    const std::string name(reinterpret_cast<const char*>(data), size);
    if (const auto segment = parseSegment(name))
        RM_HOLDS(segment->fileName() == name);
    return 0;
}
