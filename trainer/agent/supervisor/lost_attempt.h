// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// When the last attempt's agent died before it could report the end (and all ranks are gone),
/// writes AttemptEnded{outcome kFailed or, `asked`, kStopped} in its stead. The caller holds the
/// RunLock. Does nothing when the end is on record or nothing was ever started.
Result<void> closeLostAttempt(const std::string& runDir, bool asked = false);

} // namespace rm
