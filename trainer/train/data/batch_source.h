// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/model/batch.h"

namespace rm {

/// The samples of a run in its global order, which depends only on the data and the seed: position
/// p lies in epoch p / epochSize(). A position is a sample or, if batches are sized by tokens, a
/// whole batch. Thread-safe.
class BatchSource {
public:
    virtual ~BatchSource() = default;

    virtual int64_t epochSize() const = 0;

    /// The samples at positions [first, first + count), on the host. Random augmentation depends
    /// only on seed and position.
    virtual Result<Batch> read(int64_t first, int64_t count) = 0;

    /// Batch::targets of that batch without reading it, so that every rank knows it for all ranks.
    virtual int64_t targets(int64_t first, int64_t count) const = 0;
};

} // namespace rm
