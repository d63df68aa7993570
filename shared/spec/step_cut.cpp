// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/step_cut.h"

#include "shared/counted.h"
#include "shared/spec/schema.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace rm {

namespace {

int64_t sumOf(const std::vector<int64_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

/// The numbers of ranks that can be left, by how many nodes are left.
std::vector<std::set<int64_t>> ranksLeft(const std::vector<int>& ranksOfNodes) {
    std::vector<std::set<int64_t>> left(ranksOfNodes.size() + 1);
    left[1].insert(ranksOfNodes.front());
    for (size_t node = 1; node < ranksOfNodes.size(); ++node)
        for (size_t count = node; count > 0; --count)
            for (const int64_t ranks : left[count])
                left[count + 1].insert(ranks + ranksOfNodes[node]);
    return left;
}

/// The least number of positions that all those ranks can cut; 0: it is above what may be set.
int64_t stepForAll(const RunSpec& spec, const std::vector<std::set<int64_t>>& left) {
    constexpr int64_t kMost = 1 << 30; // the bound of train.global_batch
    int64_t step = 1;
    for (size_t count = left.size() - 1; count >= static_cast<size_t>(spec.launch.minNodes);
         --count)
        for (const int64_t ranks : left[count]) {
            step = std::lcm(step, sumOf(batchSizesOf(spec, ranks)));
            if (step > kMost)
                return 0;
        }
    return step;
}

} // namespace

std::vector<int64_t> batchSizesOf(const RunSpec& spec, int64_t ranks) {
    if (!spec.train.rankBatchSizes.empty())
        return spec.train.rankBatchSizes;
    const int64_t size = usesField(spec, "train.batch_size") ? spec.train.batchSize : 1;
    return std::vector<int64_t>(static_cast<size_t>(ranks), size);
}

std::optional<int64_t> microBatchesOf(int64_t positions, int64_t perMicro) {
    return perMicro > 0 && positions % perMicro == 0 ? std::optional(positions / perMicro)
                                                     : std::nullopt;
}

Result<int64_t> accumulationOf(const RunSpec& spec, int64_t ranks,
                               const std::vector<int64_t>& sizes,
                               const std::optional<StepsBefore>& before) {
    if (static_cast<int64_t>(sizes.size()) != ranks)
        return fail(ErrorCode::kInvalid, "train.rank_batch_sizes names " +
                                             counted(static_cast<int64_t>(sizes.size()), "rank") +
                                             ", but the run has " + std::to_string(ranks));
    int64_t wanted = spec.train.globalBatch;
    std::string what = "of train.global_batch";
    // An earlier attempt of the same spec may have had another number of ranks.
    if (wanted == 0 && before && (before->isSameSpec || before->ranks != ranks)) {
        wanted = before->positions;
        what = "as those of the checkpoint, made by " + counted(before->ranks, "rank");
    }
    if (wanted == 0)
        return spec.train.accumulation;
    const int64_t perMicro = sumOf(sizes);
    if (const auto accumulation = microBatchesOf(wanted, perMicro))
        return *accumulation;
    return fail(ErrorCode::kInvalid,
                "cut steps of " + counted(wanted, "sample") + " " + what + ": " +
                    counted(ranks, "rank") + (ranks == 1 ? " takes " : " take ") +
                    std::to_string(perMicro) +
                    " at once, which does not divide that; take another number of ranks, or " +
                    (before ? "branch from the checkpoint with another train.batch_size or "
                              "train.global_batch"
                            : "another train.batch_size or train.global_batch"));
}

Result<void> checkStepCut(const RunSpec& spec, int64_t ranks,
                          const std::optional<StepsBefore>& before) {
    return accumulationOf(spec, ranks, batchSizesOf(spec, ranks), before).map([](int64_t) {});
}

Result<void> checkMinNodes(const RunSpec& spec, const std::vector<int>& ranksOfNodes) {
    const auto least = static_cast<size_t>(spec.launch.minNodes);
    if (least == 0 || least >= ranksOfNodes.size() || spec.launch.maxRestarts == 0)
        return {};
    const std::string what = "launch with launch.min_nodes = " + std::to_string(least) + " on " +
                             std::to_string(ranksOfNodes.size()) +
                             " nodes: after a loss it could not go on with fewer, as ";
    if (!spec.train.rankBatchSizes.empty())
        return fail(ErrorCode::kInvalid,
                    what + "train.rank_batch_sizes would name ranks that are gone; set "
                           "train.batch_size in its place, or launch.min_nodes = 0");
    const int64_t world = std::accumulate(ranksOfNodes.begin(), ranksOfNodes.end(), int64_t{0});
    const int64_t step = spec.train.globalBatch > 0
                             ? spec.train.globalBatch
                             : sumOf(batchSizesOf(spec, world)) * spec.train.accumulation;
    const auto left = ranksLeft(ranksOfNodes);
    for (size_t count = ranksOfNodes.size() - 1; count >= least; --count)
        for (const int64_t ranks : left[count]) {
            const int64_t perMicro = sumOf(batchSizesOf(spec, ranks));
            if (microBatchesOf(step, perMicro))
                continue;
            const int64_t fits = stepForAll(spec, left);
            return fail(ErrorCode::kInvalid,
                        what + counted(ranks, "rank") + " on " +
                            counted(static_cast<int64_t>(count), "node") +
                            (ranks == 1 ? " takes " : " take ") + std::to_string(perMicro) +
                            " samples at once, which does not divide the " + std::to_string(step) +
                            " of a step; set train.global_batch" +
                            (fits > 0 ? " to a multiple of " + std::to_string(fits) : "") +
                            (spec.train.globalBatch > 0 ? ", another train.batch_size," : "") +
                            " or launch.min_nodes = 0");
        }
    return {};
}

} // namespace rm
