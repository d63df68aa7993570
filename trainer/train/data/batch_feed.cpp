// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/batch_feed.h"

namespace rm {

BatchFeed::BatchFeed(BatchSource& source, const StepCut& cut, int64_t rank, int64_t cursor)
    : m_source(source)
    , m_cut(cut)
    , m_rank(rank)
    , m_cursor(cursor) {}

Result<Batch> BatchFeed::next() {
    const StepCut::Share share = m_cut.at(m_cursor, m_micro, m_rank);
    if (++m_micro == m_cut.accumulation()) {
        m_micro = 0;
        m_cursor += m_cut.positionsPerStep();
    }
    return m_source.read(share.first, share.count);
}

} // namespace rm
