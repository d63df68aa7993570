// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

namespace rm {

/// The subcommands of trainer/train/subcommands.h that deal with weights.
Result<void> exportSubcommand(int argc, char** argv);
Result<void> importSubcommand(int argc, char** argv);
Result<void> inspectSubcommand(int argc, char** argv);
Result<void> unpackSubcommand(int argc, char** argv); ///< see formats/torch_file.h

} // namespace rm
