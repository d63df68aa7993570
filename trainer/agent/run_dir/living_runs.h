// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/run_dir/folders.h"

#include <vector>

namespace rm {

/// The runs of which ranks or an agent live on this machine, by id. What cannot be read is left
/// out.
std::vector<RunReport> livingRuns(const Folders& folders);

} // namespace rm
