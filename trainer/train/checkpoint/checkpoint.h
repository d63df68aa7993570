// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "trainer/train/checkpoint/text_files.h"
#include "trainer/train/checkpoint/train_state.h"
#include "trainer/train/model/model.h"
#include "trainer/train/optim/optimizer.h"

#include <string>

namespace rm {

/// Publishes `parent`/step-NNNNNNNNN with model.safetensors (names and layouts of the Python
/// libraries, float32), optimizer.safetensors (the optimizer's state()), state.json and `texts`.
/// Rank 0 only. Returns the folder.
Result<std::string> saveCheckpoint(const std::string& parent, const Manifest& manifest,
                                   const Model& model, const Optimizer& optimizer,
                                   const TrainState& state, const TextFiles& texts);

/// state.json of a checkpoint all of whose bytes agree with its manifest.
Result<TrainState> openCheckpoint(const std::string& dir);

/// Content of one of its files; empty when there is none.
std::string checkpointText(const std::string& dir, const std::string& name);

/// Copies the tensors of a checkpoint that openCheckpoint() accepted into model and optimizer.
/// kInvalid names the first tensor that is missing or has another shape.
Result<void> restoreCheckpoint(const std::string& dir, const Model& model,
                               const Optimizer& optimizer);

} // namespace rm
