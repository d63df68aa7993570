// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/result.h"

namespace rm {

/// kInvalid names a field that must not reach libssh, ssh(1), a proxy command or a rank: of hosts
/// and users only letters, digits and ._:%- are allowed, without a leading '-', of a jump host
/// without '%'. One sentence, of the first such field.
Result<void> checkNode(const Node& node);

} // namespace rm
