// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/live_settings.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rm {

/// Best and latest values of the metric that train.watch names. NaN: none yet.
struct Watched {
    double last = std::numeric_limits<double>::quiet_NaN();
    double best = std::numeric_limits<double>::quiet_NaN(); ///< best of all validations
    int64_t sinceBest = 0;                                  ///< validations without a better one
    double bestSaved =
        std::numeric_limits<double>::quiet_NaN(); ///< best among the line's existing checkpoints
    int64_t bestSavedStep = -1;
};

/// The last values that a train.on_spike of "skip" or "rollback" watches, oldest first; else empty.
struct SpikeWindows {
    std::vector<double> losses, gradNorms;
    bool operator==(const SpikeWindows&) const = default;
};

/// How far a rule of the spec has come (see RuleBook).
struct RuleState {
    std::string text;
    int64_t count = 0; ///< consecutive values that it counts
    double last = std::numeric_limits<double>::quiet_NaN();
    double best = std::numeric_limits<double>::quiet_NaN(); ///< for a rule that waits for a stall
    bool isSpent = false; ///< it acted, and the metric has not come back since
    int64_t fired = 0;
    double owedLrFactor = 1; ///< its change of the learning rate that is still under way
};

/// The state of a run except its tensors: `state.json` of a checkpoint.
struct TrainState {
    int64_t step = 0;
    double epoch = 0;   ///< for people; follows from the cursor
    int64_t cursor = 0; ///< next position in the run's sample order
    int64_t worldSize = 1;
    std::string device = "cpu"; ///< kind of device of the random states
    std::string specHash;
    std::string dataIdentity;     ///< Task::dataIdentity(); empty: not known
    LiveSettings settings;        ///< values that `set` changed; all others are the spec's
    int64_t positionsPerStep = 0; ///< over all ranks; 0: not known
    double validationLoss = std::numeric_limits<double>::quiet_NaN(); ///< last
    Watched watched;
    SpikeWindows spikes;
    std::vector<RuleState> rules;
    double lossScale = 0;     ///< float16: the factor of the loss; 0: as at the start
    int64_t finiteSteps = 0;  ///< float16: consecutive ones, until the scale grows
    int64_t skippedSteps = 0; ///< updates that were held back
    std::vector<std::vector<uint8_t>> rngStates; ///< by rank
};

std::string toJson(const TrainState& state);
/// kCorrupt names `source`.
Result<TrainState> parseTrainState(const std::string& json, const std::string& source);

/// SHA-256 of the spec's text, as TrainState::specHash.
std::string specHashOf(const RunSpec& spec);

} // namespace rm
