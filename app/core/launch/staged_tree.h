// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"
#include "shared/spec/run_spec.h"

namespace rm {

/// All files that `data.stage` sends to each node, as specForNode() names their folders there. Both
/// the launch and what looks ahead at it go by this. An error names what cannot be read or sent.
Result<LocalTree> stagedTree(const RunSpec& spec);

} // namespace rm
