// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rm {

/// The longest line that SentencePiece is given, in bytes: it leaves out what is longer than 4192
/// without a word. Longer ones are given in parts (lengthOfPart()).
inline constexpr size_t kLongestLine = 4000;

/// A line as SentencePiece is to learn from it: a space stands for U+2585, which it uses itself, so
/// that it would leave out the whole line.
std::string lineToLearn(std::string_view line);

/// SentencePiece fails if a text is too small for the vocabulary, with a message that ends with the
/// largest possible size. Tries `vocabSize`, then that size, and returns the model or the last
/// error. The errors of `learn` are inKeysOfTheSpec().
Result<std::string> fitVocabulary(int64_t vocabSize,
                                  const std::function<Result<std::string>(int64_t size)>& learn);

/// Why SentencePiece learns no vocabulary, in the keys of the spec and with what to do: its options
/// are none of a person's, nor are its sources.
std::string inKeysOfTheSpec(const std::string& message);

} // namespace rm
