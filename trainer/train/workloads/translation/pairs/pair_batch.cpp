// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace rm {
namespace {

int64_t sizeOf(const std::vector<int64_t>& ids) {
    return static_cast<int64_t>(ids.size());
}

struct Longest {
    int64_t source = 0;
    int64_t target = 0;
    bool padsSource = false;
    bool padsTarget = false;
};

Longest longestOf(const std::vector<EncodedPair>& pairs) {
    Longest longest;
    for (const EncodedPair& pair : pairs) {
        longest.source = std::max(longest.source, sizeOf(pair.source));
        longest.target = std::max(longest.target, sizeOf(pair.target));
    }
    for (const EncodedPair& pair : pairs) {
        longest.padsSource = longest.padsSource || sizeOf(pair.source) < longest.source;
        longest.padsTarget = longest.padsTarget || sizeOf(pair.target) < longest.target;
    }
    return longest;
}

int64_t countTargets(const std::vector<EncodedPair>& pairs) {
    int64_t count = 0;
    for (const EncodedPair& pair : pairs)
        count += sizeOf(pair.target);
    return count;
}

at::Tensor padded(const std::vector<EncodedPair>& pairs, int64_t width,
                  std::vector<int64_t> EncodedPair::*side) {
    const at::Tensor ids = at::full({static_cast<int64_t>(pairs.size()), width}, kPadId, at::kLong);
    auto* row = ids.mutable_data_ptr<int64_t>();
    for (const EncodedPair& pair : pairs) {
        std::ranges::copy(pair.*side, row);
        row += width;
    }
    return ids;
}

/// Which source tokens are real: (B, 1, 1, S), as attention wants it.
at::Tensor sourceMask(const std::vector<EncodedPair>& pairs, int64_t width) {
    const at::Tensor mask = at::zeros({static_cast<int64_t>(pairs.size()), 1, 1, width}, at::kBool);
    auto* row = mask.mutable_data_ptr<bool>();
    for (const EncodedPair& pair : pairs) {
        std::fill(row, row + pair.source.size(), true);
        row += width;
    }
    return mask;
}

} // namespace

Batch makePairBatch(const std::vector<EncodedPair>& pairs) {
    const Longest longest = longestOf(pairs);
    const int64_t count = countTargets(pairs);
    std::vector<EncodedPair> shifted = pairs; // tokens that the decoder saw before each target
    const at::Tensor labels = at::empty({count}, at::kLong);
    const at::Tensor places = at::empty({longest.padsTarget ? count : 0}, at::kLong);
    auto* label = labels.mutable_data_ptr<int64_t>();
    auto* place = places.mutable_data_ptr<int64_t>();
    for (size_t row = 0; row < pairs.size(); ++row) {
        const auto& target = pairs[row].target;
        label = std::ranges::copy(target, label).out;
        for (size_t i = 0; longest.padsTarget && i < target.size(); ++i)
            *place++ = static_cast<int64_t>(row) * longest.target + static_cast<int64_t>(i);
        shifted[row].target.insert(shifted[row].target.begin(), kPadId);
        shifted[row].target.pop_back();
    }
    return {{padded(pairs, longest.source, &EncodedPair::source),
             longest.padsSource ? sourceMask(pairs, longest.source) : at::empty({0}, at::kBool),
             padded(shifted, longest.target, &EncodedPair::target), labels, places},
            count};
}

} // namespace rm
