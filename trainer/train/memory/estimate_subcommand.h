// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

namespace rm {

/// `ringmaster-trainer estimate`: the memory that one rank of a spec's run needs, and with
/// --find-batch the largest micro-batch that there is room for.
Result<void> estimateSubcommand(int argc, char** argv);

} // namespace rm
