// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/run_trainer.h"

#include "shared/io/json.h"

#include <utility>

namespace rm {

Result<std::string> runTrainerOf(const NodePlan& plan, HostSession& session,
                                 const std::string& agent, const TrainerCall& call,
                                 std::chrono::milliseconds timeout, std::stop_token stop) {
    std::vector<std::string> words = call.arguments;
    words.insert(words.begin(), "trainer");
    const std::string order = dumpJson({{"plan", toToml(plan)}, {"input", call.input}});
    return runToEnd(session, agent, words, order, timeout, std::move(stop));
}

} // namespace rm
