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
/// model.start_from. If that is a single file, see folder_texts.h.
std::string startText(const RunSpec& spec, const std::string& name);

/// kInvalid, with the lines to put into the spec, when the weights' config.json describes another
/// model than the spec. Without a config.json, loadStart() compares the tensors' shapes.
Result<void> checkStart(const RunSpec& spec);

/// The vocabulary size in a config.json; 0: it has none.
int64_t vocabOfConfig(const std::string& config);

/// Rows of the embedding for a tokenizer of `vocabSize` tokens and weights with `given` rows:
/// `given`, if the difference can be padding; `vocabSize`, if `given` is 0 (unknown). kInvalid when
/// the tokenizer cannot belong to the weights.
Result<int64_t> embeddingRows(int64_t vocabSize, int64_t given);

/// Loads the weights into rank 0's model; the caller then broadcasts them. All ranks call it
/// together and get the same error. kInvalid names every tensor that is missing, unknown or of
/// another shape.
Result<void> loadStart(const World& world, const RunSpec& spec, const Model& model);

} // namespace rm
