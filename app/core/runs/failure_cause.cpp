// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/failure_cause.h"

namespace rm {

const StoredRank* firstFailed(const std::vector<StoredAttempt>& attempts,
                              const std::vector<StoredRank>& ranks) {
    if (!attempts.empty()) {
        const auto& ended = attempts.back().ended;
        if (ended && ended->firstFailedRank >= 0)
            for (const StoredRank& rank : ranks)
                if (rank.rank == ended->firstFailedRank)
                    return &rank;
    }
    const StoredRank* first = nullptr;
    for (const StoredRank& rank : ranks)
        if (rank.exited && (rank.exited->exitCode != 0 || rank.exited->signal != 0) &&
            (!first || rank.exited->wallNs < first->exited->wallNs))
            first = &rank;
    return first;
}

const KnownError* knownCause(const RunSummary& run, const std::vector<StoredAttempt>& attempts,
                             const std::vector<StoredRank>& ranks) {
    if (run.state != RunStateKind::kFailed)
        return nullptr;
    const StoredRank* rank = firstFailed(attempts, ranks);
    const KnownError* known = rank && rank->exited ? knownErrorInText(rank->exited->tail) : nullptr;
    return known ? known : knownErrorInText(run.message.toStdString());
}

} // namespace rm
