// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

// Loops over rows of float32, one behind the other, for processors with AVX2 and FMA; the same sums
// on all of them. llama_kernels.h says what they compute.

/// The input of the norm.
struct NormRows {
    int64_t rows = 0, columns = 0;
    const float* x = nullptr;
    const float* weight = nullptr; ///< as many as columns
};

/// sum = x + delta; without `delta` x is the sum and nothing is written to `sum`. `scales` are the
/// inverse root mean squares of the rows.
void normForward(const NormRows& in, const float* delta, float eps, float* sum, float* normed,
                 float* scales);

/// The backward pass of normForward(), whose sum is in.x. `ofSum`: a further gradient of the sum,
/// or nullptr. Adds to `weightGradient`, by column.
void normBackward(const NormRows& in, const float* scales, const float* dNormed, const float* ofSum,
                  float* dx, float* weightGradient);

/// y = silu(gate) up
void swiGluForward(int64_t count, const float* gate, const float* up, float* y);
void swiGluBackward(int64_t count, const float* gate, const float* up, const float* dy,
                    float* dGate, float* dUp);

/// The consecutive heads of one position, and the angles of their rotation.
struct HeadsOfPosition {
    int64_t heads = 0, halfDim = 0;
    const float* cosine = nullptr; ///< halfDim
    const float* sine = nullptr;   ///< halfDim
    bool backwards = false;        ///< by minus the angles
};

/// Turns heads; `to` may be `from`.
void turnHeads(const HeadsOfPosition& position, const float* from, float* to);

} // namespace rm
