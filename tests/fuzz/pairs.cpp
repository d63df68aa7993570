// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"
#include "trainer/train/workloads/translation/pairs/pair_header.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace rm;

namespace {

/// Makes both sums right, so that what they guard is reached.
std::vector<std::byte> withSums(std::span<const std::byte> file) {
    std::vector<std::byte> bytes(file.begin(), file.end());
    if (bytes.size() < sizeof(PairHeader))
        return bytes;
    auto* header = reinterpret_cast<PairHeader*>(bytes.data());
    header->bodySum =
        XXH3_64bits(bytes.data() + sizeof(PairHeader), bytes.size() - sizeof(PairHeader));
    header->headerSum = XXH3_64bits(bytes.data(), offsetof(PairHeader, headerSum));
    return bytes;
}

void check(std::span<const std::byte> file) {
    const auto view = parsePairFile(file, "fuzz.rmpairs");
    if (!view)
        return;
    const auto itemBytes = static_cast<uint64_t>(view->info.itemBytes);
    uint64_t last = 0;
    for (int64_t side = 0; side <= 2 * view->count; ++side) {
        const auto offset = loadInt<uint64_t>(view->offsets.subspan(8 * size_t(side)));
        RM_HOLDS(offset >= last && offset * itemBytes <= view->items.size());
        last = offset;
    }
    RM_HOLDS(last * itemBytes == view->items.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    check(fuzz::bytes(data, size));
    check(withSums(fuzz::bytes(data, size)));
    return 0;
}
