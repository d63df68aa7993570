// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <numbers>

namespace rm {
namespace {

at::Tensor llama3Frequencies(const at::Tensor& frequencies, const RopeScaling& scaling) {
    const auto context = static_cast<double>(scaling.originalContext);
    const at::Tensor wave = 2 * std::numbers::pi / frequencies; // tokens
    const at::Tensor isLong = wave.gt(context / scaling.lowFrequency);
    const at::Tensor isShort = wave.lt(context / scaling.highFrequency);
    const at::Tensor share =
        (context / wave - scaling.lowFrequency) / (scaling.highFrequency - scaling.lowFrequency);
    const at::Tensor between = (1 - share) * frequencies / scaling.factor + share * frequencies;
    return at::where(isLong, frequencies / scaling.factor,
                     at::where(isShort, frequencies, between));
}

} // namespace

at::Tensor rotaryFrequencies(int64_t headDim, double base, const RopeScaling& scaling) {
    // Integers first: a rehearsal skips floating-point operations, but arange determines its size
    // while writing.
    const at::Tensor exponents =
        at::arange(0, headDim, 2, at::kLong).to(at::kFloat) / static_cast<double>(headDim);
    const at::Tensor frequencies = 1.0 / at::pow(base, exponents);
    switch (scaling.kind) {
    case RopeScaling::Kind::kLinear:
        return frequencies / scaling.factor;
    case RopeScaling::Kind::kLlama3:
        return llama3Frequencies(frequencies, scaling);
    default:
        return frequencies;
    }
}

RotaryAngles RotaryTable::at(int64_t first, int64_t count, at::Device device) {
    const int64_t needed = first + count;
    if (!m_angles.cosine.defined() || m_angles.cosine.device() != device ||
        m_angles.cosine.size(0) < needed)
        fill(needed, device);
    return {m_angles.cosine.narrow(0, first, count), m_angles.sine.narrow(0, first, count)};
}

void RotaryTable::fill(int64_t count, at::Device device) {
    const c10::InferenceMode notInference(false); // or training could not use the tensors
    const at::Tensor positions = at::arange(count, at::kLong).to(at::kFloat);
    const at::Tensor angles = at::outer(positions, m_frequencies);
    m_angles = {at::cos(angles).to(device), at::sin(angles).to(device)};
}

} // namespace rm
