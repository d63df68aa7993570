// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"

#include <string_view>

namespace rm {

/// How serious a line of a log is, by the level that its logger wrote (glog and c10d, Python's
/// logging, NCCL), else by how crashes and exceptions begin. kInfo: nothing says that it is.
Severity severityOf(std::string_view line);

} // namespace rm
