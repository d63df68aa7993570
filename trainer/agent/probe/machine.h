// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/probe/sys_root.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// The parts of a probe's answer, read from /proc, /sys and /etc. What cannot be found out stays
/// empty, so a probe never fails.
struct Machine {
    std::string os; ///< PRETTY_NAME of os-release
    std::string cpuModel;
    int cores = 0;
    int64_t memoryBytes = 0;
    bool operator==(const Machine&) const = default;
};
Machine readMachine(const SysRoot& root);

/// Names the running system, as NodeReport::machine; empty: unknown. Not by /etc/machine-id:
/// machines made of one image may have it in common.
std::string machineName();

/// The user's name, or the number of one without a name.
std::string userName(uint32_t uid);

/// The interfaces of this machine (getifaddrs), one entry an address; speeds from `root`.
std::vector<InterfaceReport> readInterfaces(const SysRoot& root);
/// /sys/class/net/NAME/speed; -1 if the driver reports nothing useful.
int64_t readSpeedMbit(const SysRoot& root, const std::string& name);

struct Mount {
    std::string path;
    std::string fileSystem; ///< "ext4"
    bool operator==(const Mount&) const = default;
};
/// File systems that hold people's files, from /proc/self/mounts; each device once.
std::vector<Mount> readMounts(const SysRoot& root);

} // namespace rm
