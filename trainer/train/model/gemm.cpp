// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/gemm.h"

#include "trainer/train/device/skipped_work.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

// Exported by libtorch_cpu 2.11; its own header is not in the wheel.
namespace at::native {
TORCH_API void mkldnn_matmul(const at::Tensor& a, const at::Tensor& b, const at::Tensor& result,
                             float beta, float alpha);
}

// Exported by it as well: the instruction set for which MKL runs code here. Weak, as another
// LibTorch may have another BLAS.
extern "C" __attribute__((weak)) int mkl_serv_cpu_detect();

namespace rm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using MaybeTensor = std::optional<at::Tensor>; // autograd takes no undefined ones

/// The number of AVX-512 in MKL's list of instruction sets; higher ones include it.
constexpr int kMklAvx512 = 7;

bool mklUsesAvx512() {
    return mkl_serv_cpu_detect && mkl_serv_cpu_detect() >= kMklAvx512;
}

bool processorHasAvx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

bool isForOneDnn(const at::Tensor& tensor) {
    return gemmLibrary() == GemmLibrary::kOneDnn && tensor.is_cpu() &&
           tensor.scalar_type() == at::kFloat && tensor.numel() > 0;
}

/// How a weight lies in memory: (in, out), or (out, in).
enum class WeightLayout { kInOut, kOutIn };

at::Tensor inOut(const at::Tensor& weight, WeightLayout layout) {
    return layout == WeightLayout::kOutIn ? weight.t() : weight;
}

/// x times weight, plus an optional bias; its backward pass computes the gradient of x only.
struct AffineOfInput : torch::autograd::Function<AffineOfInput> {
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                              const MaybeTensor& bias, WeightLayout layout) {
        const at::Tensor matrix = inOut(weight, layout);
        ctx->save_for_backward({matrix});
        const at::Tensor out = at::empty({x.size(0), matrix.size(1)}, x.options());
        if (bias)
            out.copy_(*bias);
        gemm(x, matrix, out, bias ? 1 : 0);
        return out;
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const at::Tensor matrix = ctx->get_saved_variables()[0];
        const at::Tensor gradient = gradients[0].contiguous();
        const at::Tensor ofX = at::empty({gradient.size(0), matrix.size(0)}, gradient.options());
        gemm(gradient, matrix.t(), ofX);
        return {ofX, {}, {}, {}};
    }
};

/// Passes on `out`, which was computed from `x`; its backward pass computes the gradients of weight
/// and bias.
struct AffineOfWeight : torch::autograd::Function<AffineOfWeight> {
    static at::Tensor forward(AutogradContext* ctx, at::Tensor out, const at::Tensor& x,
                              const at::Tensor& /*weight*/, const MaybeTensor& bias,
                              WeightLayout layout) {
        ctx->mark_dirty({out}); // or it would come out as a view
        ctx->save_for_backward({x});
        ctx->saved_data["isTurned"] = layout == WeightLayout::kOutIn;
        ctx->saved_data["hasBias"] = bias.has_value();
        return out;
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const at::Tensor x = ctx->get_saved_variables()[0];
        const bool isTurned = ctx->saved_data["isTurned"].toBool();
        const at::Tensor gradient = gradients[0].contiguous();
        variable_list result(5);
        result[0] = gradient;
        if (ctx->needs_input_grad(2)) {
            const at::Tensor left = isTurned ? gradient : x;
            const at::Tensor right = isTurned ? x : gradient;
            result[2] = at::empty({left.size(1), right.size(1)}, x.options());
            gemm(left.t(), right, result[2]);
        }
        if (ctx->saved_data["hasBias"].toBool() && ctx->needs_input_grad(3))
            result[3] = at::sum(gradient, 0);
        return result;
    }
};

/// Two autograd nodes, so that the weight's gradient, which has to be communicated, is computed
/// before the input's.
at::Tensor affineInTwo(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias,
                       WeightLayout layout) {
    const MaybeTensor addend = bias ? MaybeTensor(bias->detach()) : bias;
    const at::Tensor out = AffineOfInput::apply(x, weight.detach(), addend, layout);
    return AffineOfWeight::apply(out, x.detach(), weight, bias, layout);
}

bool goesToOneDnn(const at::Tensor& x, const at::Tensor& weight) {
    return isForOneDnn(x) && isForOneDnn(weight) && !at::autocast::is_autocast_enabled(at::kCPU);
}

} // namespace

// Decided by the instruction sets and not by timing, as a resumed run has to use the same library,
// or its sums would differ.
GemmLibrary gemmLibrary() {
    static const GemmLibrary library =
        processorHasAvx512() && !mklUsesAvx512() ? GemmLibrary::kOneDnn : GemmLibrary::kAten;
    return library;
}

void gemm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, double beta,
          double alpha) {
    gemmBy(isForOneDnn(a) && !isWorkSkipped() ? GemmLibrary::kOneDnn : GemmLibrary::kAten, a, b,
           out, beta, alpha);
}

void gemmBy(GemmLibrary library, const at::Tensor& a, const at::Tensor& b, const at::Tensor& out,
            double beta, double alpha) {
    const at::NoGradGuard noGrad;
    at::Tensor result = out;
    if (library == GemmLibrary::kOneDnn)
        at::native::mkldnn_matmul(a, b, result, static_cast<float>(beta),
                                  static_cast<float>(alpha));
    else
        at::addmm_out(result, result, a, b, beta, alpha);
}

at::Tensor product(const at::Tensor& x, const at::Tensor& weight) {
    if (goesToOneDnn(x, weight))
        return affineInTwo(x, weight, std::nullopt, WeightLayout::kInOut);
    return at::mm(x, weight);
}

at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (goesToOneDnn(x, weight))
        return affineInTwo(x, weight, bias, WeightLayout::kInOut);
    return at::addmm(bias, x, weight);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) {
    if (goesToOneDnn(x, weight))
        return affineInTwo(x, weight, std::nullopt, WeightLayout::kOutIn);
    return at::linear(x, weight);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (goesToOneDnn(x, weight))
        return affineInTwo(x, weight, bias, WeightLayout::kOutIn);
    return at::linear(x, weight, bias);
}

} // namespace rm
