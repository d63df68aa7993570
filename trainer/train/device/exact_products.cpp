// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/exact_products.h"

#include <ATen/Context.h>

#include <type_traits>

namespace rm {
namespace {

/// Whether allowFP16ReductionCuBLAS() or its like answers yes: with a bool in torch 2.7, later with
/// the first value of an enumeration.
template <class Option>
bool isNarrow(Option option) {
    if constexpr (std::is_same_v<Option, bool>)
        return option;
    else
        return option == Option::AllowReducedPrecisionWithSplitK;
}

} // namespace

void useTf32(bool on) {
    at::globalContext().setAllowTF32CuBLAS(on);
    at::globalContext().setAllowTF32CuDNN(on);
}

ExactProducts::ExactProducts()
    : m_cublas(at::globalContext().allowTF32CuBLAS())
    , m_cudnn(at::globalContext().allowTF32CuDNN())
    , m_float16(isNarrow(at::globalContext().allowFP16ReductionCuBLAS()))
    , m_bfloat16(isNarrow(at::globalContext().allowBF16ReductionCuBLAS())) {
    useTf32(false);
    at::globalContext().setAllowFP16ReductionCuBLAS(false);
    at::globalContext().setAllowBF16ReductionCuBLAS(false);
}

ExactProducts::~ExactProducts() {
    at::globalContext().setAllowTF32CuBLAS(m_cublas);
    at::globalContext().setAllowTF32CuDNN(m_cudnn);
    at::globalContext().setAllowFP16ReductionCuBLAS(m_float16);
    at::globalContext().setAllowBF16ReductionCuBLAS(m_bfloat16);
}

} // namespace rm
