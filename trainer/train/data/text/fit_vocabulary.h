// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace rm {

/// A small text cannot fill a large vocabulary, which SentencePiece takes for an error whose
/// message ends with the size that would do: tries `vocabSize`, then what `learn` said, and returns
/// its model or its last error.
Result<std::string> fitVocabulary(int64_t vocabSize,
                                  const std::function<Result<std::string>(int64_t size)>& learn);

} // namespace rm
