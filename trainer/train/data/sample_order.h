// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace rm {

/// The one order in which a run sees its samples, whatever its world size. Position p of the run
/// is the (p mod count)-th sample of the p / count-th epoch's permutation, which follows from
/// seed and epoch alone. From any thread.
class SampleOrder {
public:
    SampleOrder(uint64_t seed, int64_t sampleCount);

    struct Place {
        int64_t epoch = 0;
        int64_t sample = 0;
        bool operator==(const Place&) const = default;
    };
    /// Cheap within an epoch and the one before; the first of another epoch costs a shuffle.
    Place at(int64_t position);

    int64_t sampleCount() const { return m_count; }

private:
    struct Epoch {
        int64_t number = -1;
        std::vector<int64_t> permutation;
    };
    const Epoch& epoch(int64_t number);

    uint64_t m_seed;
    int64_t m_count;
    std::mutex m_mutex;
    Epoch m_epochs[2]; ///< even and odd: readers ahead cross the border to the next
};

/// A well-mixed seed from several numbers.
uint64_t mixSeed(uint64_t a, uint64_t b, uint64_t c = 0);

} // namespace rm
