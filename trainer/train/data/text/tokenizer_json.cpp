// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/tokenizer_json.h"

#include "shared/io/json.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace rm {
namespace {

constexpr const char* kSpace = "\u2581";
constexpr int kBytes = 256;

std::string utf8(int codePoint) { // below U+0800
    if (codePoint < 0x80)
        return {static_cast<char>(codePoint)};
    return {static_cast<char>(0xc0 | (codePoint >> 6)),
            static_cast<char>(0x80 | (codePoint & 0x3f))};
}

Json byteLevel() {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", false}};
}

Json replaced(const char* from, const char* to) {
    return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

Json bpe(Json vocab, Json merges) {
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", std::move(vocab)},
            {"merges", std::move(merges)}};
}

Json tokenizer(Json model) {
    return {{"version", "1.0"},          {"truncation", nullptr},
            {"padding", nullptr},        {"added_tokens", Json::array()},
            {"normalizer", nullptr},     {"pre_tokenizer", nullptr},
            {"post_processor", nullptr}, {"decoder", nullptr},
            {"model", std::move(model)}};
}

/// All ways to merge two pieces into another, in the order in which they are tried.
Json mergesOf(const std::vector<BpePiece>& pieces) {
    std::unordered_map<std::string_view, size_t> ids;
    for (size_t id = 0; id < pieces.size(); ++id)
        if (pieces[id].kind == BpePiece::Kind::kMerged)
            ids.emplace(pieces[id].text, id);
    struct Merge {
        float score;
        size_t left, right;
    };
    std::vector<Merge> merges;
    for (const auto& [text, id] : ids)
        for (size_t cut = 1; cut < text.size(); ++cut) {
            const auto left = ids.find(text.substr(0, cut));
            const auto right = ids.find(text.substr(cut));
            if (left != ids.end() && right != ids.end())
                merges.push_back({pieces[id].score, left->second, right->second});
        }
    std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
        return std::tuple(-a.score, a.left, a.right) < std::tuple(-b.score, b.left, b.right);
    });
    Json json = Json::array();
    for (const Merge& merge : merges)
        json.push_back({pieces[merge.left].text, pieces[merge.right].text});
    return json;
}

/// A token that is searched for in a text before anything else.
Json wholeToken(size_t id, const std::string& text) {
    return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false}, {"special", false}};
}

} // namespace

std::vector<std::string> byteLevelCharacters() {
    std::vector<std::string> characters;
    int next = 0x100;
    for (int byte = 0; byte < kBytes; ++byte) {
        const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) ||
                            (byte >= 0xae && byte <= 0xff);
        characters.push_back(utf8(prints ? byte : next++));
    }
    return characters;
}

std::string byteTokenizerJson() {
    const auto characters = byteLevelCharacters();
    Json vocab = Json::object();
    for (int byte = 0; byte < kBytes; ++byte)
        vocab[characters[static_cast<size_t>(byte)]] = byte;
    Json json = tokenizer(bpe(std::move(vocab), Json::array()));
    json["pre_tokenizer"] = byteLevel();
    json["decoder"] = byteLevel();
    return json.dump(1) + "\n";
}

std::string bpeTokenizerJson(const std::vector<BpePiece>& pieces, const std::string& unknown) {
    Json vocab = Json::object();
    for (size_t id = 0; id < pieces.size(); ++id)
        vocab[pieces[id].text] = id;
    Json model = bpe(std::move(vocab), mergesOf(pieces));
    model["unk_token"] = unknown;
    model["fuse_unk"] = true;
    model["byte_fallback"] = true;
    Json json = tokenizer(std::move(model));
    for (size_t id = 0; id < pieces.size(); ++id)
        if (pieces[id].kind == BpePiece::Kind::kWhole)
            json["added_tokens"].push_back(wholeToken(id, pieces[id].text));
    json["normalizer"] = replaced(" ", kSpace);
    json["decoder"] = {
        {"type", "Sequence"},
        {"decoders", {replaced(kSpace, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}};
    return json.dump(1) + "\n";
}

std::string tokenizerConfigJson(const std::string& kind, int64_t vocabSize) {
    const nlohmann::ordered_json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                                           {"clean_up_tokenization_spaces", false},
                                           {"tokenizer", kind},
                                           {"vocab_size", vocabSize}};
    return config.dump(2) + "\n";
}

} // namespace rm
