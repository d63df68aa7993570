// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace rm {

/// How the next token is drawn; the names are those of transformers' generate().
struct Sampling {
    double temperature = 1; ///< scores are divided by it; 0: always the likeliest token
    int64_t topK = 0;       ///< only the k likeliest tokens (more where they tie); 0: all
    double topP = 1;        ///< only the likeliest tokens that together reach this probability
};

/// The probabilities of the next token, (B, V) in float32 on the CPU, from the model's scores (B,
/// V), after transformers' warpers of temperature, top-k and top-p, applied in that order.
at::Tensor tokenProbabilities(const at::Tensor& scores, const Sampling& sampling);

/// One token by the probabilities of scores (1, V), drawn with `generator` (of the CPU) alone.
int32_t drawToken(const at::Tensor& scores, const Sampling& sampling,
                  const at::Generator& generator);

} // namespace rm
