// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace rm {

/// The library for float32 matrix products on a CPU. ATen calls MKL, which uses AVX-512 only on
/// processors that it knows (not on an AMD EPYC); oneDNN, which is also in LibTorch, uses it on
/// all.
enum class GemmLibrary { kAten, kOneDnn };

/// The library with the better code for this processor: oneDNN if it has AVX-512 and MKL does not
/// use it (1.1 times as fast on Zen 4, 2.2 times on Zen 5), else ATen's. Always the same on a
/// machine. `packaging/bench G1` measures both.
GemmLibrary gemmLibrary();

/// out = alpha * a b + beta * out, for matrices of one dtype and device; a and b may be transposed
/// views. Records no gradient. By gemmLibrary().
void gemm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, double beta = 0,
          double alpha = 1);

/// gemm() of float32 on a CPU by that library.
void gemmBy(GemmLibrary library, const at::Tensor& a, const at::Tensor& b, const at::Tensor& out,
            double beta = 0, double alpha = 1);

/// x (N, in) times weight (in, out): at::mm, its forward and backward by gemm() where that is
/// faster. Follows autocast.
at::Tensor product(const at::Tensor& x, const at::Tensor& weight);

/// product() plus bias (out): at::addmm.
at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// product() of a weight (out, in): at::linear.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight);

/// affine() of a weight (out, in): at::linear.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

} // namespace rm
