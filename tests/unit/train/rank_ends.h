// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/exit_code.h"

#include <vector>

namespace rm::test {

/// Exit codes of two ranks that end alike.
inline std::vector<int> both(ExitCode code) {
    return {static_cast<int>(code), static_cast<int>(code)};
}

/// Those of two ranks where rank 0 fails, and rank 1 because it did.
inline std::vector<int> firstOf(ExitCode code) {
    return {static_cast<int>(code), static_cast<int>(ExitCode::kPeerLost)};
}

} // namespace rm::test
