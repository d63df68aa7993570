// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rm {

/// Where Linux keeps the limits of this process's control group, as of a container, a Slurm job or
/// a user's slice.
struct ControlGroups {
    /// With a slash at the end: that of the group, then those of the groups it is in. Empty: there
    /// is none.
    std::vector<std::string> folders;
    bool isV2 = false;
};

/// `controller`: "memory", "cpu". `root` replaces "/" in tests.
ControlGroups controlGroups(const std::string& controller, const std::string& root = "");

/// How many of so many processors the quotas of control groups leave, rounded; at least 1.
int coresWithinQuota(int cores, const std::string& root = "");

/// Processors that this process may use: those of its affinity, within the quota.
int givenCores();

} // namespace rm
