// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <cstdint>
#include <string>

namespace rm {

/// `attach RUN_ID NODE`: speaks shared/wire/messages.h on stdin and stdout until stdin closes,
/// stdout breaks or the stream has to be refused (which the other side is told first).
Result<void> attachRun(const Folders& folders, const std::string& runId, int64_t nodeIndex);

} // namespace rm
