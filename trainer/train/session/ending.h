// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/exit_code.h"

#include <string>

namespace rm {

/// How a rank ended, and for endings that are no success, why.
struct Ending {
    ExitCode code = ExitCode::kOk;
    std::string message;
};

} // namespace rm
