// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/measure/try_checkpoint.h"

#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/registry.h"

#include <ATen/core/grad_mode.h>

#include <chrono>
#include <filesystem>

namespace rm {
namespace {

using Clock = std::chrono::steady_clock;

/// The spec that the checkpoint was trained with.
Result<RunSpec> specOf(const std::string& checkpoint) {
    const std::string toml = checkpointText(checkpoint, "spec.toml");
    if (toml.empty())
        return fail(ErrorCode::kInvalid,
                    "try " + checkpoint + ": it has no spec.toml to tell what model it is");
    return parseRunSpec(toml, checkpoint + "/spec.toml");
}

std::string weightsOf(const std::string& checkpoint) {
    std::error_code ignored;
    const std::string average = checkpoint + "/" + kAverageFile;
    return std::filesystem::exists(average, ignored) ? average : checkpoint + "/" + kModelFile;
}

Result<std::unique_ptr<Model>> modelOf(const RunSpec& spec, const std::string& checkpoint) {
    const std::string file = weightsOf(checkpoint);
    RM_ASSIGN_OR_RETURN(const auto weights, readSafetensors(file));
    RM_ASSIGN_OR_RETURN(
        auto model,
        workloadOf(spec).modelFor(spec, weights, checkpointText(checkpoint, "config.json"), file));
    RM_RETURN_IF_ERROR(fillModel(*model, weights, file));
    return model;
}

} // namespace

Result<TryAnswer> tryCheckpoint(const std::string& checkpoint, const TryInput& input,
                                const Device& device) {
    const auto start = Clock::now();
    std::error_code ignored;
    if (!std::filesystem::exists(checkpoint, ignored))
        return fail(ErrorCode::kNotFound, "try " + checkpoint + ": it is not there (any more)");
    RM_ASSIGN_OR_RETURN(const auto state, readState(checkpoint));
    RM_ASSIGN_OR_RETURN(const auto spec, specOf(checkpoint));
    const Workload& workload = workloadOf(spec);
    RM_RETURN_IF_ERROR(workload.checkInput(spec, input));
    configureDevice(device, spec, "");
    RM_ASSIGN_OR_RETURN(const auto model, modelOf(spec, checkpoint));
    model->moveTo(device.at);
    const at::NoGradGuard noGrad;
    RM_ASSIGN_OR_RETURN(auto answer, workload.tryOut(spec, *model, checkpoint, device, input));
    answer.step = state.step;
    answer.device = device.plugin->deviceName();
    answer.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return answer;
}

} // namespace rm
