// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/pending_buckets.h"

#include "shared/enforce.h"

#include <utility>

namespace rm {

PendingBuckets::PendingBuckets(size_t parameters, const std::vector<std::vector<size_t>>& buckets,
                               PhaseEnd onPhase)
    : m_bucketOf(parameters)
    , m_expected(buckets.size())
    , m_onPhase(std::move(onPhase)) {
    for (size_t bucket = 0; bucket < buckets.size(); ++bucket)
        for (const size_t parameter : buckets[bucket])
            m_bucketOf[parameter] = bucket;
}

void PendingBuckets::expect(size_t bucket, c10::intrusive_ptr<c10d::Work> work,
                            std::function<void()> finish) {
    RM_ENFORCE(!m_expected[bucket].work);
    m_expected[bucket] = {std::move(work), std::move(finish)};
}

void PendingBuckets::await(size_t parameter) {
    Expected& expected = m_expected[m_bucketOf[parameter]];
    if (!expected.work)
        return;
    const Expected taken = std::exchange(expected, {});
    m_onPhase(metric::kPhaseForwardMs);
    taken.work->wait();
    m_onPhase(metric::kPhaseAllreduceMs);
    taken.finish();
    m_onPhase(metric::kPhaseOptimizerMs);
}

void PendingBuckets::awaitAll() {
    for (Expected& expected : m_expected) {
        if (!expected.work)
            continue;
        const Expected taken = std::exchange(expected, {});
        taken.work->wait();
        taken.finish();
    }
}

} // namespace rm
