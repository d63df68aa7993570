// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/probe/sys_root.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// /dev/kmsg (Documentation/ABI/testing/dev-kmsg) as far as it can be read now, at most its last
/// records of 4 MiB. nullopt: this user may not read it (kernel.dmesg_restrict).
std::optional<std::string> readKernelLog(const SysRoot& root);

/// The last "NVRM: Xid (PCI:0000:3b:00): 79, ..." of each GPU in that text, by PCI id.
std::vector<XidReport> xidsIn(const std::string& kernelLog);

} // namespace rm
