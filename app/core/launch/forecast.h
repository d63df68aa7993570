// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/link_test.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/measures.h"

#include <string>
#include <vector>

namespace rm {

/// The cost of a sum on the way between ranks.
struct LinkCost {
    double latencyMs = 0;    ///< of the smallest sum
    double bytesPerMs = 0;   ///< that a rank's connection carries in each direction
    double cpuMs = 0;        ///< of a core, for a sum whatever its size
    double cpuMsPerByte = 0; ///< of a core, for a byte in each direction
    bool operator==(const LinkCost&) const = default;
};
LinkCost costOf(const SumGroup& group);

/// A step of training on so many ranks.
struct StepForecast {
    int64_t nodes = 1;
    int64_t ranks = 1;
    int64_t accumulation = 1; ///< micro-batches of a step
    double stepMs = 0;
    double waitMs = 0;        ///< of `stepMs`: for sums and weights under way, or for their work
    double samplesPerSec = 0; ///< of all ranks
    bool operator==(const StepForecast&) const = default;
};

/// Plays steps as the trainer makes them (trainer/train/dist) until they repeat: the gradients of a
/// bucket travel as soon as the last backward pass has them, the first two thirds only as parts
/// (reduce-scatter); the backward pass ends when all have arrived; then the norm is summed, and the
/// other half of those parts' way (all-gather) goes on under the next forward pass, which waits for
/// each weight before it is read. On a CPU without a spare core the passes are longer by what the
/// sums take of it. With one rank nothing travels. Steps have the profile's accumulation.
StepForecast forecastStep(const StepProfile& profile, const LinkCost& link, int64_t ranks);

/// Forecasts for the first 1 to N nodes of a test, for the spec that was profiled: its accumulation
/// or, with train.global_batch, as many micro-batches as make that of so many ranks' batches; nodes
/// whose ranks cannot cut it are left out. A pair costs what it was measured at, more what their
/// slowest pair did, and all what all did together. Empty: all are left out, or the test has no
/// group, or one without a rate (hasRate()), or does not know how many ranks each node had.
std::vector<StepForecast> forecastNodes(const StepProfile& profile, const RunSpec& spec,
                                        const LinkTest& test);

/// How often as many samples as the first forecast's, which is of one node unless that is left out.
double speedUp(const std::vector<StepForecast>& forecasts, size_t at);

/// The forecasts in words, a sentence each: whether more nodes help, and if they do not help much,
/// what compressed gradients or larger steps would change; which nodes are left out, and why.
/// Without forecasts, why there are none.
std::vector<std::string> forecastWords(const StepProfile& profile, const RunSpec& spec,
                                       const LinkTest& test);

} // namespace rm
