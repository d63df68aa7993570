// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/fit_vocabulary.h"

#include <charconv>

namespace rm {
namespace {

/// The size that SentencePiece suggests; 0: the error is another one.
int64_t supportedSize(const std::string& message, int64_t tried) {
    constexpr std::string_view kBeforeSize = "Please set it to a value <= ";
    const size_t at = message.find(kBeforeSize);
    int64_t size = 0;
    if (at != std::string::npos)
        std::from_chars(message.data() + at + kBeforeSize.size(), message.data() + message.size(),
                        size);
    return size < tried ? size : 0;
}

} // namespace

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
