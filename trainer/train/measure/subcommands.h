// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

namespace rm {

Result<void> allReduceSubcommand(int argc, char** argv);   ///< `ringmaster-trainer all-reduce`
Result<void> stepProfileSubcommand(int argc, char** argv); ///< `ringmaster-trainer step-profile`
Result<void> trySubcommand(int argc, char** argv);         ///< `ringmaster-trainer try`

} // namespace rm
