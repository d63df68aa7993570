// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace rm {

/// out = alpha * a b + beta * out, for matrices of one dtype and device; a and b may be transposed
/// views. Records no gradient.
///
/// On a CPU that is not Intel's, MKL, which ATen calls for float32, leaves AVX-512 unused: oneDNN's
/// kernels, which are in LibTorch as well, are 2.2 times as fast there (AMD EPYC, Zen 5).
void gemm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, double beta = 0,
          double alpha = 1);

/// x (N, in) times weight (in, out) plus bias (out): at::addmm, its forward and backward by gemm()
/// where that is faster. Follows autocast.
at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// The same of a weight (out, in): at::linear.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

} // namespace rm
