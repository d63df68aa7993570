// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/result.h"

namespace rm {

/// kInvalid, naming the field: a name, host, user or port that must not reach libssh, ssh(1) or a
/// proxy command. Letters, digits and ._:%- alone, and no leading '-'.
Result<void> checkNode(const Node& node);

} // namespace rm
