// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/interchange/weights.h"
#include "trainer/train/workloads/llama/settings.h"

namespace rm {

/// Weights of a LlamaForCausalLM as our Llama of these settings has them. Names and layouts are the
/// same; tables of rotary frequencies, which early versions of transformers saved, are left out.
/// Where the embeddings are tied, lm_head.weight may be absent, equal or alone; kInvalid when it
/// differs.
Result<Weights> llamaWeights(Weights weights, const LlamaSettings& settings,
                             const std::string& source);

} // namespace rm
