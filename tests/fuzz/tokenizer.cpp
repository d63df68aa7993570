// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json, which then encodes texts; its own file is one of them.
#include "tests/fuzz/fuzz.h"
#include "trainer/train/data/text/bpe_tokenizer.h"

#include <vector>

using namespace rm;

namespace {

constexpr size_t kMostText = 2000;

void encode(const Tokenizer& tokenizer, std::string_view text) {
    std::vector<int32_t> ids;
    if (!tokenizer.encode(text, ids))
        return;
    for (const int32_t id : ids)
        RM_HOLDS(id >= 0 && id < tokenizer.vocabSize());
    const std::string again = tokenizer.decode(ids);
    RM_HOLDS(!ids.empty() || again.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string file(fuzz::text(data, size));
    const auto tokenizer = makeBpeTokenizer(file);
    if (!tokenizer)
        return 0;
    RM_HOLDS((*tokenizer)->files().front().second == file);
    encode(**tokenizer, "It's 1984:\r\n\n  <|endoftext|> caf\u00e9 \u6f22\u5b57 \xff\xc3");
    encode(**tokenizer, std::string(300, 'a') + std::string(300, ' ') + "b");
    encode(**tokenizer, file.substr(0, kMostText));
    return 0;
}
