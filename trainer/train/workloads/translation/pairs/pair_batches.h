// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch_source.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"

#include <mutex>

namespace rm {

/// Pairs of about the same length; no side is longer than `width`.
struct LengthBucket {
    int64_t width = 0;
    int64_t pairsPerBatch = 0;   ///< as many as batch_tokens holds at that width; one at least
    std::vector<uint32_t> pairs; ///< rising
    int64_t batchCount() const;
};

/// Sorts the pairs of a shard of ids into buckets whose widths grow by an eighth.
std::vector<LengthBucket> lengthBuckets(const PairFile& ids, int64_t batchTokens);

/// Batches of pairs in buckets of length; a position is one batch. Which pairs share a batch, and
/// the order of the batches, follow from seed and epoch: within a bucket the pairs are shuffled and
/// then sorted by length over a few batches at a time, so that little is padded.
class PairBatches final : public BatchSource {
public:
    /// A shard of ids with kEndId behind every side.
    PairBatches(PairFile ids, int64_t batchTokens, uint64_t seed);

    int64_t epochSize() const override { return m_batchCount; }
    Result<Batch> read(int64_t first, int64_t count) override;
    int64_t targets(int64_t first, int64_t count) const override;

private:
    struct Epoch {
        int64_t number = -1;
        std::vector<uint32_t> pairs;  ///< batch after batch
        std::vector<size_t> begins;   ///< where batches begin in `pairs`, and the last one's end
        std::vector<int64_t> targets; ///< tokens, by batch
    };
    const Epoch& epoch(int64_t number) const; ///< with m_mutex held
    void shuffle(Epoch& epoch) const;
    void append(Epoch& epoch, const LengthBucket& bucket, std::vector<uint32_t> order) const;

    PairFile m_ids;
    uint64_t m_seed;
    std::vector<LengthBucket> m_buckets;
    int64_t m_batchCount = 0;
    mutable std::mutex m_mutex;
    mutable Epoch m_epochs[2]; ///< even and odd, as readers may be in the next epoch already
};

/// Pairs in the run's order, whatever their lengths; a position is one pair.
class RandomPairs final : public BatchSource {
public:
    /// A shard of ids with kEndId behind every side.
    RandomPairs(PairFile ids, uint64_t seed);

    int64_t epochSize() const override { return m_ids.count(); }
    Result<Batch> read(int64_t first, int64_t count) override;
    int64_t targets(int64_t first, int64_t count) const override;

private:
    PairFile m_ids;
    mutable SampleOrder m_order;
};

/// Token ids of a pair, each with kEndId behind.
struct EncodedPair {
    std::vector<int64_t> source;
    std::vector<int64_t> target;
};

/// One batch of these pairs for Translation::loss().
Batch makePairBatch(const std::vector<EncodedPair>& pairs);

} // namespace rm
