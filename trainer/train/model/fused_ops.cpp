// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/fused_ops.h"

#include "trainer/train/model/cpu/bias_gelu.h"
#include "trainer/train/model/gemm.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mm.h>

namespace rm {
namespace {

const FusedOps* g_ops = nullptr;
bool g_onHost = false;

const FusedOps* opsFor(const at::Tensor& tensor) {
    return tensor.is_cpu() == g_onHost ? g_ops : nullptr;
}

} // namespace

void setFusedOps(const FusedOps* ops, bool onHost) {
    g_ops = ops;
    g_onHost = onHost;
}

NormedSum addLayerNorm(const at::Tensor& residual, const at::Tensor& delta,
                       const at::Tensor& weight, const at::Tensor& bias, double eps,
                       NormedFor use) {
    if (const FusedOps* ops = opsFor(residual)) {
        NormedSum fused = ops->addLayerNorm(residual, delta, weight, bias, eps, use);
        if (fused.sum.defined())
            return fused;
    }
    const at::Tensor sum = residual + delta;
    return {sum, at::layer_norm(sum, weight.sizes(), weight, bias, eps)};
}

at::Tensor productGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (const FusedOps* ops = opsFor(x)) {
        const at::Tensor product = at::mm(x, weight);
        const at::Tensor fused = ops->biasGelu(product, bias);
        return fused.defined() ? fused : at::gelu(product + bias, "tanh");
    }
    if (coversBiasGelu(x) && coversBiasGelu(weight) && bias.scalar_type() == at::kFloat)
        return biasGelu(product(x, weight), bias);
    return at::gelu(affine(x, weight, bias), "tanh");
}

at::Tensor fusedClassifierLoss(const at::Tensor& hidden, const OutputLayer& layer,
                               const at::Tensor& targets, const LossRule& rule) {
    const FusedOps* ops = opsFor(hidden);
    return ops ? ops->classifierLoss(hidden, layer, targets, rule) : at::Tensor();
}

} // namespace rm
