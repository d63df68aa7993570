// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/limits.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

namespace rm {

namespace {

int64_t inReport(rlim_t limit) {
    constexpr auto kMost = static_cast<rlim_t>(std::numeric_limits<int64_t>::max());
    return limit == RLIM_INFINITY ? -1 : static_cast<int64_t>(std::min(limit, kMost));
}

} // namespace

void readLimits(const SysRoot& root, NodeReport& report) {
    struct rlimit limit = {};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        report.memlockBytes = inReport(limit.rlim_cur);
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        report.openFiles = inReport(limit.rlim_cur);
        report.openFilesMost = inReport(limit.rlim_max);
    }
    struct statvfs info = {};
    if (::statvfs(root.path("/dev/shm").c_str(), &info) == 0) {
        report.shmBytes = static_cast<int64_t>(info.f_blocks * info.f_frsize);
        report.shmFreeBytes = static_cast<int64_t>(info.f_bavail * info.f_frsize);
    }
    std::error_code error;
    for (std::filesystem::directory_iterator at(root.path("/sys/class/infiniband"), error), end;
         !error && at != end; at.increment(error))
        report.rdmaDevices.push_back(at->path().filename().string());
    std::ranges::sort(report.rdmaDevices);
}

} // namespace rm
