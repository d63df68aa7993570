// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rm {

struct Export {
    std::string checkpoint;
    std::string to;                    ///< a file (*.safetensors) or a folder; must not exist
    std::string precision = "float32"; ///< "float32" | "bfloat16" | "float16"
    bool average = false;              ///< the moving average of the weights instead of them
};

/// Writes only the weights of a checkpoint: as one safetensors file, or as a folder for
/// transformers' from_pretrained() (torchvision: its state dict) with config.json and the
/// tokenizer's files. Returns the written files as (file, bytes). On failure nothing is left
/// behind.
Result<std::vector<std::pair<std::string, int64_t>>> exportWeights(const Export& wanted);

} // namespace rm
