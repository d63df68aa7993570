// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"
#include "trainer/train/model/model.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rm::test {

/// What a program computed for a script of this folder to compare.
using Named = std::vector<std::pair<std::string, at::Tensor>>;

/// As the file wants it: contiguous, detached from what goes on changing.
at::Tensor snapshot(const at::Tensor& tensor);

/// Fills the model, strictly, with the weights of a checkpoint or of a folder that was exported.
Result<void> loadWeights(const Model& model, const std::string& folder);

void clearGradients(const Model& model);

/// Under "gradient." and the parameter's name.
void addGradients(Named& dump, const Model& model);

/// Under "flops", what Model::forwardFlops() says of a batch.
void addFlops(Named& dump, const Model& model, const Batch& batch);

/// Trains train.steps steps as the trainer's loop does on `ids` and `targets`, both (steps, B, T);
/// the loss before each step.
at::Tensor trainingLosses(Model& model, const RunSpec& spec, const at::Tensor& ids,
                          const at::Tensor& targets);

/// Into a safetensors file.
Result<void> save(const std::string& path, const Named& dump,
                  const std::map<std::string, std::string>& metadata = {});

/// The exit code of a program; an error is told.
int ended(const Result<void>& done);

} // namespace rm::test
