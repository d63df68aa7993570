// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

namespace rm {

// Operations of a Llama with their gradients, in one pass each way where ATen takes several. For
// tensors that coverLlamaKernels() accepts. The sums are the same for any number of threads. Not
// twice differentiable.

/// Whether the kernels below can take `x` here: contiguous float32 on a CPU with AVX2 and FMA,
/// outside autocast.
bool coverLlamaKernels(const at::Tensor& x);

/// As addRmsNorm() of llama_ops.h; `delta` may be undefined: then the sum is `residual`.
NormedSum addRmsNormKernel(const at::Tensor& residual, const at::Tensor& delta,
                           const at::Tensor& weight, double eps);

/// As swiGlu() of llama_ops.h.
at::Tensor swiGluKernel(const at::Tensor& gate, const at::Tensor& up);

/// As rotated() of llama_ops.h, by the cosines and sines of its angles; overwrites x.
at::Tensor rotateKernel(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

} // namespace rm
