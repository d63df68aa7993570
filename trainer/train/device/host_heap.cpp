// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/host_heap.h"

#include "shared/io/free_memory.h"
#include "trainer/train/device/tensor_heap.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace rm {

void keepFreedMemory() {
    constexpr int kGrowBy = 64 << 20;
    mallopt(M_MMAP_MAX, 0); // mmapped blocks would be returned at once
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, kGrowBy);
    useTensorHeap();
}

void keepOneHeap() {
    mallopt(M_ARENA_MAX, 1);
}

void giveFreedMemoryBack() {
    malloc_trim(0);
}

void keepFewPrograms() {
    ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64", /*overwrite=*/0);
    ::setenv("LRU_CACHE_CAPACITY", "16", /*overwrite=*/0);
}

void limitMemory(int64_t bytes) {
    rlimit limit{};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(dataBytes() + bytes));
    setrlimit(RLIMIT_DATA, &limit);
    std::ofstream("/proc/self/oom_score_adj") << 1000;
}

} // namespace rm
