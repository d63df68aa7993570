// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

namespace rm {

/// `ringmaster-trainer self-test`.
Result<void> selfTestSubcommand(int argc, char** argv);

} // namespace rm
