// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/bad_samples.h"

#include <algorithm>

namespace rm {

BadSamples::BadSamples(double maxShare, int64_t epochSize,
                       std::function<void(const BadSample&, int64_t)> report)
    : m_maxShare(maxShare)
    , m_atLeast(std::min(epochSize, kPatience))
    , m_report(std::move(report)) {}

Result<void> BadSamples::add(int64_t used, const Batch& batch) {
    m_used += used;
    for (const BadSample& one : batch.bad) {
        ++m_bad;
        if (m_known.insert(one.path).second)
            m_report(one, static_cast<int64_t>(m_known.size()));
        const auto most = m_maxShare * static_cast<double>(std::max(m_used, m_atLeast));
        if (static_cast<double>(m_bad) > most)
            return fail(ErrorCode::kCorrupt,
                        "read training data: " + std::to_string(m_bad) + " of " +
                            std::to_string(m_used) +
                            " samples cannot be read, more than data.max_bad allows; the last is " +
                            one.path + ": " + one.cause);
    }
    return {};
}

} // namespace rm
