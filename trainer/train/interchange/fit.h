// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/interchange/weights.h"
#include "trainer/train/model/model.h"

#include <string>

namespace rm {

/// Gives weights from elsewhere the names and layouts of our models (`modelType` as in the spec):
///
///   all          without `module.` (DataParallel) and `_orig_mod.` (torch.compile)
///   gpt          with `transformer.`; GPT-2's causal masks left out; linear layers, whose weights
///                are (out, in), turned into Conv1D's (in, out)
///   translation  position tables, which are computed, left out
///
/// Tied copies (lm_head and the embedding) become one. kInvalid when copies that are tied here
/// differ.
Result<Weights> withOurNames(Weights weights, const std::string& modelType,
                             const std::string& source);

/// Copies `weights` into the model, converting number formats. kInvalid names every tensor that is
/// missing, not the model's, or of another shape; the model is then as it was.
Result<void> fillModel(const Model& model, const Weights& weights, const std::string& source);

} // namespace rm
