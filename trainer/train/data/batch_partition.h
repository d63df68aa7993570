// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch_source.h"

#include <cstdint>
#include <vector>

namespace rm {

/// How the positions of one optimizer step are divided: first into micro-batches over all ranks,
/// then by rank. With the same positionsPerStep() a step has the same samples for any number of
/// ranks.
class BatchPartition {
public:
    /// `batchSizes`: positions of a micro-batch, by rank.
    BatchPartition(std::vector<int64_t> batchSizes, int64_t accumulation);

    struct Share {
        int64_t first = 0;
        int64_t count = 0;
        bool operator==(const Share&) const = default;
    };
    /// Positions of one rank's micro-batch in the step that begins at `cursor`.
    Share at(int64_t cursor, int64_t micro, int64_t rank) const;

    int64_t accumulation() const { return m_accumulation; }
    int64_t positionsPerStep() const { return m_perMicro * m_accumulation; }
    int64_t worldSize() const { return static_cast<int64_t>(m_sizes.size()); }

    /// Sum of Batch::targets over all ranks and micro-batches of the step.
    int64_t targets(const BatchSource& source, int64_t cursor) const;

private:
    std::vector<int64_t> m_sizes;
    std::vector<int64_t> m_offsets;
    int64_t m_perMicro = 0;
    int64_t m_accumulation;
};

} // namespace rm
