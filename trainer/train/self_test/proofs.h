// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rm {

/// Something that a device must show before it is trusted with one of its fast paths.
struct Proof {
    const char* name;     ///< "layer norm kernel"
    const char* fastPath; ///< what is switched off if it fails: see limited_device.h
    bool (*applies)(const Device&);
    /// What was compared and how far it was off, in words. Throws ProofFailed, and passes on
    /// LibTorch's exceptions, which are failures as well.
    std::string (*show)(const Device&);
};

/// The text has the figures: what was found, and what is allowed.
struct ProofFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// By how much a product is off at most, relative to the largest exact value. NaN where one is.
/// `mine` is of any type and device, `exact` of float64 on the CPU.
double deviationOf(const at::Tensor& mine, const at::Tensor& exact);
/// How much of that is allowed for numbers of this type.
double limitOfProducts(at::ScalarType type);

/// All of them, in the order in which they are to be shown: what cannot be done without comes
/// first. Together they take about ten seconds on a GPU, most of it to load libraries.
const std::vector<Proof>& proofs();

} // namespace rm
