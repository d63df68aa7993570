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

constexpr std::string_view kAtMost = "set data.vocab_size to at most ";

/// The size that the text supports, of inKeysOfTheSpec(); 0: the error is another one.
int64_t supportedSize(const std::string& message, int64_t tried) {
    const int64_t size = numberBehind(message, kAtMost);
    return size < tried ? size : 0;
}

} // namespace

std::string lineToLearn(std::string_view line) {
    constexpr std::string_view kReserved = "\xe2\x96\x85";
    std::string text(line);
    for (size_t at = text.find(kReserved); at != std::string::npos; at = text.find(kReserved, at))
        text.replace(at, kReserved.size(), " ");
    return text;
}

std::string inKeysOfTheSpec(const std::string& message) {
    constexpr std::string_view kTooSmall = "Vocabulary size is smaller than required_chars. ";
    constexpr std::string_view kTooLarge = "Please set it to a value <= ";
    const auto has = [&](std::string_view words) {
        return message.find(words) != std::string::npos;
    };
    if (has(kTooSmall)) {
        // "40 vs 345. Increase ..."
        const std::string sizes = message.substr(message.find(kTooSmall) + kTooSmall.size());
        const std::string least = std::to_string(numberBehind(sizes, " vs "));
        return "the text has too many different characters for it, which with a piece for each "
               "byte take " +
               least + "; set data.vocab_size to " + least + " or more";
    }
    if (has(kTooLarge))
        return "the text is too small for so many pieces; " + std::string(kAtMost) +
               std::to_string(numberBehind(message, kTooLarge));
    if (has("!sentences_.empty()"))
        return "there is no text to learn from; name files with more of it in data.train";
    if (has("Found null character"))
        return "the text has bytes of zero; remove them from the files of data.train";
    return "SentencePiece fails: " + message +
           "; name other files in data.train, or another data.vocab_size";
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
