// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/model/model.h"

#include <cstdint>
#include <string>

namespace rm {

// model.start_from: the weights with which a run begins at step 0. Only rank 0's node needs them.

/// A small file beside these weights, such as tokenizer.json; empty when there is none, or no
/// model.start_from. Where that is a file, only what lies in a folder of its kind counts.
std::string startText(const RunSpec& spec, const std::string& name);

/// kInvalid, with the lines to put into the spec, when the weights' config.json describes another
/// model than the spec does; without such a file the shapes of the tensors tell (loadStart()).
Result<void> checkStart(const RunSpec& spec);

/// Tokens of the model that a config.json describes; 0: it does not say.
int64_t vocabOfConfig(const std::string& config);

/// Rows of the embedding for a tokenizer of `vocabSize` tokens, of which `told` are in the weights
/// (0: not known): as many as there, if those more than the tokenizer has are padding. kInvalid
/// when the tokenizer cannot be the weights' own.
Result<int64_t> embeddingRows(int64_t vocabSize, int64_t told);

/// Fills the model on rank 0, whose values the caller then sends to all; all ranks call it together
/// and all get the same error. kInvalid names every tensor that is missing, has another shape or
/// is not the model's.
Result<void> loadStart(const World& world, const RunSpec& spec, const Model& model);

} // namespace rm
