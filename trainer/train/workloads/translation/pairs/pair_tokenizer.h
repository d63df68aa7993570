// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/text_files.h"
#include "trainer/train/workloads/translation/pairs/pair_corpus.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"

#include <memory>

namespace rm {

/// Ids that mean the same in both languages, as Marian has them.
inline constexpr int32_t kEndId = 0; ///< </s>, behind every sentence
inline constexpr int32_t kUnknownId = 1;
inline constexpr int32_t kPadId = 2; ///< also begins a translation

/// The SentencePiece vocabularies of two languages, or one for both. All calls may come from any
/// thread.
class PairTokenizer {
public:
    /// Makes it from SentencePiece models with the ids above; equal models become one vocabulary.
    static Result<PairTokenizer> load(const std::string& source, const std::string& target);

    /// Makes it from serialized().
    static Result<PairTokenizer> parse(const std::string& serialized);

    int64_t sourceVocab() const;
    int64_t targetVocab() const;
    bool isShared() const; ///< one vocabulary

    /// Ids with kEndId behind them.
    std::vector<int32_t> encodeSource(std::string_view text) const;
    std::vector<int32_t> encodeTarget(std::string_view text) const;
    std::string decodeTarget(const std::vector<int32_t>& ids) const;

    /// Everything that defines it, for other ranks and cache keys.
    std::string serialized() const;

    /// The files for transformers.MarianTokenizer. `longest` is the most tokens of a sentence.
    TextFiles files(int64_t longest, const PairLanguages& languages) const;

private:
    struct Vocabulary;
    static std::vector<int32_t> encode(const Vocabulary& vocabulary, std::string_view text);

    std::shared_ptr<const Vocabulary> m_source;
    std::shared_ptr<const Vocabulary> m_target; ///< the same one when shared
};

/// Learns BPE vocabularies of at most `vocabSize` pieces from a shard of texts (no larger than they
/// support), with bytes for what they do not know. Deterministic.
Result<PairTokenizer> learnPairTokenizer(const PairFile& texts, int64_t vocabSize, bool shared);

} // namespace rm
