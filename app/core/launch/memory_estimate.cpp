// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/memory_estimate.h"

#include "app/core/launch/run_trainer.h"
#include "shared/amounts.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <utility>

namespace rm {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

NodeMemory estimateFrom(const json& j) {
    NodeMemory estimate;
    estimate.fits = j.at("fits").get<bool>();
    estimate.isLeast = j.at("at_least").get<bool>();
    estimate.needed = j.at("bytes").at("total").get<int64_t>();
    estimate.free = j.at("free").get<int64_t>();
    estimate.advice = j.at("advice").get<std::string>();
    return estimate;
}

} // namespace

Result<NodeMemory> parseNodeMemory(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const auto estimate, parseJson(text, "the estimate of memory"));
    // nlohmann throws if a field is missing or of the wrong type.
    try {
        return estimateFrom(estimate);
    } catch (const json::exception& error) {
        return fail(ErrorCode::kCorrupt, std::string("estimate memory: ") + error.what());
    }
}

Result<NodeMemory> estimateOnNode(HostSession& session, const std::string& agent,
                                  const std::string& specToml, const NodePlan& plan,
                                  std::stop_token stop) {
    const TrainerCall call{{"estimate", "-", "--json", "--advise", "--ranks",
                            std::to_string(plan.worldSize), "--local-ranks",
                            std::to_string(plan.localRanks), "--device", plan.device},
                           specToml};
    return runTrainerOf(plan, session, agent, call, kPatience, std::move(stop))
        .and_then(parseNodeMemory);
}

std::string tooLargeText(const std::string& run, const std::string& node, const NodePlan& plan,
                         const NodeMemory& estimate) {
    const bool several = plan.localRanks > 1;
    const bool onGpu = plan.device == "cuda";
    return node + " has too little memory for " + run + ": " +
           (several ? "each of its " + std::to_string(plan.localRanks) + " ranks there" : "it") +
           " needs " + (estimate.isLeast ? "more than " : "about ") + memoryWords(estimate.needed) +
           (onGpu ? " of its GPU's memory" : "") + ", and " + memoryWords(estimate.free) +
           " are free" + (several && !onGpu ? " for each" : "") +
           (estimate.advice.empty() ? "" : "; " + estimate.advice);
}

} // namespace rm
