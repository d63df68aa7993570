// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace rm {

/// Activation checkpointing: block(x) without keeping its activations. The backward pass runs
/// `block` again with the same random numbers and autocast state, so that gradients are those of
/// block(x).
///
/// `parameters` are all tensors with gradients that `block` reads besides x: leaves, or results of
/// earlier operations. `block` must be a function of these and of the device's default generator
/// alone, and must live until the backward pass. `isRandom`: whether it draws at all (a generator's
/// state cannot be read while a CUDA graph is captured).
at::Tensor recomputed(std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& x,
                      const std::vector<at::Tensor>& parameters, bool isRandom);

} // namespace rm
