// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/bpe_tokenizer.h"

#include "shared/io/data_files.h"
#include "shared/return_if_error.h"
#include "trainer/train/data/text/added_tokens.h"
#include "trainer/train/data/text/byte_pairs.h"
#include "trainer/train/data/text/pre_tokenizer.h"
#include "trainer/train/data/text/tokenizer_fields.h"
#include "trainer/train/data/text/tokenizer_json.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace rm {
namespace {

constexpr size_t kMostFile = 128 << 20; ///< bytes
constexpr size_t kMostCached = 1 << 16; ///< words
constexpr size_t kLongestCached = 64;   ///< bytes of a word

bool isAscii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

/// The canonical composed form (NFC) of valid UTF-8.
std::string composed(std::string_view text) {
    if (isAscii(text))
        return std::string(text);
    utf8proc_uint8_t* made = nullptr;
    const auto size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &made,
                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (size < 0) // out of memory: the text is valid
        throw std::bad_alloc();
    const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(made, &std::free);
    return {reinterpret_cast<const char*>(made), static_cast<size_t>(size)};
}

/// Bytes by the character that GPT-2 shows for them.
std::unordered_map<std::string, char> bytesByCharacter() {
    std::unordered_map<std::string, char> bytes;
    const auto characters = byteLevelCharacters();
    for (size_t byte = 0; byte < characters.size(); ++byte)
        bytes.emplace(characters[byte], static_cast<char>(byte));
    return bytes;
}

/// The bytes of a token; its own text if that is not spelt in these characters.
std::string bytesOf(const std::string& token, const std::unordered_map<std::string, char>& bytes) {
    std::string text;
    for (size_t at = 0; at < token.size();) {
        const size_t size = static_cast<uint8_t>(token[at]) < 0x80 ? 1 : 2;
        const auto byte = bytes.find(token.substr(at, size));
        if (byte == bytes.end())
            return token;
        text.push_back(byte->second);
        at += size;
    }
    return text;
}

/// The tokens of words met in this text already.
class WordCache {
public:
    explicit WordCache(const BytePairs& pairs)
        : m_pairs(pairs) {}

    void encode(std::string_view word, std::vector<int32_t>& ids) {
        if (word.size() > kLongestCached)
            return m_pairs.encode(word, ids);
        m_word = word;
        auto known = m_words.find(m_word);
        if (known == m_words.end()) {
            std::vector<int32_t> fresh;
            m_pairs.encode(word, fresh);
            if (m_words.size() == kMostCached)
                m_words.clear();
            known = m_words.emplace(m_word, std::move(fresh)).first;
        }
        ids.insert(ids.end(), known->second.begin(), known->second.end());
    }

private:
    const BytePairs& m_pairs;
    std::unordered_map<std::string, std::vector<int32_t>> m_words;
    std::string m_word; ///< keeps its memory from one word to the next
};

/// All of a tokenizer.json that encoding needs.
struct Parts {
    BytePairs pairs;
    PreTokenizer preTokenizer;
    std::vector<AddedToken> added;
    bool composes = false; ///< NFC
};

Result<bool> readNormalizer(const Json& normalizer) {
    const auto type = normalizer.is_object() ? textAt(normalizer, "type") : std::nullopt;
    if (normalizer.is_null())
        return false;
    if (type == "NFC" && normalizer.size() == 1)
        return true;
    if (type == "Sequence" && fieldOf(normalizer, "normalizers") == Json::array())
        return false;
    return unsupported("normalizer", normalizer, R"(null or {"type": "NFC"})");
}

/// Post-processors add only special tokens, which are left out.
Result<void> demandPostProcessor(const Json& json) {
    const std::string type = json.is_object() ? textAt(json, "type").value_or("") : "";
    bool isKnown = json.is_null() || type == "ByteLevel" || type == "TemplateProcessing";
    if (const Json* all = type == "Sequence" ? arrayAt(json, "processors") : nullptr)
        isKnown = std::ranges::all_of(*all, [](const Json& one) {
            const std::string kind = one.is_object() ? textAt(one, "type").value_or("") : "";
            return kind == "ByteLevel" || kind == "TemplateProcessing";
        });
    if (isKnown)
        return {};
    return unsupported("post_processor", json, "null, ByteLevel, TemplateProcessing or a Sequence");
}

Result<void> demandPlainFile(const Json& json) {
    if (const auto known =
            demandKeys(json, "its content",
                       {"version", "truncation", "padding", "added_tokens", "normalizer",
                        "pre_tokenizer", "post_processor", "decoder", "model"});
        !known)
        return known;
    for (const char* key : {"truncation", "padding"})
        if (const Json& value = fieldOf(json, key); !value.is_null())
            return unsupported(key, value, "null");
    const Json& decoder = fieldOf(json, "decoder");
    if (!decoder.is_object() || textAt(decoder, "type") != "ByteLevel")
        return unsupported("decoder", decoder, R"({"type": "ByteLevel"})");
    return demandPostProcessor(fieldOf(json, "post_processor"));
}

Result<Parts> readParts(const Json& json) {
    RM_RETURN_IF_ERROR(demandPlainFile(json));
    RM_ASSIGN_OR_RETURN(const auto composes, readNormalizer(fieldOf(json, "normalizer")));
    RM_ASSIGN_OR_RETURN(auto preTokenizer, PreTokenizer::parse(fieldOf(json, "pre_tokenizer")));
    const Json& model = fieldOf(json, "model");
    if (!model.is_object())
        return unsupported("model", model, "an object of type BPE");
    RM_ASSIGN_OR_RETURN(auto pairs, BytePairs::parse(model));
    RM_ASSIGN_OR_RETURN(auto added, readAddedTokens(fieldOf(json, "added_tokens"), pairs.vocab()));
    if (composes)
        for (AddedToken& token : added)
            if (token.isNormalized)
                token.content = composed(token.content);
    return Parts{std::move(pairs), std::move(preTokenizer), std::move(added), composes};
}

std::vector<AddedToken> tokensWhere(const std::vector<AddedToken>& tokens, bool isNormalized) {
    std::vector<AddedToken> chosen;
    std::ranges::copy_if(tokens, std::back_inserter(chosen), [&](const AddedToken& token) {
        return token.isNormalized == isNormalized;
    });
    return chosen;
}

class BpeTokenizer final : public Tokenizer {
public:
    BpeTokenizer(std::string json, Parts parts)
        : m_json(std::move(json))
        , m_parts(std::move(parts))
        , m_raw(tokensWhere(m_parts.added, false))
        , m_normalized(tokensWhere(m_parts.added, true)) {
        const auto bytes = bytesByCharacter();
        for (const auto& [token, id] : m_parts.pairs.vocab())
            textOf(id) = bytesOf(token, bytes);
        for (const AddedToken& token : m_parts.added)
            textOf(token.id) = bytesOf(token.content, bytes);
    }

    int64_t vocabSize() const override { return static_cast<int64_t>(m_texts.size()); }

    Result<void> encode(std::string_view text, std::vector<int32_t>& ids) const override {
        WordCache words(m_parts.pairs);
        const auto merge = [&](std::string_view part) {
            return m_parts.preTokenizer.forEachWord(
                part, [&](std::string_view word) { words.encode(word, ids); });
        };
        const auto orToken = [&](const auto& otherwise) {
            return [&](std::string_view part, const AddedToken* token) -> Result<void> {
                if (!token)
                    return otherwise(part);
                ids.push_back(token->id);
                return {};
            };
        };
        const auto normalize = [&](std::string_view part) -> Result<void> {
            if (!m_parts.composes)
                return m_normalized.forEachPart(part, orToken(merge));
            return m_normalized.forEachPart(composed(part), orToken(merge));
        };
        if (isUtf8(text))
            return m_raw.forEachPart(text, orToken(normalize));
        return m_raw.forEachPart(toValidUtf8(text), orToken(normalize));
    }

    std::string decode(const std::vector<int32_t>& ids) const override {
        std::string text;
        for (const int32_t id : ids)
            if (id >= 0 && id < vocabSize()) // a model may have rows for ids that no token has
                text += m_texts[static_cast<size_t>(id)];
        return text;
    }

    std::string serialized() const override { return m_json; }

    std::vector<std::pair<std::string, std::string>> files() const override {
        return {{"tokenizer.json", m_json},
                {"tokenizer_config.json", tokenizerConfigJson("tokenizer.json", vocabSize())}};
    }

private:
    std::string& textOf(int32_t id) {
        const auto at = static_cast<size_t>(id);
        m_texts.resize(std::max(m_texts.size(), at + 1));
        return m_texts[at];
    }

    std::string m_json;
    Parts m_parts;
    TokenFinder m_raw;
    TokenFinder m_normalized;
    std::vector<std::string> m_texts; ///< by id
};

} // namespace

Result<std::unique_ptr<Tokenizer>> makeBpeTokenizer(const std::string& json) {
    if (json.size() > kMostFile)
        return fail(ErrorCode::kInvalid, "read tokenizer.json: it has " +
                                             std::to_string(json.size()) +
                                             " bytes; supported are " + std::to_string(kMostFile));
    if (const std::string why = whyNotFetched(json); !why.empty())
        return fail(ErrorCode::kCorrupt, "read tokenizer.json: " + why);
    RM_ASSIGN_OR_RETURN(const auto parsed, parseJson(json, "tokenizer.json"));
    RM_ASSIGN_OR_RETURN(auto parts, readParts(parsed));
    return std::make_unique<BpeTokenizer>(json, std::move(parts));
}

} // namespace rm
