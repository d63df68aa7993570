// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/interchange/weights.h"
#include "trainer/train/model/model.h"

#include <memory>
#include <string>

namespace rm {

/// The model of `spec`, uninitialised, with as many tokens or classes as the weights are for.
/// `config`: the config.json beside them, whose begin and end of a text a GPT keeps; empty: none.
/// kInvalid when the tensor that tells is not there.
Result<std::unique_ptr<Model>> modelOf(const RunSpec& spec, const Weights& weights,
                                       const std::string& config, const std::string& source);

/// A spec for what a Hugging Face config.json describes (GPT-2, Marian), everything else as it
/// stands in `spec`. kInvalid names `source` and what it asks for that our models do not have.
Result<RunSpec> specOfConfig(const std::string& config, RunSpec spec, const std::string& source);

} // namespace rm
