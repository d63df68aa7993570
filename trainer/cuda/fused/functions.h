// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/add_layer_norm_function.h"
#include "trainer/cuda/fused/bias_gelu_function.h"
#include "trainer/cuda/fused/classifier_loss_function.h"

namespace rm::fused {

/// The operations of trainer/train/model/fused_ops.h with their gradients, over one set of kernels.
/// `Kernels` has, all static:
///   bool covers(at::ScalarType)                            numbers that it computes with
///   int64_t normTeams(at::Tensor, rows, columns), geluGroups(...)  how many partial sums
///   void run(Arguments)                                    for each struct of arguments.h
///   void accumulate(at::Tensor& c, a, b)                   c += a b; c is wider than a and b
///   int64_t kChunkBytes                                    of logits that may exist at once
template <class Kernels>
const FusedOps& fusedOps() {
    static constexpr FusedOps kOps = {&addLayerNorm<Kernels>, &biasGelu<Kernels>,
                                      &classifierLoss<Kernels>};
    return kOps;
}

} // namespace rm::fused
