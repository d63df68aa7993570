// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace rm {

/// The one order in which a run sees its samples, whatever its world size. Position p of the run
/// is the (p mod count)-th sample of the p / count-th epoch's permutation, which follows from
/// seed and epoch alone.
class SampleOrder {
public:
    SampleOrder(uint64_t seed, int64_t sampleCount);

    struct Place {
        int64_t epoch = 0;
        int64_t sample = 0;
        bool operator==(const Place&) const = default;
    };
    /// Cheap within an epoch; the first of another epoch costs a shuffle.
    Place at(int64_t position);

    int64_t sampleCount() const { return m_count; }

private:
    uint64_t m_seed;
    int64_t m_count;
    int64_t m_epoch = -1;
    std::vector<int64_t> m_permutation;
};

/// Where one rank's micro-batch begins in the order: global micro-batches are cut by rank, so
/// that `cursor` moves by worldSize * accumulation * batchSize a step on every rank.
inline int64_t microBatchStart(int64_t cursor, int64_t micro, int64_t rank, int64_t worldSize,
                               int64_t batchSize) {
    return cursor + (micro * worldSize + rank) * batchSize;
}

/// A well-mixed seed from several numbers.
uint64_t mixSeed(uint64_t a, uint64_t b, uint64_t c = 0);

} // namespace rm
