// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rm {

/// Converts text to token ids and back. For tokenizers made here decode(encode(text)) == text for
/// every text in UTF-8; others may normalize the text first.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    virtual int64_t vocabSize() const = 0;
    /// Appends to `ids`. Any thread. Fails only if a pattern of the tokenizer backtracks too often.
    virtual Result<void> encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
    virtual std::string decode(const std::vector<int32_t>& ids) const = 0;

    /// Everything that defines it: what rank 0 sends to the others, and part of cache keys.
    virtual std::string serialized() const = 0;
    /// (name, content) of its files in a checkpoint: its own, and an equivalent tokenizer.json if
    /// we can make one.
    virtual std::vector<std::pair<std::string, std::string>> files() const = 0;
};

/// Encodes a text of any length in parts of about a MiB that end with a line, so that memory and
/// time stay bounded; a line much longer than that is parted (lengthOfPart()).
Result<void>
encodeInParts(const Tokenizer& tokenizer, std::string_view text,
              const std::function<Result<void>(const std::vector<int32_t>& ids)>& take);

/// A tokenizer with one token for each byte.
std::unique_ptr<Tokenizer> makeByteTokenizer();

/// `model` is what serialized() gave: a SentencePiece model.
Result<std::unique_ptr<Tokenizer>> makeSentencePieceTokenizer(const std::string& model);

/// Learns a BPE vocabulary of at most `vocabSize` pieces from the files (no larger than the text
/// supports), with bytes for what it does not know. Deterministic.
Result<std::string> trainSentencePiece(const std::vector<std::string>& files, int64_t vocabSize);

/// Makes a tokenizer of the kind that `data.tokenizer` names from serialized(), which is empty for
/// bytes.
Result<std::unique_ptr<Tokenizer>> makeTokenizer(const RunSpec::Data& data,
                                                 const std::string& serialized);

/// Name of the tokenizer's own file in a checkpoint, whose content is serialized(); nullptr for
/// bytes, which have none.
const char* tokenizerModelFile(const RunSpec::Data& data);

/// For people: bytes that are not UTF-8 become U+FFFD.
std::string toValidUtf8(std::string_view text);

} // namespace rm
