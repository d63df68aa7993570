// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rm {

/// A comparison that a device must pass before it is trusted with one of its fast paths.
struct Proof {
    const char* name;     ///< "layer norm kernel"
    const char* fastPath; ///< switched off if the proof fails: see limited_device.h
    bool (*applies)(const Device&);
    /// Compares; returns what was compared and how far it was off, in words. Throws ProofFailed,
    /// and passes on LibTorch's exceptions, which are failures as well.
    std::string (*show)(const Device&);
};

/// The error of a proof that failed. Its text has the deviation that was found and the limit.
struct ProofFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// By how much a product is off at most, relative to the largest exact value. NaN if a number is
/// NaN. `mine` is of any type and device, `exact` of float64 on the CPU.
double deviationOf(const at::Tensor& mine, const at::Tensor& exact);
/// The largest deviationOf() that is allowed for numbers of this type.
double limitOfProducts(at::ScalarType type);

/// All proofs, in the order in which they are shown: those of the device itself come first.
/// Together they take about ten seconds on a GPU, most of it to load libraries.
const std::vector<Proof>& proofs();

} // namespace rm
