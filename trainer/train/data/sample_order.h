// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace rm {

/// The order in which a run sees its samples, for any world size. Position p of the run is sample p
/// mod count of the permutation of epoch p / count, which depends only on seed and epoch.
/// Thread-safe.
class SampleOrder {
public:
    SampleOrder(uint64_t seed, int64_t sampleCount);

    struct Place {
        int64_t epoch = 0;
        int64_t sample = 0;
        bool operator==(const Place&) const = default;
    };
    /// Cheap within the current and the previous epoch; the first call in another epoch shuffles.
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
    Epoch m_epochs[2]; ///< even and odd, as readers may be in the next epoch already
};

/// A well-mixed seed from several numbers.
uint64_t mixSeed(uint64_t a, uint64_t b, uint64_t c = 0);

} // namespace rm
