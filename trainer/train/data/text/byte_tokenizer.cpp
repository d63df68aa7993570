// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/data/text/bpe_tokenizer.h"
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/data/text/tokenizer_json.h"

#include <nlohmann/json.hpp>

namespace rm {
namespace {

constexpr int64_t kByteCount = 256;

class ByteTokenizer final : public Tokenizer {
public:
    int64_t vocabSize() const override { return kByteCount; }

    Result<void> encode(std::string_view text, std::vector<int32_t>& ids) const override {
        for (const char c : text)
            ids.push_back(static_cast<uint8_t>(c));
        return {};
    }

    std::string decode(const std::vector<int32_t>& ids) const override {
        std::string text;
        for (const int32_t id : ids)
            text.push_back(static_cast<char>(id));
        return text;
    }

    std::string serialized() const override { return {}; }

    std::vector<std::pair<std::string, std::string>> files() const override {
        return {{"tokenizer.json", byteTokenizerJson()},
                {"tokenizer_config.json", tokenizerConfigJson("bytes", kByteCount)}};
    }
};

} // namespace

Result<void>
encodeInParts(const Tokenizer& tokenizer, std::string_view text,
              const std::function<Result<void>(const std::vector<int32_t>& ids)>& take) {
    constexpr size_t kPart = 1 << 20;
    std::vector<int32_t> ids;
    while (!text.empty()) {
        size_t size = lengthOfPart(text, kPart);
        if (size < text.size())
            if (const size_t line = text.substr(0, 2 * kPart).find('\n', kPart);
                line != std::string_view::npos)
                size = line + 1;
        ids.clear();
        RM_RETURN_IF_ERROR(tokenizer.encode(text.substr(0, size), ids));
        RM_RETURN_IF_ERROR(take(ids));
        text.remove_prefix(size);
    }
    return {};
}

std::unique_ptr<Tokenizer> makeByteTokenizer() {
    return std::make_unique<ByteTokenizer>();
}

Result<std::unique_ptr<Tokenizer>> makeTokenizer(const RunSpec::Data& data,
                                                 const std::string& serialized) {
    if (data.tokenizer == "bytes")
        return makeByteTokenizer();
    if (data.tokenizer == "tokenizer.json")
        return makeBpeTokenizer(serialized);
    return makeSentencePieceTokenizer(serialized);
}

const char* tokenizerModelFile(const RunSpec::Data& data) {
    if (data.tokenizer == "bytes")
        return nullptr;
    return data.tokenizer == "tokenizer.json" ? "tokenizer.json" : "tokenizer.model";
}

std::string toValidUtf8(std::string_view text) {
    // nlohmann's serializer knows UTF-8; its quotes and escapes are undone by parsing again.
    using nlohmann::json;
    const std::string quoted =
        json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

} // namespace rm
