// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/optimizer.h"

#include "trainer/train/optim/sharded_optimizer.h"
#include "trainer/train/optim/whole_optimizer.h"

namespace rm {

std::unique_ptr<Optimizer> makeOptimizer(const Model& model, const RunSpec::Optimizer& settings,
                                         const World& world, ParameterShards* shards) {
    if (shards)
        return std::make_unique<ShardedOptimizer>(model, settings, world, *shards);
    return std::make_unique<WholeOptimizer>(model, settings, world);
}

} // namespace rm
