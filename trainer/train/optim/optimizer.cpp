// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/optimizer.h"

#include "trainer/train/optim/adamw.h"

namespace rm {

std::unique_ptr<Optimizer> makeOptimizer(const Model& model, const RunSpec::Optimizer& settings) {
    return std::make_unique<AdamW>(model, settings);
}

} // namespace rm
