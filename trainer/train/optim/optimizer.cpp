// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/optimizer.h"

#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/optim/replicated_optimizer.h"
#include "trainer/train/optim/sharded_optimizer.h"

namespace rm {

std::unique_ptr<Optimizer> makeOptimizer(const Model& model, const RunSpec::Optimizer& settings,
                                         const World& world, GradientSync* sync) {
    if (sync && sync->shards())
        return std::make_unique<ShardedOptimizer>(model, settings, world, *sync);
    return std::make_unique<ReplicatedOptimizer>(model, settings, world, sync);
}

} // namespace rm
