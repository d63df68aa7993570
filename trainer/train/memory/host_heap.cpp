// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/host_heap.h"

#include <c10/util/Logging.h>
#include <malloc.h>

#include <limits>

namespace rm {

void keepFreedMemory() {
    constexpr int kGrowBy = 64 << 20;
    mallopt(M_MMAP_MAX, 0); // mappings of their own go back at once
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, kGrowBy);
}

void throwWhenOutOfMemory() {
    FLAGS_caffe2_use_fatal_for_enforce = false;
}

} // namespace rm
