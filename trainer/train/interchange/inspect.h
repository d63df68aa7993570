// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/train_state.h"
#include "trainer/train/formats/weights.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// One tensor as inspect shows it.
struct TensorReport {
    std::string name;
    std::string dtype; ///< as safetensors spells it
    std::vector<int64_t> shape;
    double sum = 0; ///< of all items, in float64
};

/// The content of a path, in words and figures.
struct Inspection {
    std::string path;
    WeightsKind kind = WeightsKind::kSafetensors;
    std::vector<TensorReport> weights;
    std::vector<TensorReport> optimizer;                ///< checkpoints only
    std::optional<TrainState> state;                    ///< checkpoints only
    int64_t attempt = 1;                                ///< the one that wrote the checkpoint
    bool best = false;                                  ///< best of its line, when it was saved
    std::string spec;                                   ///< TOML; checkpoints only
    std::vector<std::pair<std::string, int64_t>> files; ///< checkpoints only: bytes by name
};

/// Reads everything; a checkpoint's bytes are checked against its manifest.
Result<Inspection> inspect(const std::string& path);

int64_t itemsOf(const TensorReport& tensor);

std::string toText(const Inspection& inspection);
std::string toJson(const Inspection& inspection);

} // namespace rm
