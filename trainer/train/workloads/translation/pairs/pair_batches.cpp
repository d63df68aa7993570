// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_batches.h"

#include "trainer/train/workloads/translation/pairs/pair_shape.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace rm {
namespace {

constexpr int64_t kSortedBatches = 8; ///< pairs are sorted over so many batches at a time

int64_t widthOf(const PairFile& ids, int64_t pair) {
    return std::max(ids.length(2 * pair), ids.length(2 * pair + 1));
}

/// Generator of one purpose of one epoch.
std::mt19937_64 engineFor(uint64_t seed, int64_t epoch, uint64_t purpose) {
    return std::mt19937_64(mixSeed(seed, static_cast<uint64_t>(epoch), purpose));
}

Result<Batch> readPairs(const PairFile& ids, const std::vector<uint32_t>& members) {
    std::vector<EncodedPair> pairs;
    for (const uint32_t member : members) {
        const int64_t side = 2 * int64_t{member};
        EncodedPair pair;
        pair.source.resize(static_cast<size_t>(ids.length(side)));
        pair.target.resize(static_cast<size_t>(ids.length(side + 1)));
        const auto read = ids.ids(side, pair.source.data()).and_then([&] {
            return ids.ids(side + 1, pair.target.data());
        });
        if (!read)
            return tl::unexpected(read.error());
        pairs.push_back(std::move(pair));
    }
    return makePairBatch(pairs);
}

} // namespace

int64_t LengthBucket::batchCount() const {
    return (static_cast<int64_t>(pairs.size()) + pairsPerBatch - 1) / pairsPerBatch;
}

std::vector<LengthBucket> lengthBuckets(const PairFile& ids, int64_t batchTokens) {
    int64_t longest = 0;
    for (int64_t i = 0; i < ids.count(); ++i)
        longest = std::max(longest, widthOf(ids, i));
    std::vector<LengthBucket> buckets;
    for (int64_t width = bucketWidth(1); buckets.empty() || buckets.back().width < longest;
         width = bucketWidth(width + 1))
        buckets.push_back({width, pairsPerBatch(width, batchTokens), {}});
    for (int64_t i = 0; i < ids.count(); ++i) {
        const auto bucket =
            std::ranges::lower_bound(buckets, widthOf(ids, i), {}, &LengthBucket::width);
        bucket->pairs.push_back(static_cast<uint32_t>(i));
    }
    std::erase_if(buckets, [](const LengthBucket& bucket) { return bucket.pairs.empty(); });
    return buckets;
}

PairBatches::PairBatches(PairFile ids, int64_t batchTokens, uint64_t seed)
    : m_ids(std::move(ids))
    , m_seed(seed)
    , m_buckets(lengthBuckets(m_ids, batchTokens)) {
    for (const LengthBucket& bucket : m_buckets)
        m_batchCount += bucket.batchCount();
}

const PairBatches::Epoch& PairBatches::epoch(int64_t number) const {
    Epoch& epoch = m_epochs[number % 2];
    if (epoch.number != number) {
        epoch = Epoch{number, {}, {0}, {}};
        shuffle(epoch);
    }
    return epoch;
}

/// Lays the buckets one behind the other, each shuffled, then shuffles the batches.
void PairBatches::shuffle(Epoch& epoch) const {
    Epoch ordered{epoch.number, {}, {0}, {}};
    for (size_t i = 0; i < m_buckets.size(); ++i) {
        std::vector<uint32_t> order = m_buckets[i].pairs;
        auto engine = engineFor(m_seed, epoch.number, i + 1);
        std::shuffle(order.begin(), order.end(), engine);
        append(ordered, m_buckets[i], std::move(order));
    }
    std::vector<size_t> batches(static_cast<size_t>(m_batchCount));
    std::iota(batches.begin(), batches.end(), size_t{0});
    auto engine = engineFor(m_seed, epoch.number, 0);
    std::shuffle(batches.begin(), batches.end(), engine);
    for (const size_t batch : batches) {
        epoch.pairs.insert(epoch.pairs.end(),
                           ordered.pairs.begin() + ptrdiff_t(ordered.begins[batch]),
                           ordered.pairs.begin() + ptrdiff_t(ordered.begins[batch + 1]));
        epoch.begins.push_back(epoch.pairs.size());
        epoch.targets.push_back(ordered.targets[batch]);
    }
}

void PairBatches::append(Epoch& epoch, const LengthBucket& bucket,
                         std::vector<uint32_t> order) const {
    const auto lengths = [this](uint32_t pair) {
        return std::pair(m_ids.length(2 * int64_t{pair} + 1), m_ids.length(2 * int64_t{pair}));
    };
    const auto run = static_cast<size_t>(bucket.pairsPerBatch * kSortedBatches);
    for (size_t at = 0; at < order.size(); at += run) {
        const auto begin = order.begin() + static_cast<ptrdiff_t>(at);
        const auto end = order.begin() + static_cast<ptrdiff_t>(std::min(at + run, order.size()));
        std::sort(begin, end, [&](uint32_t a, uint32_t b) {
            return std::pair(lengths(a), a) < std::pair(lengths(b), b);
        });
    }
    const auto perBatch = static_cast<size_t>(bucket.pairsPerBatch);
    for (size_t at = 0; at < order.size(); at += perBatch) {
        const size_t end = std::min(at + perBatch, order.size());
        int64_t targets = 0;
        for (size_t i = at; i < end; ++i) {
            targets += m_ids.length(2 * int64_t{order[i]} + 1);
            epoch.pairs.push_back(order[i]);
        }
        epoch.begins.push_back(epoch.pairs.size());
        epoch.targets.push_back(targets);
    }
}

int64_t PairBatches::targets(int64_t first, int64_t count) const {
    const std::scoped_lock lock(m_mutex);
    int64_t sum = 0;
    for (int64_t position = first; position < first + count; ++position)
        sum += epoch(position / m_batchCount).targets[static_cast<size_t>(position % m_batchCount)];
    return sum;
}

Result<Batch> PairBatches::read(int64_t first, int64_t count) {
    std::vector<uint32_t> members;
    {
        const std::scoped_lock lock(m_mutex);
        for (int64_t position = first; position < first + count; ++position) {
            const Epoch& from = epoch(position / m_batchCount);
            const auto batch = static_cast<size_t>(position % m_batchCount);
            for (size_t i = from.begins[batch]; i < from.begins[batch + 1]; ++i)
                members.push_back(from.pairs[i]);
        }
    }
    return readPairs(m_ids, members);
}

RandomPairs::RandomPairs(PairFile ids, uint64_t seed)
    : m_ids(std::move(ids))
    , m_order(seed, m_ids.count()) {}

Result<Batch> RandomPairs::read(int64_t first, int64_t count) {
    std::vector<uint32_t> members;
    for (int64_t position = first; position < first + count; ++position)
        members.push_back(static_cast<uint32_t>(m_order.at(position).sample));
    return readPairs(m_ids, members);
}

int64_t RandomPairs::targets(int64_t first, int64_t count) const {
    int64_t sum = 0;
    for (int64_t position = first; position < first + count; ++position)
        sum += m_ids.length(2 * m_order.at(position).sample + 1);
    return sum;
}

} // namespace rm
