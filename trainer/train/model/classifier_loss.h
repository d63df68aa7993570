// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

namespace rm {

/// Mean cross-entropy of the logits of hidden (N, C) with the targets that count, int64 (N) -> (),
/// as torch.nn.functional.cross_entropy; softmax is in float32 always. Follows autocast.
///
/// On the CPU it processes `rows` tokens at a time (0: chosen), so that the (N, V) logits never
/// exist at once, and computes wanted gradients on the way, so that of size V only the weight's
/// gradient is kept for the backward pass. Ignored targets cost nothing. On a GPU it is
/// fusedClassifierLoss() if that covers the types, else ATen's ops.
at::Tensor classifierLoss(const at::Tensor& hidden, const OutputLayer& layer,
                          const at::Tensor& targets, const LossRule& rule = {}, int64_t rows = 0);

} // namespace rm
