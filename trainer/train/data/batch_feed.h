// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/step_cut.h"

namespace rm {

/// This rank's micro-batches one after the other, from a cursor on. One thread calls it.
class BatchFeed {
public:
    /// `source` must outlive it.
    BatchFeed(BatchSource& source, const StepCut& cut, int64_t rank, int64_t cursor);

    Result<Batch> next();

private:
    BatchSource& m_source;
    StepCut m_cut;
    int64_t m_rank;
    int64_t m_cursor; ///< where the step of the next batch begins
    int64_t m_micro = 0;
};

} // namespace rm
