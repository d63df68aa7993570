// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/sampling.h"

#include <functional>
#include <vector>

namespace rm {

/// Scores (1, V) of the token after `ids`. `ids` continue the tokens that the model got before;
/// with `anew` they start a new text.
using NextScores = std::function<at::Tensor(const std::vector<int32_t>& ids, bool anew)>;

/// Continues `prompt` by `count` tokens drawn with `generator` alone. The model never sees more
/// than `context` tokens: when the context is full, its later half is kept.
std::vector<int32_t> continuation(const std::vector<int32_t>& prompt, int64_t count,
                                  int64_t context, const Sampling& sampling,
                                  const at::Generator& generator, const NextScores& nextScores);

} // namespace rm
