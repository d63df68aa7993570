// SPDX-License-Identifier: Apache-2.0
#include "shared/io/control_group.h"

#include "shared/io/file.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <thread>

namespace rm {

namespace {

bool lists(const std::string& controllers, const std::string& wanted) {
    return (',' + controllers + ',').find(',' + wanted + ',') != std::string::npos;
}

/// The quota of a group in processors; nullopt: it has none.
std::optional<double> quotaIn(const std::string& folder, bool isV2) {
    double quota = 0, period = 0;
    if (isV2) {
        std::istringstream text(readFile(folder + "cpu.max").value_or(""));
        text >> quota >> period; // "max 100000" is no number
    } else {
        std::istringstream(readFile(folder + "cpu.cfs_quota_us").value_or("")) >> quota;
        std::istringstream(readFile(folder + "cpu.cfs_period_us").value_or("")) >> period;
    }
    return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

} // namespace

ControlGroups controlGroups(const std::string& controller, const std::string& root) {
    std::istringstream lines(readFile(root + "/proc/self/cgroup").value_or(""));
    std::string folder, path;
    ControlGroups groups;
    for (std::string line; std::getline(lines, line);) { // "4:cpu,cpuacct:/a/b", "0::/a/b"
        const size_t name = line.find(':') + 1, end = line.find(':', name);
        if (name == 0 || end == std::string::npos)
            continue;
        const bool isV1 = lists(line.substr(name, end - name), controller);
        if (!isV1 && !line.starts_with("0::"))
            continue;
        groups.isV2 = !isV1;
        folder = root + "/sys/fs/cgroup" + (isV1 ? "/" + controller : "");
        path = line.substr(end + 1);
        if (isV1)
            break;
    }
    while (!folder.empty()) {
        groups.folders.push_back(folder + path + (path.ends_with('/') ? "" : "/"));
        const size_t up = path.rfind('/');
        if (up == std::string::npos)
            break;
        path.resize(up);
    }
    return groups;
}

int coresWithinQuota(int cores, const std::string& root) {
    const ControlGroups groups = controlGroups("cpu", root);
    for (const std::string& folder : groups.folders)
        if (const auto quota = quotaIn(folder, groups.isV2))
            cores = std::min(cores, static_cast<int>(std::lround(*quota)));
    return std::max(1, cores);
}

int givenCores() {
    cpu_set_t set;
    const bool isKnown = ::sched_getaffinity(0, sizeof set, &set) == 0;
    return coresWithinQuota(isKnown ? CPU_COUNT(&set)
                                    : static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace rm
