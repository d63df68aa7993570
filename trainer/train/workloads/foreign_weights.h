// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/formats/weights.h"
#include "trainer/train/model/model.h"

#include <initializer_list>
#include <string>

// Converts weights of other programs to a model's. What is special to a family of models is in its
// Workload.
namespace rm {

/// The weight called `name`; nullptr: there is none.
Weight* findWeight(Weights& weights, const std::string& name);

/// Removes weights whose names have this ending.
void dropEndings(Weights& weights, std::initializer_list<const char*> endings);

/// Merges the tied tensors `copy` and `kept` into one called `kept`; either may be missing.
/// kInvalid when they differ.
Result<void> untie(Weights& weights, const std::string& kept, const std::string& copy,
                   const std::string& source);

/// Rows of the tensor called `name`; kInvalid when there is none.
Result<int64_t> rowsOf(const Weights& weights, const std::string& name, const std::string& source);

/// Strips the prefixes `module.` (DataParallel), `_orig_mod.` (torch.compile) and, unless it is of
/// the model's own names (`model.layers.`), `model.` (Lightning), where all names have them.
Weights withoutWrappers(Weights weights);

/// Copies `weights` into the model, converting dtypes. kInvalid names every tensor that is missing,
/// unknown or of another shape, or one that holds a value that is not finite; the model is then
/// unchanged. Weights without any bias leave the model's biases at zero.
Result<void> fillModel(const Model& model, const Weights& weights, const std::string& source);

} // namespace rm
