// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rm {

/// Positions that each of `ranks` ranks takes in one micro-batch, by rank: samples, or 1 where a
/// position is a whole batch of train.batch_tokens. train.rank_batch_sizes as it is, also if it
/// names another number of ranks.
std::vector<int64_t> batchSizesOf(const RunSpec& spec, int64_t ranks);

/// Micro-batches that make a step of `positions`, of which all ranks together take `perMicro` at
/// once; empty: such a step cannot be cut into them.
std::optional<int64_t> microBatchesOf(int64_t positions, int64_t perMicro);

/// The steps that a run goes on from.
struct StepsBefore {
    int64_t positions = 0; ///< in each, over all ranks; 0: not known
    int64_t ranks = 0;     ///< the ranks that did them
    bool isSameSpec = false;
};

/// Micro-batches per step of so many ranks, which take `sizes` positions at once: as many as the
/// spec says or, if the number of ranks has changed, now or before that checkpoint, as give steps
/// of its size. kInvalid: no number does, or `sizes` are of another number of ranks.
Result<int64_t> accumulationOf(const RunSpec& spec, int64_t ranks,
                               const std::vector<int64_t>& sizes,
                               const std::optional<StepsBefore>& before);

/// Whether so many ranks can do the steps of the spec, or those of the checkpoint, for use before
/// there is a task that tells its sizes. kInvalid: why not, and what to set.
Result<void> checkStepCut(const RunSpec& spec, int64_t ranks,
                          const std::optional<StepsBefore>& before);

/// Whether a run that began on nodes with so many ranks, and was never on others, can be restarted
/// after any loss of nodes down to launch.min_nodes. The first node has rank 0 and is never left
/// out. kInvalid says which loss cannot be borne, why, and what to set.
Result<void> checkMinNodes(const RunSpec& spec, const std::vector<int>& ranksOfNodes);

} // namespace rm
