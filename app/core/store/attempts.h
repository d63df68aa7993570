// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/attempt_identity.h"
#include "app/core/store/run_summary.h"
#include "shared/journal/records.h"

#include <QString>

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Consecutive steps of one attempt that are on the same line: the living one, or one that was
/// abandoned when a later attempt resumed from an earlier step.
struct StoredLine {
    int attempt = 1;
    int64_t firstStep = 0, lastStep = 0; ///< inclusive, as far as they were reported
    int retiredBy = 0;                   ///< attempt; 0: of the living line
    int64_t retiredAt = 0;               ///< step from which that attempt went on
    bool operator==(const StoredLine&) const = default;
};

/// What resuming from a checkpoint would retire of the living line.
struct Retirement {
    int64_t firstStep = 0, lastStep = -1; ///< inclusive; none when the last is the smaller
    int checkpoints = 0;                  ///< that are there
    bool isEmpty() const { return lastStep < firstStep && checkpoints == 0; }
    bool operator==(const Retirement&) const = default;
};

/// An attempt that was asked for.
struct NewAttempt {
    int attempt = 1;
    int64_t startStep = 0; ///< -1: unknown
    std::string startFrom; ///< checkpoint folder or empty
    std::vector<RunNode> nodes;
    /// Numbers right before this one that are no attempts of the run, whatever a node says.
    int skipped = 0;
    std::string runtime = {}; ///< "cpu" or the name of PyTorch's runtime on GPUs, "cuda12"
    AttemptIdentity identity = {};
};

struct StoredAttempt {
    int attempt = 1;
    int64_t startStep = 0;
    int64_t startedNs = 0;             ///< when its ranks started; before that, when requested
    bool hasStarted = false;           ///< its ranks said so
    std::optional<AttemptEnded> ended; ///< of the whole run, first failure first
    std::string startFrom;
    /// NewAttempt::runtime; one that agents began has that of the one before.
    std::string runtime = {};
    AttemptIdentity identity = {}; ///< likewise
};

struct StoredRank {
    int rank = 0;
    int nodeIndex = 0;
    int64_t pid = 0;
    int64_t step = 0;
    std::optional<RankExited> exited;
};

/// Ranks first to first + count - 1, in attempts firstAttempt to lastAttempt.
struct RankRange {
    int first = 0;
    int count = 0;
    int firstAttempt = 1;
    int lastAttempt = INT_MAX;
    /// `attempt` 0: in any.
    bool hasAttempt(int attempt) const {
        return attempt == 0 || (attempt >= firstAttempt && attempt <= lastAttempt);
    }
    bool has(int rank, int attempt = 0) const {
        return rank >= first && rank - first < count && hasAttempt(attempt);
    }
    bool operator==(const RankRange&) const = default;
};

/// A node that a person declared lost. What lives of the run there goes on by itself until somebody
/// ends it.
struct DeclaredLostNode {
    QString run;
    std::string node;
    bool operator==(const DeclaredLostNode&) const = default;
};

} // namespace rm
