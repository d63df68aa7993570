// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "shared/spec/node_plan.h"

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// A call of the trainer on a node: its subcommand's words, and its standard input.
struct TrainerCall {
    std::vector<std::string> arguments;
    std::string input;
};

/// runToEnd() of the trainer of `plan.bundle`, which sees what the plan's ranks would see there:
/// the GPUs that were chosen, the environment of node and spec, and of the login's only what ranks
/// get of it, as the agent starts it (trainer/agent/supervisor/trainer_call.h). `agent` is what
/// deployAgent() gave.
Result<std::string> runTrainerOf(const NodePlan& plan, HostSession& session,
                                 const std::string& agent, const TrainerCall& call,
                                 std::chrono::milliseconds timeout, std::stop_token stop);

} // namespace rm
