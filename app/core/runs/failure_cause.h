// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/log_errors.h"
#include "app/core/store/attempts.h"
#include "app/core/store/run_summary.h"

#include <vector>

namespace rm {

/// The rank that failed first: as the newest attempt tells, otherwise by the clock. nullptr: none
/// has.
const StoredRank* firstFailed(const std::vector<StoredAttempt>& attempts,
                              const std::vector<StoredRank>& ranks);

/// The known error in what a failed run says: in the last lines of the rank that failed first, or
/// in the run's message. nullptr: it has not failed, or none is known.
const KnownError* knownCause(const RunSummary& run, const std::vector<StoredAttempt>& attempts,
                             const std::vector<StoredRank>& ranks);

} // namespace rm
