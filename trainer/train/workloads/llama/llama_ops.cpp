// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/llama_ops.h"

#include "trainer/train/workloads/llama/cpu/llama_kernels.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/silu.h>

namespace rm {

at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
    if (coverLlamaKernels(x) && coverLlamaKernels(weight))
        return addRmsNormKernel(x, {}, weight, eps).normed;
    return at::rms_norm(x, weight.sizes(), weight, eps);
}

NormedSum addRmsNorm(const at::Tensor& residual, const at::Tensor& delta, const at::Tensor& weight,
                     double eps) {
    if (coverLlamaKernels(residual) && coverLlamaKernels(delta) && coverLlamaKernels(weight))
        return addRmsNormKernel(residual, delta, weight, eps);
    const at::Tensor sum = residual + delta;
    return {sum, rmsNorm(sum, weight, eps)};
}

at::Tensor swiGlu(const at::Tensor& gate, const at::Tensor& up) {
    if (coverLlamaKernels(gate) && coverLlamaKernels(up))
        return swiGluKernel(gate, up);
    return at::silu(gate) * up;
}

at::Tensor rotated(const at::Tensor& x, const RotaryAngles& angles) {
    if (coverLlamaKernels(x) && angles.cosine.is_contiguous())
        return rotateKernel(x, angles.cosine, angles.sine);
    const int64_t tokens = angles.cosine.size(0), half = angles.cosine.size(1);
    const at::Tensor cosine = angles.cosine.unsqueeze(1), sine = angles.sine.unsqueeze(1);
    const auto halves = x.view({-1, tokens, x.size(1) / (2 * half), 2 * half}).chunk(2, -1);
    return at::cat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine},
                   -1)
        .view({x.size(0), -1});
}

} // namespace rm
