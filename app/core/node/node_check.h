// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/result.h"

namespace rm {

/// kInvalid names a field that must not reach libssh, ssh(1) or a proxy command: only letters,
/// digits and ._:%- are allowed, without a leading '-'.
Result<void> checkNode(const Node& node);

} // namespace rm
