// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace rm {

/// A tensor of a file: on the CPU, in the file's dtype, read-only (it may be a view of a mapped
/// file, which it keeps alive).
struct Weight {
    std::string name;
    at::Tensor tensor;
};
using Weights = std::vector<Weight>;

/// Kinds of places that hold weights.
enum class WeightsKind {
    kCheckpoint,  ///< a folder of ours, with a manifest
    kFolder,      ///< a folder of Hugging Face or torchvision, also with several files
    kSafetensors, ///< one file
    kTorch,       ///< one file by torch.save(): a state dict, or a dict that holds one
};

/// The kind of `path`, by its content. kNotFound, or kInvalid if it holds no weights.
Result<WeightsKind> weightsKindOf(const std::string& path);

/// The weights at `path`. A checkpoint's bytes are checked against its manifest, a file of
/// torch.save() is read by a process of its own (see torch_file.h). Errors name the file.
Result<Weights> readWeights(const std::string& path);

/// All tensors of one safetensors file.
Result<Weights> readSafetensors(const std::string& path);

/// Writes `weights` in their dtypes, which must be ones of the format.
Result<void> writeWeights(const std::string& path, const Weights& weights);

} // namespace rm
