// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/batch.h"

namespace rm {

/// The width of the bucket for pairs whose longer side has this length: 8, 9, ..., 16, 18, ...,
/// each an eighth wider than the one before.
int64_t bucketWidth(int64_t length);

/// How many pairs of a bucket fit into `batchTokens` (0: batches keep their rows); at least one.
int64_t pairsPerBatch(int64_t bucketWidth, int64_t batchTokens);

/// Sizes of a batch of pairs: rows, and tokens of either side in each, padding included.
struct PairShape {
    int64_t rows = 0;
    int64_t source = 0;
    int64_t target = 0;
    bool operator==(const PairShape&) const = default;
};

PairShape shapeOf(const Batch& pairs);

/// The smallest of few shapes that holds `least`: sides are multiples of a quarter of the bucket's
/// width, at most `longest`; rows are multiples of a quarter of the bucket's. As sentences of two
/// languages have similar lengths, two or three shapes occur per bucket. Batches with more rows
/// than their bucket keep their rows.
PairShape recordedShape(const PairShape& least, int64_t batchTokens, int64_t longest);

/// A batch of makePairBatch(), padded to `shape`. It always has a mask, and targets for all
/// positions (kIgnoredTarget for padding) instead of a list of positions. In a padding row one
/// token is unmasked, as a softmax over nothing is NaN.
Batch paddedTo(const PairShape& shape, const Batch& pairs);

} // namespace rm
