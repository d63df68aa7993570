// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/safetensors.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// How far the values of a layer are apart in two files. The norms are L2, over all its tensors.
struct LayerDifference {
    std::string layer; ///< "blocks.0", "head": see layerOf()
    int64_t values = 0;
    double normA = 0, normB = 0;
    double normOfDifference = 0;
    double largest = 0; ///< absolute difference of two values
    bool operator==(const LayerDifference&) const = default;
};

struct TensorComparison {
    std::vector<LayerDifference> layers;       ///< in the order of the first file
    std::vector<std::string> onlyInA, onlyInB; ///< tensors, also those of different shapes
    bool operator==(const TensorComparison&) const = default;
};

/// The layer that a tensor belongs to: its name up to the first part that is a number, else without
/// the last part: "blocks.0" of "blocks.0.attention.weight", "head" of "head.weight".
std::string layerOf(const std::string& tensor);

/// Compares the tensors of two files by name. A value that is NaN in both counts as equal; NaN in
/// one alone makes the layer's difference NaN.
TensorComparison compareTensors(const SafetensorsFile& a, const SafetensorsFile& b);

/// The comparison as agents answer and the terminal prints it. A value that is not finite becomes
/// null, which reads as NaN.
std::string toJson(const TensorComparison& comparison);
Result<TensorComparison> parseComparison(const std::string& text, const std::string& source);

} // namespace rm
