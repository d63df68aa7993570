// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/batch.h"

namespace rm {

/// Width of the bucket for pairs of which no side is longer: 8, 9, ..., 16, 18, ..., each an eighth
/// wider than the one before.
int64_t bucketWidth(int64_t length);

/// As many pairs as `batchTokens` hold in a bucket; one at least.
int64_t pairsPerBatch(int64_t bucketWidth, int64_t batchTokens);

/// Sizes of a batch of pairs: rows, and tokens of either side in each, padding included.
struct PairShape {
    int64_t rows = 0;
    int64_t source = 0;
    int64_t target = 0;
    bool operator==(const PairShape&) const = default;
};

PairShape shapeOf(const Batch& pairs);

/// A shape that holds `least` and is one of few: sides of quarters of the bucket's width, and not
/// wider than `longest`; quarters of its rows. Of every bucket two or three come up with sentences
/// of two languages, which are of about one length. Batches of more rows than their bucket has keep
/// them.
PairShape recordedShape(const PairShape& least, int64_t batchTokens, int64_t longest);

/// A batch of makePairBatch() with padding up to `shape`, which holds it. It has a mask always,
/// targets for all positions, kIgnoredTarget among them, and hence no places. A row of padding has
/// one token that may be looked at, since a softmax over nothing is no number.
Batch paddedTo(const PairShape& shape, const Batch& pairs);

} // namespace rm
