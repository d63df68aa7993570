// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "trainer/train/checkpoint/train_state.h"
#include "trainer/train/model/model.h"
#include "trainer/train/optim/adamw.h"

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// (name, content) of the small files of a checkpoint: config.json, spec.toml, tokenizer files.
using TextFiles = std::vector<std::pair<std::string, std::string>>;

/// Publishes `parent`/step-NNNNNNNNN with model.safetensors (names and layouts of the Python
/// libraries, float32), optimizer.safetensors ("NAME.exp_avg", ".exp_avg_sq", ".step"), state.json
/// and `texts`. Rank 0 only. Returns the folder.
Result<std::string> saveCheckpoint(const std::string& parent, const Manifest& manifest,
                                   const Model& model, const AdamW& optimizer,
                                   const TrainState& state, const TextFiles& texts);

/// state.json of a checkpoint all of whose bytes agree with its manifest.
Result<TrainState> openCheckpoint(const std::string& dir);

/// Content of one of its files; empty when there is none.
std::string checkpointText(const std::string& dir, const std::string& name);

/// Copies the tensors of a checkpoint that openCheckpoint() accepted into model and optimizer.
/// kInvalid names the first tensor that is missing or has another shape.
Result<void> restoreCheckpoint(const std::string& dir, const Model& model, const AdamW& optimizer);

} // namespace rm
