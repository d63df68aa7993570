// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/added_tokens.h"

#include "shared/return_if_error.h"
#include "trainer/train/data/text/byte_pairs.h"
#include "trainer/train/data/text/tokenizer_fields.h"

#include <algorithm>
#include <set>

namespace rm {
namespace {

constexpr size_t kMostContent = 256; ///< bytes; limits the search at each byte of a text

Result<AddedToken> readToken(const Json& json, const std::string& path) {
    RM_RETURN_IF_ERROR(demandKeys(
        json, path, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
    AddedToken token;
    token.content = textAt(json, "content").value_or("");
    if (token.content.empty() || token.content.size() > kMostContent)
        return unsupported(path + ".content", fieldOf(json, "content"),
                           "a text of 1 to " + std::to_string(kMostContent) + " bytes");
    const auto id = intAt(json, "id");
    if (!id || *id < 0 || *id >= kMostTokens)
        return unsupported(path + ".id", fieldOf(json, "id"),
                           "a whole number below " + std::to_string(kMostTokens));
    token.id = static_cast<int32_t>(*id);
    for (const char* key : {"single_word", "lstrip", "rstrip"})
        if (const auto set = switchOf(json, path, key, false); !set || *set)
            return unsupported(path + "." + key, fieldOf(json, key), "false");
    const auto special = switchOf(json, path, "special", false);
    RM_ASSIGN_OR_RETURN(const auto normalized,
                        special ? switchOf(json, path, "normalized", !*special) : special);
    token.isNormalized = normalized;
    return token;
}

} // namespace

Result<std::vector<AddedToken>>
readAddedTokens(const Json& list, const std::unordered_map<std::string, int32_t>& vocab) {
    std::vector<AddedToken> tokens;
    if (list.is_null())
        return tokens;
    if (!list.is_array())
        return unsupported("added_tokens", list, "a list");
    auto next = static_cast<int64_t>(vocab.size());
    std::set<std::string> known;
    for (const Json& json : list) {
        const std::string path = "added_tokens[" + std::to_string(tokens.size()) + "]";
        RM_ASSIGN_OR_RETURN(auto token, readToken(json, path));
        if (!known.insert(token.content).second)
            return unsupported(path + ".content", token.content, "a text that stands there once");
        const auto ofModel = vocab.find(token.content);
        const int64_t expected = ofModel == vocab.end() ? next : ofModel->second;
        if (token.id != expected)
            return unsupported(path + ".id", token.id,
                               std::to_string(expected) + " for " + token.content +
                                   ": the model's id of this text, else the next one");
        next = std::max<int64_t>(next, token.id + 1);
        tokens.push_back(std::move(token));
    }
    return tokens;
}

TokenFinder::TokenFinder(std::vector<AddedToken> tokens)
    : m_tokens(std::move(tokens)) {
    std::ranges::sort(m_tokens, {}, &AddedToken::content);
    for (const AddedToken& token : m_tokens)
        m_begins[static_cast<uint8_t>(token.content[0])] = true;
}

/// The longest token with which `text` begins.
const AddedToken* TokenFinder::longestAt(std::string_view text) const {
    const AddedToken* longest = nullptr;
    auto first = m_tokens.begin();
    auto last = m_tokens.end();
    for (size_t depth = 0; first != last; ++depth) {
        if (first->content.size() == depth) // of tokens with one prefix the shortest is first
            longest = &*first++;
        if (depth == text.size())
            break;
        const auto byteAt = [depth](const AddedToken& token) {
            return static_cast<uint8_t>(token.content[depth]);
        };
        const auto byte = static_cast<uint8_t>(text[depth]);
        first = std::ranges::lower_bound(first, last, byte, {}, byteAt);
        last = std::ranges::upper_bound(first, last, byte, {}, byteAt);
    }
    return longest;
}

Result<void> TokenFinder::forEachPart(std::string_view text, const Part& each) const {
    size_t done = 0;
    for (size_t at = 0; at < text.size();) {
        const bool mayBegin = m_begins[static_cast<uint8_t>(text[at])];
        const AddedToken* token = mayBegin ? longestAt(text.substr(at)) : nullptr;
        if (!token) {
            ++at;
            continue;
        }
        if (at > done)
            if (auto before = each(text.substr(done, at - done), nullptr); !before)
                return before;
        if (auto found = each(token->content, token); !found)
            return found;
        done = at += token->content.size();
    }
    return done == text.size() ? Result<void>() : each(text.substr(done), nullptr);
}

} // namespace rm
