// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/batch_partition.h"

namespace rm {

BatchPartition::BatchPartition(std::vector<int64_t> batchSizes, int64_t accumulation)
    : m_sizes(std::move(batchSizes))
    , m_accumulation(accumulation) {
    for (const int64_t size : m_sizes) {
        m_offsets.push_back(m_perMicro);
        m_perMicro += size;
    }
}

BatchPartition::Share BatchPartition::at(int64_t cursor, int64_t micro, int64_t rank) const {
    const auto index = static_cast<size_t>(rank);
    return {cursor + micro * m_perMicro + m_offsets[index], m_sizes[index]};
}

int64_t BatchPartition::targets(const BatchSource& source, int64_t cursor) const {
    int64_t sum = 0;
    for (int64_t micro = 0; micro < m_accumulation; ++micro)
        for (int64_t rank = 0; rank < worldSize(); ++rank) {
            const Share share = at(cursor, micro, rank);
            sum += source.targets(share.first, share.count);
        }
    return sum;
}

} // namespace rm
