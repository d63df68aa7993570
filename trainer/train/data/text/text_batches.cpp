// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/text_data.h"

#include <ATen/ops/empty.h>

namespace rm {
namespace {

/// Windows start at a new offset each epoch, so that a small text is not always cut at the same
/// places. If there are two windows or more, one is given up to make room for the offset.
int64_t windowCount(int64_t tokens, int64_t context) {
    const int64_t whole = (tokens - 1) / context;
    return whole > 1 ? (tokens - context) / context : whole;
}

} // namespace

TextBatches::TextBatches(const TokenStream& tokens, int64_t context, uint64_t seed)
    : m_tokens(tokens)
    , m_context(context)
    , m_seed(seed)
    , m_order(seed, windowCount(tokens.count(), context)) {}

Result<Batch> TextBatches::read(int64_t first, int64_t count) {
    std::vector<int64_t> starts;
    for (int64_t i = 0; i < count; ++i) {
        const SampleOrder::Place place = m_order.at(first + i);
        const int64_t room = m_tokens.count() - 1 - m_order.sampleCount() * m_context;
        const uint64_t shifts = static_cast<uint64_t>(std::min(room, m_context - 1)) + 1;
        const uint64_t shift = mixSeed(m_seed, static_cast<uint64_t>(place.epoch), 1) % shifts;
        starts.push_back(place.sample * m_context + static_cast<int64_t>(shift));
    }
    return readWindows(m_tokens, starts, m_context);
}

ValidationWindows validationWindows(const TokenStream& tokens, int64_t context, int64_t limit) {
    ValidationWindows windows;
    windows.context = std::min(context, tokens.count() - 1);
    if (windows.context < 1)
        return windows;
    const int64_t possible = (tokens.count() - 1) / windows.context;
    const int64_t count = std::min(limit, possible);
    for (int64_t i = 0; i < count; ++i)
        windows.starts.push_back(i * possible / count * windows.context);
    return windows;
}

Batch readWindows(const TokenStream& tokens, const std::vector<int64_t>& starts, int64_t context) {
    const auto rows = static_cast<int64_t>(starts.size());
    const at::Tensor window = at::empty({rows, context + 1}, at::kLong);
    auto* out = window.mutable_data_ptr<int64_t>();
    for (const int64_t start : starts) {
        tokens.read(start, context + 1, out);
        out += context + 1;
    }
    return {{window.narrow(1, 0, context).contiguous(), window.narrow(1, 1, context).contiguous()},
            rows * context};
}

} // namespace rm
