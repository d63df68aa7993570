// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// If the last attempt's supervisor died before it recorded the end, writes AttemptEnded in its
/// place, with kStopped if `asked`, else kFailed. The caller holds the RunLock and has made sure
/// that all ranks are gone. Does nothing when the end is recorded or no attempt was started.
Result<void> closeLostAttempt(const std::string& runDir, bool asked = false);

} // namespace rm
