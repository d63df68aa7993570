// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/translation_search.h"

#include "trainer/train/workloads/translation/beam_search.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <limits>

namespace rm {
namespace {

using Translations = std::vector<std::vector<int32_t>>;

constexpr double kNever = -std::numeric_limits<double>::infinity();
/// Finished rows are still computed until so few others are left that copying the cache pays off.
constexpr double kWorthCopying = 0.75;

std::vector<int64_t> toHost(const at::Tensor& tensor) {
    const at::Tensor host = tensor.to(at::kCPU, at::kLong).contiguous();
    const auto* begin = host.const_data_ptr<int64_t>();
    return {begin, begin + host.numel()};
}

/// The hypotheses that go on, one a row.
class GreedySearch {
public:
    GreedySearch(const Translation& model, Translation::Cache cache, int64_t rows)
        : m_model(model)
        , m_cache(std::move(cache))
        , m_sentences(static_cast<size_t>(rows))
        , m_found(static_cast<size_t>(rows)) {
        for (size_t i = 0; i < m_sentences.size(); ++i)
            m_sentences[i] = static_cast<int64_t>(i);
        m_left = rows;
    }

    /// One token more for every row; false when all have ended.
    bool step(at::Tensor& tokens) {
        at::Tensor logits = m_model.next(tokens, m_cache);
        logits.select(1, kPadId).fill_(kNever);
        tokens = logits.argmax(1);
        take(toHost(tokens));
        const auto rows = static_cast<double>(m_sentences.size());
        if (m_left > 0 && static_cast<double>(m_left) <= kWorthCopying * rows)
            compact(tokens);
        return m_left > 0;
    }

    Translations take() { return std::move(m_found); }

private:
    static constexpr int64_t kEnded = -1;

    void take(const std::vector<int64_t>& tokens) {
        for (size_t row = 0; row < tokens.size(); ++row) {
            if (m_sentences[row] == kEnded)
                continue;
            if (tokens[row] == kEndId) {
                m_sentences[row] = kEnded;
                --m_left;
            } else {
                m_found[static_cast<size_t>(m_sentences[row])].push_back(
                    static_cast<int32_t>(tokens[row]));
            }
        }
    }

    void compact(at::Tensor& tokens) {
        std::vector<int64_t> rows;
        for (size_t row = 0; row < m_sentences.size(); ++row)
            if (m_sentences[row] != kEnded)
                rows.push_back(static_cast<int64_t>(row));
        std::erase(m_sentences, kEnded);
        const at::Tensor kept = at::tensor(rows, at::kLong).to(tokens.device());
        Translation::selectRows(m_cache, kept);
        tokens = tokens.index_select(0, kept);
    }

    const Translation& m_model;
    Translation::Cache m_cache;
    std::vector<int64_t> m_sentences; ///< by row
    Translations m_found;
    int64_t m_left = 0;
};

at::Tensor firstTokens(int64_t rows, at::Device device) {
    return at::full({rows}, kPadId, at::TensorOptions(at::kLong).device(device));
}

Translations greedily(const Translation& model, Translation::Cache cache, int64_t rows,
                      at::Device device, int64_t maxTokens) {
    GreedySearch search(model, std::move(cache), rows);
    at::Tensor tokens = firstTokens(rows, device);
    for (int64_t i = 0; i < maxTokens; ++i)
        if (!search.step(tokens))
            break;
    return search.take();
}

Translations byBeams(const Translation& model, Translation::Cache cache, int64_t rows,
                     at::Device device, const SearchSettings& settings) {
    const auto repeated = at::arange(rows, at::TensorOptions(at::kLong).device(device))
                              .repeat_interleave(settings.beams);
    Translation::selectRows(cache, repeated);
    BeamSearch search(rows, settings);
    at::Tensor tokens = firstTokens(rows * settings.beams, device);
    while (!search.isDone()) {
        const BeamSearch::Next next = search.advance(model.next(tokens, cache));
        if (search.isDone())
            break;
        Translation::selectRows(cache, next.rows);
        tokens = next.tokens;
    }
    return search.best();
}

} // namespace

std::vector<std::vector<int32_t>> translate(const Translation& model, const at::Tensor& source,
                                            const at::Tensor& mask,
                                            const SearchSettings& settings) {
    const at::NoGradGuard noGrad;
    const at::Tensor memory = model.encode(source, mask, false);
    auto cache = model.startCache(memory, mask, settings.maxTokens);
    if (settings.beams == 1)
        return greedily(model, std::move(cache), source.size(0), source.device(),
                        settings.maxTokens);
    return byBeams(model, std::move(cache), source.size(0), source.device(), settings);
}

} // namespace rm
