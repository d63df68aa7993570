// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <stop_token>

namespace rm {

/// The blocking work of Fleet::check(): one connection from beginning to end. Any thread.
NodeCheck checkNodeNow(const Node& node, const Credentials& credentials, std::stop_token stop);

} // namespace rm
