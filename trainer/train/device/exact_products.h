// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Sets whether products and convolutions of float32 may be computed with TF32's 10 bits on a GPU
/// that has it. LibTorch's own default allows it for convolutions. Process-wide.
void useTf32(bool on);

/// While it lives, products on a GPU lose no more than the rounding of their result: float32 is not
/// computed as TF32, and sums of narrow products are kept in float32. Its end restores the settings
/// from before. Process-wide.
class ExactProducts {
public:
    ExactProducts();
    ~ExactProducts();
    ExactProducts(const ExactProducts&) = delete;
    ExactProducts& operator=(const ExactProducts&) = delete;

private:
    const bool m_cublas;
    const bool m_cudnn;
    const bool m_float16;
    const bool m_bfloat16;
};

} // namespace rm
