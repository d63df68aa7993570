// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace rm::test {

/// A tokenizer.json of byte-level BPE: the 256 bytes as ids 0 to 255, then what the merges make,
/// then <|endoftext|>.
inline nlohmann::json bpeJson(const std::vector<std::pair<std::string, std::string>>& merges) {
    nlohmann::json vocab = nlohmann::json::object();
    const auto characters = byteLevelCharacters();
    for (size_t byte = 0; byte < characters.size(); ++byte)
        vocab[characters[byte]] = byte;
    nlohmann::json pairs = nlohmann::json::array();
    for (const auto& [left, right] : merges) {
        if (!vocab.contains(left + right))
            vocab[left + right] = vocab.size();
        pairs.push_back(left + " " + right);
    }
    const nlohmann::json end = {{"id", vocab.size()},   {"content", "<|endoftext|>"},
                                {"single_word", false}, {"lstrip", false},
                                {"rstrip", false},      {"normalized", false},
                                {"special", true}};
    const nlohmann::json byteLevel = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
    return {
        {"version", "1.0"},      {"added_tokens", nlohmann::json::array({end})},
        {"normalizer", nullptr}, {"pre_tokenizer", byteLevel},
        {"decoder", byteLevel},  {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", pairs}}}};
}

} // namespace rm::test
