// SPDX-License-Identifier: Apache-2.0
// tokenizer_dump TOKENIZER_JSON TEXT...: the ids of each file and whether they are the text again,
// as a JSON list of {"ids", "again"}.
#include "shared/io/file.h"
#include "trainer/train/data/text/bpe_tokenizer.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace rm;

namespace {

Result<nlohmann::json> idsOf(const Tokenizer& tokenizer, const std::string& path) {
    const auto text = readFile(path);
    if (!text)
        return tl::unexpected(text.error());
    std::vector<int32_t> ids;
    if (const auto done = tokenizer.encode(*text, ids); !done)
        return tl::unexpected(done.error());
    return nlohmann::json{{"again", tokenizer.decode(ids) == *text}, {"ids", ids}};
}

} // namespace

int main(int argc, char** argv) {
    const auto tokenizer = readFile(argc > 1 ? argv[1] : "").and_then(makeBpeTokenizer);
    if (!tokenizer) {
        std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
        return 2;
    }
    nlohmann::json all = nlohmann::json::array();
    for (int i = 2; i < argc; ++i) {
        const auto ids = idsOf(**tokenizer, argv[i]);
        if (!ids) {
            std::fprintf(stderr, "%s\n", ids.error().message.c_str());
            return 2;
        }
        all.push_back(*ids);
    }
    std::puts(all.dump().c_str());
    return 0;
}
