// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/host_heap.h"

#include <malloc.h>

#include <limits>

namespace rm {

void keepFreedMemory() {
    constexpr int kGrowBy = 64 << 20;
    mallopt(M_MMAP_MAX, 0); // mappings of their own go back at once
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, kGrowBy);
}

} // namespace rm
