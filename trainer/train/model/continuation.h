// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/sampling.h"

#include <functional>
#include <vector>

namespace rm {

/// Scores (1, V) of the token after `ids`. These follow on what the model was given before, unless
/// `anew`: then they are a text's first.
using NextScores = std::function<at::Tensor(const std::vector<int32_t>& ids, bool anew)>;

/// Continues `prompt` by `count` tokens drawn with `generator` alone. The model never has more than
/// `context` tokens before it: when they are full it goes on with their later half.
std::vector<int32_t> continuation(const std::vector<int32_t>& prompt, int64_t count,
                                  int64_t context, const Sampling& sampling,
                                  const at::Generator& generator, const NextScores& nextScores);

} // namespace rm
