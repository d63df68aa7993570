// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

namespace rm {

/// The verbs of trainer/train/verbs.h that deal with weights.
Result<void> exportVerb(int argc, char** argv);
Result<void> importVerb(int argc, char** argv);
Result<void> inspectVerb(int argc, char** argv);
Result<void> unpackVerb(int argc, char** argv); ///< see torch_file.h

} // namespace rm
