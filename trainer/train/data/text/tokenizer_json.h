// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// tokenizer.json as Hugging Face's tokenizers library reads it, so that AutoTokenizer gives the
/// ids that the model has learnt.

/// GPT-2's visible character for each byte: itself where it prints, else the next from U+0100 on.
std::vector<std::string> byteLevelCharacters();

/// The tokenizer.json of one token per byte, with the byte as its id.
std::string byteTokenizerJson();

/// A piece of a SentencePiece BPE model; its id is its place in the list.
struct BpePiece {
    enum class Kind {
        kMerged, ///< made by merging
        kWhole,  ///< found literally, before any merging
        kOther,  ///< <unk>, <s>, </s> and the bytes: never found in text
    };
    std::string text; ///< with U+2581 for each space
    float score = 0;  ///< merges with a higher score come first
    Kind kind = Kind::kOther;
};

/// The tokenizer.json of a SentencePiece BPE model that changes only spaces and has all bytes.
/// Gives the same ids as SentencePiece.
std::string bpeTokenizerJson(const std::vector<BpePiece>& pieces, const std::string& unknown);

/// The tokenizer_config.json beside it; `kind`: the value of data.tokenizer.
std::string tokenizerConfigJson(const std::string& kind, int64_t vocabSize);

} // namespace rm
