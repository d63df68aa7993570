// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_shape.h"

#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace rm {
namespace {

constexpr int64_t kNarrowest = 8;
constexpr int64_t kParts = 4; ///< into which rows and widths are divided

/// `size`, which is at most `whole`, rounded up to a multiple of whole / kParts (itself rounded
/// up), but to `whole` at most.
int64_t inParts(int64_t size, int64_t whole) {
    const int64_t part = (whole + kParts - 1) / kParts;
    return std::min(whole, (size + part - 1) / part * part);
}

/// `ids` padded to (rows, width) with kPadId.
at::Tensor paddedIds(const at::Tensor& ids, int64_t rows, int64_t width) {
    at::Tensor wide = at::full({rows, width}, kPadId, at::kLong);
    wide.narrow(0, 0, ids.size(0)).narrow(1, 0, ids.size(1)).copy_(ids);
    return wide;
}

at::Tensor paddedMask(const at::Tensor& mask, const PairShape& from, const PairShape& to) {
    at::Tensor wide = at::zeros({to.rows, 1, 1, to.source}, at::kBool);
    at::Tensor real = wide.narrow(0, 0, from.rows).narrow(3, 0, from.source);
    if (mask.numel() > 0)
        real.copy_(mask);
    else
        real.fill_(true);
    wide.narrow(0, from.rows, to.rows - from.rows).narrow(3, 0, 1).fill_(true);
    return wide;
}

at::Tensor paddedTargets(const at::Tensor& targets, const at::Tensor& places, const PairShape& from,
                         const PairShape& to) {
    at::Tensor wide = at::full({to.rows * to.target}, kIgnoredTarget, at::kLong);
    auto* out = wide.mutable_data_ptr<int64_t>();
    const auto* target = targets.const_data_ptr<int64_t>();
    const auto* place = places.numel() > 0 ? places.const_data_ptr<int64_t>() : nullptr;
    for (int64_t i = 0; i < targets.numel(); ++i) {
        const int64_t at = place ? place[i] : i;
        out[at / from.target * to.target + at % from.target] = target[i];
    }
    return wide;
}

} // namespace

int64_t bucketWidth(int64_t length) {
    int64_t width = kNarrowest;
    while (width < length)
        width += std::max<int64_t>(1, width / 8);
    return width;
}

int64_t pairsPerBatch(int64_t bucketWidth, int64_t batchTokens) {
    return std::max<int64_t>(1, batchTokens / bucketWidth);
}

PairShape shapeOf(const Batch& pairs) {
    return {pairs.tensors[0].size(0), pairs.tensors[0].size(1), pairs.tensors[2].size(1)};
}

PairShape recordedShape(const PairShape& least, int64_t batchTokens, int64_t longest) {
    const int64_t width = bucketWidth(std::max(least.source, least.target));
    const int64_t rows = pairsPerBatch(width, batchTokens);
    return {least.rows > rows ? least.rows : inParts(least.rows, rows),
            std::min(longest, inParts(least.source, width)),
            std::min(longest, inParts(least.target, width))};
}

Batch paddedTo(const PairShape& shape, const Batch& pairs) {
    const PairShape from = shapeOf(pairs);
    return {{paddedIds(pairs.tensors[0], shape.rows, shape.source),
             paddedMask(pairs.tensors[1], from, shape),
             paddedIds(pairs.tensors[2], shape.rows, shape.target),
             paddedTargets(pairs.tensors[3], pairs.tensors[4], from, shape),
             at::empty({0}, at::kLong)},
            pairs.targets,
            pairs.bad};
}

} // namespace rm
