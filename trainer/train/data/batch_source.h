// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/model/batch.h"

namespace rm {

/// The samples of a run in its one global order, which follows from the data and the seed alone:
/// position p lies in epoch p / epochSize(). What a position is, a sample or, where batches are cut
/// by tokens, a whole batch, is the source's own business. All calls may come from any thread.
class BatchSource {
public:
    virtual ~BatchSource() = default;

    virtual int64_t epochSize() const = 0;

    /// The samples at positions [first, first + count), on the host. Any random change to them
    /// follows from seed and position.
    virtual Result<Batch> read(int64_t first, int64_t count) = 0;

    /// Batch::targets of that batch, without reading it: every rank knows every rank's.
    virtual int64_t targets(int64_t first, int64_t count) const = 0;
};

} // namespace rm
