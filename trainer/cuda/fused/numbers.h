// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>

namespace rm::fused {

/// Throws for a type that no kernel has; the callers ask Kernels::covers() first.
inline Number numberOf(at::ScalarType type) {
    switch (type) {
    case at::kFloat:
        return Number::kFloat;
    case at::kBFloat16:
        return Number::kBFloat16;
    case at::kHalf:
        return Number::kHalf;
    case at::kDouble:
        return Number::kDouble;
    default:
        TORCH_CHECK(false, "a fused kernel got numbers of type ", type);
    }
}

/// The type of sums: float64 for float64, else float32.
inline at::ScalarType wideTypeOf(at::ScalarType type) {
    return type == at::kDouble ? at::kDouble : at::kFloat;
}

/// Autocast's type if enabled for this tensor's device, else the tensor's own.
inline at::ScalarType computeTypeOf(const at::Tensor& tensor) {
    const auto device = tensor.device().type();
    if (at::autocast::is_autocast_enabled(device) && tensor.scalar_type() != at::kDouble)
        return at::autocast::get_autocast_dtype(device);
    return tensor.scalar_type();
}

/// The tensor's data; null if the tensor is undefined.
inline const void* dataOf(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}
inline void* mutableDataOf(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

} // namespace rm::fused
