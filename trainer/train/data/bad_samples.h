// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/model/batch.h"

#include <functional>
#include <set>
#include <string>

namespace rm {

/// Counts unreadable samples in the order in which batches are used, so that reading ahead does not
/// affect the result. One thread.
class BadSamples {
public:
    /// `report` is called once per path, with the number of paths so far. `maxShare`: of the
    /// samples used so far, but at least of kPatience samples or of one epoch, whichever is less.
    BadSamples(double maxShare, int64_t epochSize,
               std::function<void(const BadSample&, int64_t total)> report);

    /// Counts a batch for which `used` samples were drawn. kCorrupt once too many were bad.
    Result<void> add(int64_t used, const Batch& batch);

private:
    static constexpr int64_t kPatience = 1000;

    double m_maxShare;
    int64_t m_atLeast;
    std::function<void(const BadSample&, int64_t)> m_report;
    int64_t m_used = 0;
    int64_t m_bad = 0;
    std::set<std::string> m_known;
};

} // namespace rm
