// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/sample_order.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace rm {

uint64_t mixSeed(uint64_t a, uint64_t b, uint64_t c) {
    std::seed_seq sequence{static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32),
                           static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32),
                           static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32)};
    uint32_t words[2];
    sequence.generate(words, words + 2);
    return static_cast<uint64_t>(words[0]) << 32 | words[1];
}

SampleOrder::SampleOrder(uint64_t seed, int64_t sampleCount)
    : m_seed(seed)
    , m_count(sampleCount) {}

const SampleOrder::Epoch& SampleOrder::epoch(int64_t number) {
    Epoch& epoch = m_epochs[number % 2];
    if (epoch.number == number)
        return epoch;
    epoch.number = number;
    epoch.permutation.resize(static_cast<size_t>(m_count));
    std::iota(epoch.permutation.begin(), epoch.permutation.end(), int64_t{0});
    std::mt19937_64 engine(mixSeed(m_seed, static_cast<uint64_t>(number)));
    std::shuffle(epoch.permutation.begin(), epoch.permutation.end(), engine);
    return epoch;
}

SampleOrder::Place SampleOrder::at(int64_t position) {
    const std::scoped_lock lock(m_mutex);
    const int64_t number = position / m_count;
    return {number, epoch(number).permutation[static_cast<size_t>(position % m_count)]};
}

} // namespace rm
