// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/fit_vocabulary.h"

#include <charconv>

namespace rm {
namespace {

/// The number behind these words; 0: there is none.
int64_t numberBehind(const std::string& message, std::string_view words) {
    const size_t at = message.find(words);
    int64_t number = 0;
    if (at != std::string::npos)
        std::from_chars(message.data() + at + words.size(), message.data() + message.size(),
                        number);
    return number;
}

/// The size that SentencePiece suggests; 0: the error is another one.
int64_t supportedSize(const std::string& message, int64_t tried) {
    const int64_t size = numberBehind(message, "Please set it to a value <= ");
    return size < tried ? size : 0;
}

} // namespace

std::string inKeysOfTheSpec(const std::string& message) {
    constexpr std::string_view kTooSmall = "Vocabulary size is smaller than required_chars. ";
    const size_t at = message.find(kTooSmall);
    if (at == std::string::npos)
        return message;
    const std::string sizes = message.substr(at + kTooSmall.size()); // "40 vs 345. Increase ..."
    const std::string least = std::to_string(numberBehind(sizes, " vs "));
    return "the text has too many different characters for it, which with a piece for each byte "
           "take " +
           least + "; set data.vocab_size to " + least + " or more";
}

Result<std::string> fitVocabulary(int64_t vocabSize,
                                  const std::function<Result<std::string>(int64_t size)>& learn) {
    auto model = learn(vocabSize);
    for (int64_t size = vocabSize; !model;) {
        size = supportedSize(model.error().message, size);
        if (size <= 0)
            break;
        model = learn(size);
    }
    return model;
}

} // namespace rm
