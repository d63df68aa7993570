// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/run_trainer.h"

#include <utility>

namespace rm {

Result<std::string> runTrainerOf(const NodePlan& plan, HostSession& session,
                                 const TrainerCall& call, std::chrono::milliseconds timeout,
                                 std::stop_token stop) {
    std::string program = plan.bundle + "/bin/ringmaster-trainer";
    std::vector<std::string> words = call.arguments;
    if (!plan.environment.empty()) {
        words.insert(words.begin(), std::exchange(program, "env"));
        words.insert(words.begin(), plan.environment.begin(), plan.environment.end());
    }
    return runToEnd(session, program, words, call.input, timeout, std::move(stop));
}

} // namespace rm
