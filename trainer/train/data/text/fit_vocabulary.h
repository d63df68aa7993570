// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace rm {

/// SentencePiece fails if a text is too small for the vocabulary, with a message that ends with the
/// largest possible size. Tries `vocabSize`, then that size, and returns the model or the last
/// error.
Result<std::string> fitVocabulary(int64_t vocabSize,
                                  const std::function<Result<std::string>(int64_t size)>& learn);

/// What SentencePiece says of why it learns no vocabulary, in the keys of the spec: its options are
/// none of a person's.
std::string inKeysOfTheSpec(const std::string& message);

} // namespace rm
