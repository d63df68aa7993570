// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/gemm.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

// Exported by libtorch_cpu 2.11; its own header is not in the wheel.
namespace at::native {
TORCH_API void mkldnn_matmul(const at::Tensor& a, const at::Tensor& b, const at::Tensor& result,
                             float beta, float alpha);
}

namespace rm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool oneDnnIsFaster() {
    static const bool faster = !__builtin_cpu_is("intel") && __builtin_cpu_supports("avx512f") &&
                               __builtin_cpu_supports("avx512bw") &&
                               __builtin_cpu_supports("avx512vl") &&
                               __builtin_cpu_supports("avx512dq");
    return faster;
}

bool isForOneDnn(const at::Tensor& tensor) {
    return oneDnnIsFaster() && tensor.is_cpu() && tensor.scalar_type() == at::kFloat &&
           tensor.numel() > 0;
}

/// How a weight lies in memory: (in, out), or (out, in).
enum class WeightLayout { kInOut, kOutIn };

class Affine : public torch::autograd::Function<Affine> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor& bias, WeightLayout layout) {
        const bool isTurned = layout == WeightLayout::kOutIn;
        ctx->save_for_backward({x, weight});
        ctx->saved_data["isTurned"] = isTurned;
        const at::Tensor inOut = isTurned ? weight.t() : weight;
        const at::Tensor out = at::empty({x.size(0), inOut.size(1)}, x.options()).copy_(bias);
        gemm(x, inOut, out, 1);
        return out;
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const variable_list saved = ctx->get_saved_variables();
        const at::Tensor& x = saved[0];
        const at::Tensor& weight = saved[1];
        const bool isTurned = ctx->saved_data["isTurned"].toBool();
        const at::Tensor gradient = gradients[0].contiguous();
        variable_list result(4);
        if (ctx->needs_input_grad(0))
            gemm(gradient, isTurned ? weight : weight.t(),
                 result[0] = at::empty_like(x, at::MemoryFormat::Contiguous));
        if (ctx->needs_input_grad(1)) {
            result[1] = at::empty_like(weight, at::MemoryFormat::Contiguous);
            gemm(isTurned ? gradient.t() : x.t(), isTurned ? x : gradient, result[1]);
        }
        if (ctx->needs_input_grad(2))
            result[2] = at::sum(gradient, 0);
        return result;
    }
};

bool goesToOneDnn(const at::Tensor& x, const at::Tensor& weight) {
    return isForOneDnn(x) && isForOneDnn(weight) && !at::autocast::is_autocast_enabled(at::kCPU);
}

} // namespace

void gemm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, double beta,
          double alpha) {
    const at::NoGradGuard noGrad;
    at::Tensor result = out;
    if (isForOneDnn(a))
        at::native::mkldnn_matmul(a, b, result, static_cast<float>(beta),
                                  static_cast<float>(alpha));
    else
        at::addmm_out(result, result, a, b, beta, alpha);
}

at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (goesToOneDnn(x, weight))
        return Affine::apply(x, weight, bias, WeightLayout::kInOut);
    return at::addmm(bias, x, weight);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (goesToOneDnn(x, weight))
        return Affine::apply(x, weight, bias, WeightLayout::kOutIn);
    return at::linear(x, weight, bias);
}

} // namespace rm
