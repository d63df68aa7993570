// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/network/network_matrix.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace rm {

/// What a check of a node works with.
struct CheckOrder {
    Credentials credentials;
    KnownRuns runs;
    std::function<void(CheckStage)> progress; ///< on the thread of the check; may be empty
    std::function<std::optional<NetworkMatrix>()> lastNetwork = {}; ///< CheckContext::lastNetwork
};

/// The blocking work of Fleet::check(): one connection from beginning to end. Any thread.
NodeCheck checkNodeNow(const Node& node, const CheckOrder& order, std::stop_token stop);

} // namespace rm
