// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/probe/sys_root.h"

#include <string>

namespace rm {

/// What becomes of the ranks of `user` at the end of the login that this process belongs to. A
/// supervisor stays in the control group that it was started in, as `probe` does: in a session's
/// scope logind.conf(5) decides, below the user's own systemd whether the user lingers, and
/// elsewhere nobody ends them.
AtLogout readAtLogout(const SysRoot& root, const std::string& user);

} // namespace rm
