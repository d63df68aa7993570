// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/memory_estimate.h"

#include "app/core/findings/text.h"
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
    RM_ASSIGN_OR_RETURN(const auto estimate, parseJson(text, say("gpu.launch-estimate")));
    // nlohmann throws if a field is missing or of the wrong type.
    try {
        return estimateFrom(estimate);
    } catch (const json::exception& error) {
        return failAs(say("gpu.launch-make-estimate"), {ErrorCode::kCorrupt, error.what()});
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
    const bool onGpu = plan.device == "cuda";
    const Value place{"node", node}, name{"run", run}, free{"free", memoryWords(estimate.free)},
        ranks{"ranks", std::to_string(plan.localRanks)},
        needed{"needed", say(estimate.isLeast ? "gpu.launch-more-than" : "gpu.launch-about",
                             {{"memory", memoryWords(estimate.needed)}})};
    std::string text =
        plan.localRanks > 1
            ? say(onGpu ? "gpu.launch-ranks-lack-gpu-memory" : "gpu.launch-ranks-lack-memory",
                  {place, name, ranks, needed, free})
            : say(onGpu ? "gpu.launch-lacks-gpu-memory" : "gpu.launch-lacks-memory",
                  {place, name, needed, free});
    if (!estimate.advice.empty())
        append(text, estimate.advice);
    return text;
}

} // namespace rm
