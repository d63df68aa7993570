// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// Another place of a checkpoint.
struct CheckpointCopy {
    std::string node;
    std::string folder; ///< there
    int64_t wallNs = 0; ///< when it came there and was verified
    bool operator==(const CheckpointCopy&) const = default;
};

struct StoredCheckpoint {
    CheckpointSaved saved; ///< `saved.best`: it was the best when it was saved
    int attempt = 0;
    bool removed = false;
    int retiredBy = 0;      ///< attempt that went on from an earlier step; 0: of the living line
    bool isBest = false;    ///< the best on the living line of those that are there
    bool isDamaged = false; ///< found by the attempt that retired it
    std::string node = {};  ///< where it was saved: rank 0's node in its attempt
    int64_t verifiedNs = 0; ///< when every byte was last seen to be right; 0: never
    bool isPinned = false;  ///< by a person, so that retention keeps it
    std::vector<CheckpointCopy> copies = {}; ///< by node
};

} // namespace rm
