// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/beam_search.h"

#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rm {
namespace {

constexpr double kUnlikely = -1e9; ///< score of copies of the first hypothesis

std::vector<double> scoresOf(const at::Tensor& tensor) {
    const at::Tensor host = tensor.to(at::kCPU, at::kDouble).contiguous();
    const auto* begin = host.const_data_ptr<double>();
    return {begin, begin + host.numel()};
}

std::vector<int64_t> indicesOf(const at::Tensor& tensor) {
    const at::Tensor host = tensor.to(at::kCPU).contiguous();
    const auto* begin = host.const_data_ptr<int64_t>();
    return {begin, begin + host.numel()};
}

} // namespace

BeamSearch::BeamSearch(int64_t sentences, const SearchSettings& settings)
    : m_settings(settings)
    , m_sentences(static_cast<size_t>(sentences)) {
    for (size_t i = 0; i < m_sentences.size(); ++i) {
        m_active.push_back(i);
        m_sentences[i].running.resize(static_cast<size_t>(settings.beams), {{}, kUnlikely});
        m_sentences[i].running.front().score = 0;
    }
}

double BeamSearch::lengthPower() const {
    return std::pow(static_cast<double>(m_length), m_settings.lengthPenalty);
}

at::Tensor BeamSearch::runningScores(at::Device device) const {
    std::vector<double> scores;
    for (const size_t index : m_active)
        for (const Hypothesis& hypothesis : m_sentences[index].running)
            scores.push_back(hypothesis.score);
    return at::tensor(scores, at::kFloat).to(device).unsqueeze(1); // (rows, 1)
}

BeamSearch::Next BeamSearch::advance(const at::Tensor& logits) {
    const int64_t beams = m_settings.beams;
    const int64_t vocab = logits.size(1);
    at::Tensor scores = at::log_softmax(logits.to(at::kFloat), 1) + runningScores(logits.device());
    scores.select(1, kPadId).fill_(-std::numeric_limits<double>::infinity());
    const auto sentences = static_cast<int64_t>(m_active.size());
    const auto [best, places] = at::topk(scores.view({sentences, beams * vocab}), 2 * beams);
    const std::vector<double> bestScores = scoresOf(best);
    const std::vector<int64_t> bestPlaces = indicesOf(places);
    ++m_length;

    std::vector<size_t> active;
    std::vector<int64_t> rows;
    std::vector<int64_t> tokens;
    for (size_t i = 0; i < m_active.size(); ++i) {
        Sentence& sentence = m_sentences[m_active[i]];
        std::vector<Candidate> candidates;
        for (size_t k = 2 * i * size_t(beams); k < 2 * (i + 1) * size_t(beams); ++k)
            candidates.push_back({bestScores[k], bestPlaces[k] / vocab,
                                  static_cast<int32_t>(bestPlaces[k] % vocab)});
        std::vector<int64_t> parents;
        advance(sentence, candidates, parents);
        if (isDone(sentence))
            continue;
        active.push_back(m_active[i]);
        for (size_t beam = 0; beam < parents.size(); ++beam) {
            rows.push_back(static_cast<int64_t>(i) * beams + parents[beam]);
            tokens.push_back(sentence.running[beam].tokens.back());
        }
    }
    m_active = std::move(active);
    return {at::tensor(rows, at::kLong).to(logits.device()),
            at::tensor(tokens, at::kLong).to(logits.device())};
}

/// Splits the candidates, likeliest first, into finished and running hypotheses.
void BeamSearch::advance(Sentence& sentence, const std::vector<Candidate>& candidates,
                         std::vector<int64_t>& parents) {
    const auto beams = static_cast<size_t>(m_settings.beams);
    const bool last = m_length == m_settings.maxTokens;
    std::vector<Hypothesis> running;
    for (size_t place = 0; place < candidates.size(); ++place) {
        const Candidate& candidate = candidates[place];
        const bool ends = candidate.token == kEndId;
        Hypothesis next = sentence.running[static_cast<size_t>(candidate.beam)];
        next.score = candidate.score;
        if (!ends)
            next.tokens.push_back(candidate.token);
        if ((ends || last) && place < beams) {
            finish(sentence, std::move(next));
        } else if (!ends && running.size() < beams) {
            running.push_back(std::move(next));
            parents.push_back(candidate.beam);
        }
    }
    sentence.running = std::move(running);
}

void BeamSearch::finish(Sentence& sentence, Hypothesis hypothesis) const {
    hypothesis.score /= lengthPower();
    const auto at = std::ranges::upper_bound(sentence.finished, hypothesis.score, std::greater{},
                                             &Hypothesis::score);
    sentence.finished.insert(at, std::move(hypothesis));
    if (sentence.finished.size() > static_cast<size_t>(m_settings.beams))
        sentence.finished.pop_back();
}

bool BeamSearch::isDone(const Sentence& sentence) const {
    if (m_length == m_settings.maxTokens)
        return true;
    return sentence.finished.size() == static_cast<size_t>(m_settings.beams) &&
           sentence.running.front().score / lengthPower() <= sentence.finished.back().score;
}

std::vector<std::vector<int32_t>> BeamSearch::best() const {
    std::vector<std::vector<int32_t>> best;
    for (const Sentence& sentence : m_sentences)
        best.push_back(sentence.finished.front().tokens);
    return best;
}

} // namespace rm
