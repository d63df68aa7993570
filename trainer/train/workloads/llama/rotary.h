// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/llama/settings.h"

#include <ATen/core/Tensor.h>

namespace rm {

/// The rotation from one token to the next, in radians, of each pair of numbers of a head: (D / 2)
/// in float32 on the CPU, as transformers computes it [Su et al., "RoFormer", 2021].
at::Tensor rotaryFrequencies(int64_t headDim, double base, const RopeScaling& scaling);

/// Cosine and sine of the angles of the first T positions, each (T, D / 2) in float32.
struct RotaryAngles {
    at::Tensor cosine, sine;
};

/// The angles of rotary embeddings, computed once and kept on the last device that used them.
class RotaryTable {
public:
    explicit RotaryTable(at::Tensor frequencies)
        : m_frequencies(std::move(frequencies)) {}

    /// The angles of positions [first, first + count). Not thread-safe.
    RotaryAngles at(int64_t first, int64_t count, at::Device device);

private:
    void fill(int64_t count, at::Device device);

    at::Tensor m_frequencies;
    RotaryAngles m_angles;
};

} // namespace rm
