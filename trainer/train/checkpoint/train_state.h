// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/live_settings.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rm {

/// How the validation figure that train.watch names fared. NaN: none yet.
struct Watched {
    double last = std::numeric_limits<double>::quiet_NaN();
    double best = std::numeric_limits<double>::quiet_NaN(); ///< of all validations
    int64_t sinceBest = 0;                                  ///< validations without a better one
    double bestSaved =
        std::numeric_limits<double>::quiet_NaN(); ///< of those of the line that are there
    int64_t bestSavedStep = -1;
};

/// All of a run but its tensors: `state.json` of a checkpoint.
struct TrainState {
    int64_t step = 0;
    double epoch = 0;   ///< for people; follows from the cursor
    int64_t cursor = 0; ///< next position in the run's sample order
    int64_t worldSize = 1;
    std::string device = "cpu"; ///< what kind the random states are of
    std::string specHash;
    LiveSettings settings;        ///< what `set` changed; the rest is as the spec says
    int64_t positionsPerStep = 0; ///< over all ranks; 0: not known
    double validationLoss = std::numeric_limits<double>::quiet_NaN(); ///< last
    Watched watched;
    double lossScale = 0;     ///< float16: what the loss is multiplied by; 0: as at the start
    int64_t finiteSteps = 0;  ///< float16: on end, towards a larger scale
    int64_t skippedSteps = 0; ///< updates that were held back
    std::vector<std::vector<uint8_t>> rngStates; ///< by rank
};

std::string toJson(const TrainState& state);
/// kCorrupt names `source`.
Result<TrainState> parseTrainState(const std::string& json, const std::string& source);

} // namespace rm
