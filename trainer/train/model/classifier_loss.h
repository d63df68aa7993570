// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace rm {

/// Mean cross-entropy of the classifier x weight^T against `targets`, with label smoothing as
/// torch.nn.functional.cross_entropy has it: x (N, C), weight (V, C), targets (N) int64 -> ().
///
/// Goes over `rows` tokens at a time (0: chosen), so that the (N, V) logits never exist at once,
/// and where gradients are wanted computes them on the way: nothing of size V but the weight's
/// gradient is kept for the backward pass. Follows autocast; softmax is in float32 always.
at::Tensor classifierLoss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets,
                          double smoothing, int64_t rows = 0);

} // namespace rm
