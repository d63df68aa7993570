// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/translation_search.h"

namespace rm {

/// The hypotheses of a beam search over several sentences at once. A row is a running hypothesis; a
/// sentence has SearchSettings::beams rows until it is done.
///
/// Of a sentence's 2 x beams likeliest continuations, those among the first `beams` that end become
/// finished hypotheses; the likeliest others keep running. A sentence is done at maxTokens, or when
/// it has `beams` finished hypotheses and no running one scores higher than any of them.
class BeamSearch {
public:
    BeamSearch(int64_t sentences, const SearchSettings& settings);

    struct Next {
        at::Tensor rows;   ///< the row that each new one continues (int64)
        at::Tensor tokens; ///< the token that it adds
    };
    /// Takes the logits (rows, V) of each row's next token. Without rows when isDone() afterwards.
    Next advance(const at::Tensor& logits);

    bool isDone() const { return m_active.empty(); }

    /// The best hypotheses by sentence, without kEndId; to be called when all are done.
    std::vector<std::vector<int32_t>> best() const;

private:
    struct Hypothesis {
        std::vector<int32_t> tokens;
        double score = 0; ///< going on: log-probability; finished: over the length's power
    };
    struct Sentence {
        std::vector<Hypothesis> finished; ///< best first, at most as many as beams
        std::vector<Hypothesis> running;  ///< likeliest first
    };
    struct Candidate {
        double score;
        int64_t beam;
        int32_t token;
    };

    double lengthPower() const;
    void advance(Sentence& sentence, const std::vector<Candidate>& candidates,
                 std::vector<int64_t>& parents);
    void finish(Sentence& sentence, Hypothesis hypothesis) const;
    bool isDone(const Sentence& sentence) const;
    at::Tensor runningScores(at::Device device) const;

    SearchSettings m_settings;
    std::vector<Sentence> m_sentences;
    std::vector<size_t> m_active; ///< sentences that are not done, in the order of their rows
    int64_t m_length = 0;         ///< tokens of every hypothesis that goes on
};

} // namespace rm
