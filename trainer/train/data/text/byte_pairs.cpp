// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/byte_pairs.h"

#include "shared/return_if_error.h"
#include "trainer/train/data/text/tokenizer_fields.h"
#include "trainer/train/data/text/tokenizer_json.h"

#include <queue>

#include <algorithm>
#include <tuple>

namespace rm {
namespace {

/// A token while a word is being merged; part of a doubly linked list.
struct Symbol {
    int32_t id;             ///< -1: merged into the one before
    int64_t previous, next; ///< -1: none
};

/// A merge that was possible when it was queued.
struct Candidate {
    uint32_t rank;
    int64_t at; ///< place of the left token in the word
    int32_t id;
    bool operator>(const Candidate& other) const {
        return std::tie(rank, at) > std::tie(other.rank, other.at);
    }
};

/// Refuses options that would change the ids.
Result<void> demandPlainModel(const Json& model) {
    if (const auto known = demandKeys(model, "model",
                                      {"type", "dropout", "unk_token", "continuing_subword_prefix",
                                       "end_of_word_suffix", "fuse_unk", "byte_fallback",
                                       "ignore_merges", "vocab", "merges"});
        !known)
        return known;
    const Json& type = fieldOf(model, "type"); // old files have none
    if (!type.is_null() && type != "BPE")
        return unsupported("model.type", type, R"("BPE")");
    if (const Json& dropout = fieldOf(model, "dropout"); !dropout.is_null() && dropout != 0.0)
        return unsupported("model.dropout", dropout, "null");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (const Json& text = fieldOf(model, key); !text.is_null() && text != "")
            return unsupported(std::string("model.") + key, text, "null");
    if (const Json& fallback = fieldOf(model, "byte_fallback");
        !fallback.is_null() && fallback != false)
        return unsupported("model.byte_fallback", fallback, "false");
    return {};
}

} // namespace

Result<BytePairs> BytePairs::parse(const Json& model) {
    RM_RETURN_IF_ERROR(demandPlainModel(model));
    BytePairs pairs;
    RM_ASSIGN_OR_RETURN(const auto ignores, switchOf(model, "model", "ignore_merges", false));
    pairs.m_ignoresMerges = ignores;
    RM_RETURN_IF_ERROR(pairs.readVocab(fieldOf(model, "vocab")));
    RM_RETURN_IF_ERROR(pairs.readMerges(fieldOf(model, "merges")));
    const bool hasAll = std::ranges::find(pairs.m_bytes, -1) == pairs.m_bytes.end();
    if (const Json& unknown = fieldOf(model, "unk_token"); !unknown.is_null() && !hasAll)
        return unsupported("model.unk_token", unknown,
                           "null, where the vocabulary lacks some of the 256 bytes");
    return pairs;
}

Result<void> BytePairs::readVocab(const Json& vocab) {
    if (!vocab.is_object() || vocab.empty())
        return unsupported("model.vocab", vocab, "an object of tokens and their ids");
    std::vector<bool> taken;
    for (const auto& [token, id] : vocab.items()) {
        const bool isId = id.is_number_unsigned() && id.get<uint64_t>() < uint64_t(kMostTokens);
        if (!isId)
            return unsupported("model.vocab[\"" + token + "\"]", id,
                               "a whole number below " + std::to_string(kMostTokens));
        const auto value = id.get<size_t>();
        taken.resize(std::max(taken.size(), value + 1));
        if (taken[value])
            return unsupported("model.vocab[\"" + token + "\"]", id, "an id of one token only");
        taken[value] = true;
        m_ids.emplace(token, static_cast<int32_t>(value));
    }
    const auto characters = byteLevelCharacters();
    for (size_t byte = 0; byte < m_bytes.size(); ++byte) {
        const auto at = m_ids.find(characters[byte]);
        m_bytes[byte] = at == m_ids.end() ? -1 : at->second;
    }
    return {};
}

Result<void> BytePairs::readMerges(const Json& merges) {
    if (!merges.is_array())
        return unsupported("model.merges", merges, "a list of pairs");
    m_merges.reserve(merges.size());
    for (size_t i = 0; i < merges.size(); ++i)
        if (const auto read = readMerge(merges[i], static_cast<uint32_t>(i)); !read)
            return read;
    return {};
}

Result<void> BytePairs::readMerge(const Json& merge, uint32_t rank) {
    std::string left, right;
    if (merge.is_string()) {
        const auto text = merge.get<std::string>();
        const size_t space = text.find(' ');
        left = text.substr(0, space);
        right = space == text.npos ? "" : text.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
    }
    const auto first = m_ids.find(left);
    const auto second = m_ids.find(right);
    const auto both = m_ids.find(left + right);
    if (left.empty() || right.empty() || first == m_ids.end() || second == m_ids.end() ||
        both == m_ids.end())
        return unsupported("model.merges[" + std::to_string(rank) + "]", merge,
                           "two tokens of the vocabulary whose texts together are a third");
    // If a pair is listed twice, the second counts, as in `tokenizers`.
    m_merges[uint64_t(uint32_t(first->second)) << 32 | uint32_t(second->second)] = {rank,
                                                                                    both->second};
    return {};
}

const BytePairs::Merge* BytePairs::mergeOf(int32_t left, int32_t right) const {
    const auto at = m_merges.find(uint64_t(uint32_t(left)) << 32 | uint32_t(right));
    return at == m_merges.end() ? nullptr : &at->second;
}

std::optional<int32_t> BytePairs::wholeWord(std::string_view word) const {
    static const std::vector<std::string> characters = byteLevelCharacters();
    std::string spelt;
    for (const char byte : word)
        spelt += characters[static_cast<uint8_t>(byte)];
    const auto at = m_ids.find(spelt);
    return at == m_ids.end() ? std::nullopt : std::optional(at->second);
}

void BytePairs::encode(std::string_view word, std::vector<int32_t>& ids) const {
    if (m_ignoresMerges)
        if (const auto whole = wholeWord(word))
            return ids.push_back(*whole);
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    for (const char byte : word)
        if (const int32_t id = m_bytes[static_cast<uint8_t>(byte)]; id >= 0) {
            const auto at = static_cast<int64_t>(symbols.size());
            symbols.push_back({id, at - 1, at + 1});
        }
    if (symbols.empty())
        return;
    symbols.back().next = -1;
    const auto symbol = [&](int64_t at) -> Symbol& { return symbols[static_cast<size_t>(at)]; };
    const auto mergeAt = [&](int64_t at) {
        const int64_t next = at < 0 ? -1 : symbol(at).next;
        return next < 0 ? nullptr : mergeOf(symbol(at).id, symbol(next).id);
    };
    std::vector<Candidate> first;
    for (int64_t at = 0; at < static_cast<int64_t>(symbols.size()); ++at)
        if (const Merge* merge = mergeAt(at))
            first.push_back({merge->rank, at, merge->id});
    std::priority_queue candidates(std::greater<>(), std::move(first));
    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        // Its neighbours may have changed since it was queued.
        const Merge* still = symbol(best.at).id < 0 ? nullptr : mergeAt(best.at);
        if (!still || still->id != best.id)
            continue;
        Symbol& left = symbol(best.at);
        Symbol& right = symbol(left.next);
        left.id = best.id;
        left.next = right.next;
        right.id = -1;
        if (left.next >= 0)
            symbol(left.next).previous = best.at;
        for (const int64_t at : {left.previous, best.at})
            if (const Merge* merge = mergeAt(at))
                candidates.push({merge->rank, at, merge->id});
    }
    for (int64_t at = 0; at >= 0; at = symbol(at).next)
        ids.push_back(symbol(at).id);
}

} // namespace rm
