// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

namespace rm {

/// classifierLoss() on the CPU, over `rows` tokens at a time (0: chosen), so that the (N, V) logits
/// never exist at once; where gradients are wanted, they are computed on the way: nothing of size V
/// but the weight's gradient is kept for the backward pass. Targets that count nothing cost
/// nothing. Follows autocast; softmax is in float32 always.
at::Tensor chunkedLoss(const at::Tensor& hidden, const Classifier& classifier,
                       const at::Tensor& targets, const LossRule& rule, int64_t rows = 0);

} // namespace rm
